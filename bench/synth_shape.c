/* SPDX-License-Identifier: MIT
 *
 * Shapes: the dimensions of the Qwen2.5 family and the tensors that follow from them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "qwen2.h"
#include "synth.h"

/* 100m is no released model: it has about 100 M parameters and, unlike 0.5b, rows that k-quants divide. */
static const struct rf_synth_shape shapes[] = {{"100m", 12, 768, 2304, 12, 4, 22528, false},
#define ROW(...) {__VA_ARGS__},
                                               RF_QWEN2_SHAPES(ROW)
#undef ROW
};

bool rf_synth_shape_find(const char *name, struct rf_synth_shape *shape) {
    static const char family[] = "qwen2.5-";

    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        const char *full = shapes[i].name;
        bool in_family = strncmp(full, family, strlen(family)) == 0;
        if (strcmp(name, full) == 0 || (in_family && strcmp(name, full + strlen(family)) == 0)) {
            *shape = shapes[i];
            return true;
        }
    }
    return false;
}

const char *rf_synth_shape_names(void) {
    return "qwen2.5-0.5b qwen2.5-1.5b qwen2.5-3b qwen2.5-7b 100m";
}

int rf_synth_shape_check(const struct rf_synth_shape *shape) {
    /* llama.cpp's own limit is 512 layers. The others keep every product of two dimensions far from overflow. */
    const struct {
        const char *option;
        int64_t value;
        int64_t most;
    } dims[] = {
        {"--layers", shape->layers, 512},   {"--embd", shape->embd, 1 << 20},      {"--ff", shape->ff, 1 << 20},
        {"--heads", shape->heads, 1 << 12}, {"--heads-kv", shape->heads_kv, 4096}, {"--vocab", shape->vocab, 1 << 24},
    };

    for (size_t i = 0; i < sizeof(dims) / sizeof(dims[0]); i++) {
        if (dims[i].value < 1) {
            return rf_synth_fail(RF_SYNTH_USAGE, "%s is missing: give --shape or all six dimensions", dims[i].option);
        }
        if (dims[i].value > dims[i].most) {
            return rf_synth_fail(RF_SYNTH_USAGE, "%s %" PRId64 " is too large: at most %" PRId64, dims[i].option,
                                 dims[i].value, dims[i].most);
        }
    }
    /* Rotary embedding turns pairs, hence the even head. */
    if (shape->embd % shape->heads != 0 || shape->embd / shape->heads % 2 != 0) {
        return rf_synth_fail(RF_SYNTH_USAGE,
                             "--embd %" PRId64 " cannot be cut into %" PRId64 " heads of equal, even width",
                             shape->embd, shape->heads);
    }
    if (shape->heads % shape->heads_kv != 0) {
        return rf_synth_fail(RF_SYNTH_USAGE, "--heads %" PRId64 " is not a multiple of --heads-kv %" PRId64,
                             shape->heads, shape->heads_kv);
    }
    return RF_SYNTH_OK;
}

enum dimension { ONE, EMBD, EMBD_KV, FF };

static const struct layer_tensor {
    const char *suffix;
    enum rf_synth_role role;
    enum dimension cols, rows;
} layer_tensors[] = {
    {"attn_norm.weight", RF_SYNTH_NORM, EMBD, ONE}, {"attn_q.weight", RF_SYNTH_Q, EMBD, EMBD},
    {"attn_q.bias", RF_SYNTH_BIAS, EMBD, ONE},      {"attn_k.weight", RF_SYNTH_K, EMBD, EMBD_KV},
    {"attn_k.bias", RF_SYNTH_BIAS, EMBD_KV, ONE},   {"attn_v.weight", RF_SYNTH_V, EMBD, EMBD_KV},
    {"attn_v.bias", RF_SYNTH_BIAS, EMBD_KV, ONE},   {"attn_output.weight", RF_SYNTH_ATTN_OUT, EMBD, EMBD},
    {"ffn_norm.weight", RF_SYNTH_NORM, EMBD, ONE},  {"ffn_gate.weight", RF_SYNTH_GATE, EMBD, FF},
    {"ffn_up.weight", RF_SYNTH_UP, EMBD, FF},       {"ffn_down.weight", RF_SYNTH_DOWN, FF, EMBD},
};

enum { LAYER_TENSORS = sizeof(layer_tensors) / sizeof(layer_tensors[0]) };

int64_t rf_synth_shape_count(const struct rf_synth_shape *shape) {
    return 2 + (shape->untied ? 1 : 0) + shape->layers * LAYER_TENSORS;
}

static int64_t dimension_elems(const struct rf_synth_shape *shape, enum dimension dimension) {
    switch (dimension) {
    case EMBD:
        return shape->embd;
    case EMBD_KV:
        return shape->embd / shape->heads * shape->heads_kv;
    case FF:
        return shape->ff;
    default:
        return 1;
    }
}

/* The tensors outside the layers, in the order of `index`. */
static void describe_outer(const struct rf_synth_shape *shape, int64_t index, struct rf_synth_tensor *tensor) {
    static const struct {
        const char *name;
        enum rf_synth_role role;
    } outer[] = {
        {"token_embd.weight", RF_SYNTH_EMBD},
        {"output_norm.weight", RF_SYNTH_NORM},
        {"output.weight", RF_SYNTH_HEAD},
    };

    snprintf(tensor->name, sizeof(tensor->name), "%s", outer[index].name);
    tensor->role = outer[index].role;
    tensor->layer = -1;
    tensor->cols = shape->embd;
    tensor->rows = tensor->role == RF_SYNTH_NORM ? 1 : shape->vocab;
}

void rf_synth_shape_tensor(const struct rf_synth_shape *shape, int64_t index, struct rf_synth_tensor *tensor) {
    int64_t n_outer = rf_synth_shape_count(shape) - shape->layers * LAYER_TENSORS;

    if (index < n_outer) {
        describe_outer(shape, index, tensor);
        return;
    }
    const struct layer_tensor *found = &layer_tensors[(index - n_outer) % LAYER_TENSORS];
    tensor->layer = (index - n_outer) / LAYER_TENSORS;
    tensor->role = found->role;
    tensor->cols = dimension_elems(shape, found->cols);
    tensor->rows = dimension_elems(shape, found->rows);
    snprintf(tensor->name, sizeof(tensor->name), "blk.%" PRId64 ".%s", tensor->layer, found->suffix);
}
