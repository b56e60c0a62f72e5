// SPDX-License-Identifier: MIT
#include "border.h"
#include "matmul.h"

#include <string.h>

enum rf_op rf_ggml_op(const struct ggml_tensor *node) {
    switch (node->op) {
    case GGML_OP_NONE:
    case GGML_OP_RESHAPE:
    case GGML_OP_VIEW:
    case GGML_OP_PERMUTE:
    case GGML_OP_TRANSPOSE:
        return RF_OP_NONE;
    case GGML_OP_MUL_MAT:
    case GGML_OP_MUL_MAT_ID:
        return RF_OP_PRODUCT;
    case GGML_OP_FLASH_ATTN_EXT:
        return RF_OP_ATTENTION;
    default:
        return RF_OP_UNKNOWN;
    }
}

static bool matrix_of(const struct ggml_tensor *tensor, struct rf_matrix *matrix) {
    matrix->format = rf_format_by_name(ggml_type_name(tensor->type));
    if (matrix->format == RF_FORMAT_COUNT)
        return false;
    matrix->owner = rf_ggml_buffer_of(tensor, &matrix->data);
    for (int i = 0; i < 4; i++) {
        matrix->ne[i] = tensor->ne[i];
        matrix->nb[i] = tensor->nb[i];
    }
    return true;
}

bool rf_ggml_product(const struct ggml_tensor *node, struct rf_product *product) {
    *product = (struct rf_product){.routed = node->op == GGML_OP_MUL_MAT_ID};
    int32_t precision;
    memcpy(&precision, node->op_params, sizeof precision);
    product->exact = precision == GGML_PREC_F32;
    if (!matrix_of(node->src[0], &product->weights) || !matrix_of(node->src[1], &product->activations) ||
        !matrix_of(node, &product->result))
        return false;
    if (!product->routed)
        return true;
    const struct ggml_tensor *ids = node->src[2];
    product->routing = (struct rf_routing){
        .ids = ids->data, .nb = {ids->nb[0], ids->nb[1]}, .slots = ids->ne[0], .tokens = ids->ne[1]};
    return ids->type == GGML_TYPE_I32 && ids->ne[2] == 1 && ids->ne[3] == 1;
}

// Weights must lie in rockfill's own memory: taking those that the user left to the CPU (-ngl) would copy them for each
// micro-batch. A tensor without a buffer is about to be computed, or ggml asks before it allocates; llama.cpp then asks
// with an empty buffer of each type, and takes the first that is not refused.
static bool weights_ours(struct rf_ggml_device *device, const struct ggml_tensor *node) {
    const struct ggml_tensor *weights = node->src[0];
    ggml_backend_buffer_t buffer = weights->view_src != NULL ? weights->view_src->buffer : weights->buffer;
    if (buffer == NULL)
        return true;
    ggml_backend_buffer_type_t type = ggml_backend_buffer_get_type(buffer);
    if (type == &device->buffers)
        return ggml_backend_buffer_get_size(buffer) > 0 || !rf_ggml_repack_preferred(device, node);
    return rf_ggml_repack_usable(device, buffer, node);
}

// Columns that a product has for each weight matrix: tokens, for an expert layer and for a plain one.
static int64_t batch_of(const struct ggml_tensor *node) {
    return node->op == GGML_OP_MUL_MAT_ID ? node->ne[2] : node->ne[1];
}

// Small batches are taken only where nothing comes of it: see probe_ggml.c.
static bool batch_taken(struct rf_ggml_device *device, const struct ggml_tensor *node) {
    return batch_of(node) >= rf_plugin_env()->min_batch ||
           (rf_ggml_tensor_constant(node->src[0]) && rf_ggml_probed(device, batch_of(node)));
}

static bool cpu_supports(const struct ggml_tensor *node) {
    ggml_backend_dev_t cpu = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
    return cpu != NULL && ggml_backend_dev_supports_op(cpu, node);
}

bool rf_ggml_supports(struct rf_ggml_device *device, const struct ggml_tensor *node) {
    switch (rf_ggml_op(node)) {
    case RF_OP_NONE:
        return true;
    case RF_OP_PRODUCT: {
        struct rf_product product;
        if (!batch_taken(device, node) || !weights_ours(device, node) || !rf_ggml_product(node, &product) ||
            !rf_matmul_possible(&device->adapter->caps, &product))
            return false;
        struct rf_device *opened = rf_ggml_device_open(device);
        return opened != NULL && !atomic_load(&opened->failed);
    }
    case RF_OP_ATTENTION:
        return rf_ggml_probed(device, node->src[0]->ne[1] * node->src[0]->ne[3]) && cpu_supports(node);
    default:
        return false;
    }
}
