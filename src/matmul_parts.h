// SPDX-License-Identifier: MIT
// The three kinds of steps of a product, and what its shape means for them. For matmul.c and matmul_routed.c.
#pragma once

#include "matmul.h"
#include "split.h"
#include "tile.h"

// A product's constants.
struct rf_matmul {
    const struct rf_product *product;
    bool constant;
    enum rf_path path;
    struct rf_tile tile;
    uint32_t granules; // scales per block of 32 in the panel; 0 for fp32
    bool has_min;
    int64_t blocks;                         // of 32 along k
    uint64_t panel_row_bytes, column_bytes; // in the arena
};

// Weights of one piece in the arena. `batch`: from one weight matrix to the next.
struct rf_panel {
    struct rf_slice values, scales;
    uint32_t values_batch, scales_batch; // uvec4, floats
    uint32_t min_offset;                 // floats
    int64_t rows;
};

// One use of a tile kernel: a panel times a range of columns.
struct rf_tile_use {
    const struct rf_panel *panel;
    const struct rf_columns *columns;
    int64_t first_column, end_column; // in the columns' own numbering
    int64_t padded_columns;           // columns of a matrix in the arena
    int64_t matrices;                 // activation matrices
    int64_t ratio;                    // ... that share a panel
    struct rf_operand result;
    uint64_t result_column_bytes, result_matrix_bytes;
    bool routed;
};

struct rf_matmul rf_matmul_shape(const struct rf_caps *caps, enum rf_path quantised_path, enum rf_path half_path,
                                 const struct rf_product *product, bool constant);

// Fills everything of the needs but the operands' limits.
struct rf_split_needs rf_matmul_needs(const struct rf_matmul *m, const struct rf_caps *caps);

// Arena bytes of a panel or columns piece, alignment included.
uint64_t rf_matmul_panel_bytes(const struct rf_matmul *m, int64_t rows, int64_t matrices);
uint64_t rf_matmul_columns_bytes(const struct rf_matmul *m, int64_t columns, int64_t matrices);

// Columns [first, first + count) of `matrices` matrices, from `source` (already advanced to the first one) into the
// arena. With `table` (a slice of uvec2) the columns are gathered.
bool rf_matmul_columns(struct rf_device *device, const struct rf_matmul *m, const struct rf_operand *source,
                       int64_t count, int64_t matrices, const struct rf_slice *table, struct rf_columns *columns);

// `rows` rows of `matrices` weight matrices into the arena.
bool rf_matmul_panel(struct rf_device *device, const struct rf_matmul *m, const struct rf_operand *source, int64_t rows,
                     int64_t matrices, struct rf_panel *panel);

// The tile kernel over a use, in as many dispatches as the submission bound asks for. `barrier`: before the first.
bool rf_matmul_tiles(struct rf_device *device, const struct rf_matmul *m, const struct rf_tile_use *use, bool barrier);

// matmul_routed.c
bool rf_matmul_plan_routed(struct rf_device *device, const struct rf_matmul *m, const struct rf_split *split);
