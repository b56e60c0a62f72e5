// SPDX-License-Identifier: MIT
#include "sm_shape.h"

#include <stdbool.h>
#include <string.h>

#include "qwen2.h"

static const struct sm_shape shapes[] = {
#define ROW(name, layers, embd, ff, heads, heads_kv, vocab, untied) {name, layers, embd, ff, heads, heads_kv, vocab},
    RF_QWEN2_SHAPES(ROW)
#undef ROW
};

const struct sm_shape *sm_shape_find(const char *name) {
    const size_t family = strlen("qwen2.5-");
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        if (strcmp(name, shapes[i].name) == 0 || strcmp(name, shapes[i].name + family) == 0)
            return &shapes[i];
    return NULL;
}

// Rows that the 256-wide blocks do not divide get the type with blocks of 32 that llama-quantize falls back to.
static enum rf_format format_of(bool more, int k) {
    if (k % 256 != 0)
        return more ? RF_FORMAT_Q8_0 : RF_FORMAT_Q5_0;
    return more ? RF_FORMAT_Q6_K : RF_FORMAT_Q4_K;
}

int sm_shape_kv(const struct sm_shape *shape) {
    return shape->embd / shape->heads * shape->heads_kv;
}

void sm_shape_products(const struct sm_shape *shape, int layer, struct sm_product products[SM_PRODUCTS_A_LAYER]) {
    bool more = rf_qwen2_more_bits(layer, shape->layers);
    int embd = shape->embd, kv = sm_shape_kv(shape), ff = shape->ff;
    const struct sm_product all[SM_PRODUCTS_A_LAYER] = {
        {format_of(false, embd), SM_INPUT_QKV, embd, embd}, {format_of(false, embd), SM_INPUT_QKV, kv, embd},
        {format_of(more, embd), SM_INPUT_QKV, kv, embd},    {format_of(false, embd), SM_INPUT_ATTN_OUT, embd, embd},
        {format_of(false, embd), SM_INPUT_FFN, ff, embd},   {format_of(false, embd), SM_INPUT_FFN, ff, embd},
        {format_of(more, ff), SM_INPUT_DOWN, embd, ff},
    };
    memcpy(products, all, sizeof all);
}

double sm_shape_macs(const struct sm_shape *shape) {
    double macs = 0;
    struct sm_product products[SM_PRODUCTS_A_LAYER];
    sm_shape_products(shape, 0, products);
    for (int i = 0; i < SM_PRODUCTS_A_LAYER; i++)
        macs += (double)products[i].rows * products[i].k;
    return macs * shape->layers;
}

double sm_shape_head_bytes(const struct sm_shape *shape) {
    const struct rf_format_info *format = rf_format_info(shape->embd % 256 == 0 ? RF_FORMAT_Q6_K : RF_FORMAT_Q8_0);
    return (double)shape->vocab * shape->embd / format->block_elems * format->block_bytes;
}
