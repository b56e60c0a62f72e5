// SPDX-License-Identifier: MIT
// Cuts a product into pieces that fit the scratch arena and the device's binding limits. Pure.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// Sizes of one product (M rows, N columns) and what a piece may take.
struct rf_split_needs {
    int64_t rows, columns;                              // M, N
    int64_t panels;                                     // weight matrices along dimension 2
    int64_t matrices;                                   // activation matrices that share one (r2)
    int64_t row_limit;                                  // rows of a piece at most (dispatch limits)
    uint32_t row_multiple;                              // rows of a piece but the last: a multiple of this (TM)
    uint64_t panel_row_bytes;                           // of a panel, scales included
    uint64_t column_bytes;                              // of an unpacked column, scales included
    uint64_t weights_row, weights_matrix, weights_last; // strides and the size of the last row, bytes
    uint64_t activations_column, activations_matrix, activations_last;
    uint64_t result_column, result_matrix;                   // strides, bytes
    uint64_t panel_limit, column_limit;                      // arena, bytes
    uint64_t weights_limit, activations_limit, result_limit; // of one binding or staging area, bytes
};

// A piece: `panels` weight matrices, `matrices` activation matrices with each, `columns`, `rows`.
struct rf_split {
    int64_t panels, matrices, columns, rows;
};

// The largest pieces that fit, found by halving. False when not even the smallest piece does.
bool rf_split_choose(const struct rf_split_needs *needs, struct rf_split *split);
