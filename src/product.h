// SPDX-License-Identifier: MIT
// A matrix product in plain numbers, free of ggml and Vulkan types: what the border hands to the planner.
//
// ggml's convention throughout: weights A[M][K], activations B[N][K], result C[N][M] = B * A^T, k contiguous as a rule.
// The outer dimensions broadcast: matrix (i2, i3) of the activations meets matrix (i2 / r2, i3 / r3) of the weights.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format.h"

struct rf_buffer;

struct rf_matrix {
    const void *data;        // host address of the first element; NULL when only shapes matter (rf_product_possible)
    struct rf_buffer *owner; // the buffer that `data` lies in, or NULL for memory that the device does not know
    enum rf_format format;
    int64_t ne[4]; // elements: k, rows (or columns), matrices, outer matrices
    size_t nb[4];  // bytes from one to the next in each dimension
};

// Mixture of experts: token t's slot s goes through expert ids[t][s] (a matrix of the weights); activations are
// [tokens][slots or 1][K], the result is [tokens][slots][M].
struct rf_routing {
    const void *ids; // int32, host address; NULL: no routing, or only shapes matter
    size_t nb[2];    // bytes from slot to slot, from token to token
    int64_t slots, tokens;
};

struct rf_product {
    struct rf_matrix weights, activations, result;
    bool routed;
    struct rf_routing routing;
    bool exact; // the caller asks for fp32 arithmetic (ggml's GGML_PREC_F32)
};
