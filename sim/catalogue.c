// SPDX-License-Identifier: MIT
// rockfill-catalogue: every pipeline that the library can ask a Mali for, one a line: name, SPIR-V, specialisation
// constants. From the library's own tables of tiles and formats; what it combines is what src/matmul_parts.c asks for.
//
// usage: rockfill-catalogue [--subgroup N] [--invocations N]
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "tile.h"

enum { TILES_MAX = 8, COLUMNS_MAX = 2048 };

static const char *const path_names[] = {"int8", "fp16", "fp32"};

// The distinct tiles of a path, by asking for every number of columns that could matter.
static int tiles_find(enum rf_path path, uint32_t subgroup, uint32_t invocations, struct rf_tile tiles[TILES_MAX]) {
    int count = 0;
    for (int64_t columns = 1; columns <= COLUMNS_MAX; columns++) {
        struct rf_tile_query query = {.path = path,
                                      .subgroup_size = subgroup,
                                      .max_invocations = invocations,
                                      .rows = COLUMNS_MAX,
                                      .columns = columns};
        struct rf_tile tile = rf_tile_choose(&query);
        int known = 0;
        while (known < count && memcmp(&tiles[known], &tile, sizeof tile) != 0)
            known++;
        if (known == count && count < TILES_MAX)
            tiles[count++] = tile;
    }
    return count;
}

static void columns_print(enum rf_path path) {
    for (int half = 0; half < 2; half++)
        for (int table = 0; table < 2; table++)
            printf("columns_%s%s%s columns %d %d %d\n", path_names[path], half ? "_f16" : "", table ? "_routed" : "",
                   path, half, table);
}

// F32 weights are computed in fp32, other floats in fp16 or fp32.
static void unpack_print(enum rf_path path, uint32_t tm) {
    for (int i = 0; i < RF_FORMAT_COUNT; i++) {
        const struct rf_format_info *format = rf_format_info((enum rf_format)i);
        if (!format->is_float)
            printf("unpack_%s_%s_%u unpack_%s %d %u %u %d\n", format->name, path_names[path], tm, format->name, path,
                   tm, format->granules, format->has_min);
        else if (path == RF_PATH_FP32 || (path == RF_PATH_FP16 && i != RF_FORMAT_F32))
            printf("unpack_%s_%s_%u unpack_float %d %u %d\n", format->name, path_names[path], tm, path, tm, i);
    }
}

// Scales for 32 or 16 weights, with or without a minimum: whatever a format needs; in fp32 the panel holds the weights.
static void tile_print(enum rf_path path, const struct rf_tile *tile) {
    bool seen[3][2] = {{false}};
    for (int i = 0; i < RF_FORMAT_COUNT; i++) {
        const struct rf_format_info *format = rf_format_info((enum rf_format)i);
        uint32_t granules = path != RF_PATH_FP32 && format->granules > 1 ? format->granules : 1;
        bool has_min = path != RF_PATH_FP32 && format->has_min;
        if ((path == RF_PATH_INT8 && format->is_float) || granules > 2 || seen[granules][has_min])
            continue;
        seen[granules][has_min] = true;
        for (int routed = 0; routed < 2; routed++)
            printf("tile_%s_%ux%ux%u_g%u%s%s tile_%s %u %u %u %u %d %d\n", path_names[path], tile->lanes, tile->tm,
                   tile->tn, granules, has_min ? "_min" : "", routed ? "_routed" : "", path_names[path], tile->lanes,
                   tile->tm, tile->tn, granules, has_min, routed);
    }
}

static void path_print(enum rf_path path, uint32_t subgroup, uint32_t invocations) {
    struct rf_tile tiles[TILES_MAX];
    int count = tiles_find(path, subgroup, invocations, tiles);
    columns_print(path);
    for (int i = 0; i < count; i++) {
        bool known = false; // another tile of as many rows reads the same panels
        for (int j = 0; j < i; j++)
            known = known || tiles[j].tm == tiles[i].tm;
        if (!known)
            unpack_print(path, tiles[i].tm);
        tile_print(path, &tiles[i]);
    }
}

int main(int argc, char **argv) {
    uint32_t subgroup = 16, invocations = 1024; // Mali-G610
    for (int i = 1; i + 1 < argc; i += 2) {
        uint32_t *value = strcmp(argv[i], "--subgroup") == 0      ? &subgroup
                          : strcmp(argv[i], "--invocations") == 0 ? &invocations
                                                                  : NULL;
        if (value == NULL || (*value = (uint32_t)strtoul(argv[i + 1], NULL, 10)) == 0)
            argc = 0;
    }
    if (argc % 2 == 0) {
        fprintf(stderr, "usage: rockfill-catalogue [--subgroup N] [--invocations N]\n");
        return 2;
    }
    printf("selftest selftest\n");
    for (int path = RF_PATH_INT8; path < RF_PATH_COUNT; path++)
        path_print((enum rf_path)path, subgroup, invocations);
    return 0;
}
