// SPDX-License-Identifier: MIT
// The products of a Qwen2 model under Q4_K_M. Pure.
#pragma once

#include "format.h"

enum sm_input { // products with the same input share its quantised columns
    SM_INPUT_QKV,
    SM_INPUT_ATTN_OUT,
    SM_INPUT_FFN,
    SM_INPUT_DOWN,
    SM_INPUT_COUNT,
};

struct sm_shape {
    const char *name;
    int layers, embd, ff, heads, heads_kv, vocab;
};

struct sm_product {
    enum rf_format format;
    enum sm_input input;
    int rows, k; // M, K
};

#define SM_PRODUCTS_A_LAYER 7

// NULL when there is no such shape; names are those of rockfill-synth: "3b" or "qwen2.5-3b".
const struct sm_shape *sm_shape_find(const char *name);

// The products of a layer: q, k, v, attn_output, gate, up, down.
void sm_shape_products(const struct sm_shape *shape, int layer, struct sm_product products[SM_PRODUCTS_A_LAYER]);

// Width of the keys and values of one token.
int sm_shape_kv(const struct sm_shape *shape);

// Multiply-accumulates of one token in the layers' products.
double sm_shape_macs(const struct sm_shape *shape);

// Bytes of the output matrix, which the CPU multiplies with the last token alone.
double sm_shape_head_bytes(const struct sm_shape *shape);
