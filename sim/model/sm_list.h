// SPDX-License-Identifier: MIT
// A list file that says which dump is which kernel. One a line, blanks between columns, '#' begins a comment; file
// names are relative to the list's folder.
//
//   columns PATH DUMP                                 activations into columns; PATH int8, fp16 or fp32
//   unpack  PATH FORMAT TM DUMP                       weights into a panel
//   tile    PATH LANES TM TN GRANULES HAS_MIN DUMP    the product
//   point   NAME PUBLISHED FORMAT LANES BM BN K TRIPS DUMP    a rival's tile with a published speed (tokens a second of
//                                                     Qwen2.5-3B): loop 0 advances K, TRIPS of the others: 1,4,2
#pragma once

#include "env.h"
#include "format.h"
#include "sm_kernel.h"
#include "tile.h"

enum sm_role { SM_ROLE_COLUMNS, SM_ROLE_UNPACK, SM_ROLE_TILE, SM_ROLE_POINT };

#define SM_NAME_BYTES 48

struct sm_entry {
    enum sm_role role;
    enum rf_path path;
    enum rf_format format;
    struct rf_tile tile; // unpack: only tm
    uint32_t granules;
    bool has_min;
    char name[SM_NAME_BYTES]; // points
    double published_tps;
    uint32_t bm, bn, k;
    double trips[SM_LOOPS_MAX];
    struct sm_kernel kernel;
};

struct sm_list {
    struct sm_entry *entries;
    size_t count;
};

bool sm_list_path(const char *text, enum rf_path *path);
const char *sm_list_path_name(enum rf_path path);

// Reads the list and all dumps. false with a line in `error` that names the file and line.
bool sm_list_read(const char *path, const struct sm_constants *constants, struct sm_list *list, char *error,
                  size_t error_bytes);

// Appends a copy of `entry`, unless one for the same kernel is there. false: out of memory.
bool sm_list_add(struct sm_list *list, const struct sm_entry *entry);

// The entry that serves as `wanted` does: the same role, path and, as far as the role has them, format and tile.
const struct sm_entry *sm_list_find(const struct sm_list *list, const struct sm_entry *wanted);

// "tile int8 64 4 2 1 1": a line of the list without its dump; not for points.
void sm_list_describe(const struct sm_entry *entry, char *text, size_t text_bytes);

void sm_list_free(struct sm_list *list);
