// SPDX-License-Identifier: MIT
#include "tile.h"

struct tile_row {
    enum rf_path path;
    bool software; // for software rasterisers only, or for hardware only
    uint32_t min_subgroup;
    int64_t min_columns; // fewer columns than a tile spans would leave lanes idle
    struct rf_tile tile;
};

// The first row that fits wins; each path ends in a row that always does. A 4 x 2 int8 tile takes 43 of the Mali's 64
// registers with the stock compiler; wider ones are for measurements on such a device to prove.
static const struct tile_row tile_table[] = {
    {RF_PATH_INT8, true, 0, 64, {64, 4, 4}},    {RF_PATH_INT8, true, 0, 0, {16, 4, 1}},
    {RF_PATH_INT8, false, 32, 256, {64, 8, 4}}, {RF_PATH_INT8, false, 0, 128, {64, 4, 2}},
    {RF_PATH_INT8, false, 0, 0, {16, 4, 1}},

    {RF_PATH_FP16, false, 32, 256, {64, 8, 4}}, {RF_PATH_FP16, true, 0, 0, {16, 4, 1}},
    {RF_PATH_FP16, false, 0, 128, {64, 8, 1}},  {RF_PATH_FP16, false, 0, 0, {16, 4, 1}},

    {RF_PATH_FP32, true, 0, 64, {64, 4, 4}},    {RF_PATH_FP32, true, 0, 0, {16, 4, 1}},
    {RF_PATH_FP32, false, 32, 256, {64, 8, 4}}, {RF_PATH_FP32, false, 0, 128, {64, 4, 2}},
    {RF_PATH_FP32, false, 0, 0, {16, 4, 1}},
};

struct rf_tile rf_tile_choose(const struct rf_tile_query *query) {
    const struct tile_row *row = tile_table;
    while (row->path != query->path || row->software != query->software || row->min_subgroup > query->subgroup_size ||
           row->min_columns > query->columns || row->tile.lanes > query->max_invocations)
        row++;
    return row->tile;
}

uint32_t rf_tile_block_bytes(enum rf_path path) {
    return path == RF_PATH_INT8 ? 32 : path == RF_PATH_FP16 ? 64 : 128;
}
