// SPDX-License-Identifier: MIT
// Tiles as data. Pure.
#pragma once

#include <stdint.h>

#include "env.h"

// The specialisation constants of a tile kernel.
struct rf_tile {
    uint32_t lanes; // invocations of a workgroup, all along the columns; a multiple of 16
    uint32_t tm;    // rows a workgroup
    uint32_t tn;    // columns a lane
};

// What the choice looks at.
struct rf_tile_query {
    enum rf_path path;
    uint32_t subgroup_size, max_invocations;
    bool software;
    int64_t rows, columns; // of the product
};

struct rf_tile rf_tile_choose(const struct rf_tile_query *query);

// Bytes of a block of 32 values in a panel or column of a path, scales apart.
uint32_t rf_tile_block_bytes(enum rf_path path);
