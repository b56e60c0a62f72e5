// SPDX-License-Identifier: MIT
#include "ops.h"

#include <stdlib.h>
#include <string.h>

struct ops_random ops_random_of(const struct ops_world *world, const char *name) {
    uint64_t hash = 0xcbf29ce484222325u ^ world->seed * 0x9E3779B97F4A7C15u; // FNV-1a
    for (; *name != '\0'; name++) {
        hash = (hash ^ (unsigned char)*name) * 0x100000001b3u;
    }
    return (struct ops_random){hash};
}

// splitmix64
static uint64_t random_next(struct ops_random *random) {
    uint64_t z = random->state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

double ops_random_signed(struct ops_random *random) {
    return (double)(int64_t)random_next(random) * 0x1p-63;
}

uint32_t ops_random_below(struct ops_random *random, uint32_t limit) {
    return (uint32_t)((random_next(random) >> 32) * limit >> 32);
}

static void row_values(float *row, int64_t count, enum rf_case_fill fill, double value, struct ops_random *random) {
    int64_t spike = fill == RF_FILL_SPIKE ? (int64_t)ops_random_below(random, (uint32_t)count) : -1;
    for (int64_t i = 0; i < count; i++) {
        row[i] = (float)(fill == RF_FILL_UNIFORM ? value * ops_random_signed(random)
                         : fill == RF_FILL_NEAR  ? value * (1 + 0.01 * ops_random_signed(random))
                         : fill == RF_FILL_SPIKE ? (i == spike ? value : 1)
                                                 : value);
    }
}

// One row of MXFP4 bytes (17 a block: exponent, 16 x 2 codes), all blocks under one exponent.
static void row_exponents(uint8_t *bytes, int64_t count, int64_t row, struct ops_random *random) {
    static const uint8_t exponents[] = {127, 0, 1, 2, 3, 64, 120, 134, 180, 250};
    for (int64_t block = 0; block < count / 32; block++, bytes += 17) {
        bytes[0] = exponents[(size_t)row % sizeof exponents];
        for (int i = 1; i < 17; i++) {
            bytes[i] = (uint8_t)ops_random_below(random, 256);
        }
    }
}

static void row_write(const struct ggml_tensor *tensor, const float *row, char *to) {
    if (ggml_is_quantized(tensor->type)) {
        ggml_quantize_chunk(tensor->type, row, to, 0, 1, tensor->ne[0], NULL);
        return;
    }
    for (int64_t i = 0; i < tensor->ne[0]; i++) {
        ggml_fp16_t half = ggml_fp32_to_fp16(row[i]);
        ggml_bf16_t brain = ggml_fp32_to_bf16(row[i]);
        const void *element = tensor->type == GGML_TYPE_F16    ? (const void *)&half
                              : tensor->type == GGML_TYPE_BF16 ? (const void *)&brain
                                                               : (const void *)&row[i];
        memcpy(to + (size_t)i * tensor->nb[0], element, ggml_type_size(tensor->type));
    }
}

void ops_fill(const struct ggml_tensor *tensor, enum rf_case_fill fill, double value, struct ops_random *random) {
    struct ggml_tensor *storage = tensor->view_src != NULL ? tensor->view_src : (struct ggml_tensor *)tensor;
    size_t bytes = ggml_nbytes(storage);
    char *shadow = malloc(bytes + 1);
    float *row = malloc((size_t)tensor->ne[0] * sizeof *row + 1);
    if (shadow == NULL || row == NULL) {
        abort();
    }
    memset(shadow, 0xFF, bytes);
    char *start = shadow + ((const char *)tensor->data - (const char *)storage->data);
    int64_t rows = ggml_nrows(tensor);
    for (int64_t i = 0; i < rows && tensor->ne[0] > 0; i++) {
        size_t i1 = (size_t)(i % tensor->ne[1]), i2 = (size_t)(i / tensor->ne[1] % tensor->ne[2]),
               i3 = (size_t)(i / tensor->ne[1] / tensor->ne[2]);
        char *to = start + i1 * tensor->nb[1] + i2 * tensor->nb[2] + i3 * tensor->nb[3];
        if (fill == RF_FILL_EXPONENTS) {
            row_exponents((uint8_t *)to, tensor->ne[0], i, random);
        } else {
            row_values(row, tensor->ne[0], fill, value, random);
            row_write(tensor, row, to);
        }
    }
    if (bytes > 0) {
        ggml_backend_tensor_set(storage, shadow, 0, bytes);
    }
    free(row);
    free(shadow);
}

void ops_fill_ids(const struct ggml_tensor *ids, int64_t experts, struct ops_random *random) {
    struct ggml_tensor *storage = ids->view_src != NULL ? ids->view_src : (struct ggml_tensor *)ids;
    int32_t *order = malloc((size_t)experts * sizeof *order);
    char *shadow = malloc(ggml_nbytes(storage));
    if (order == NULL || shadow == NULL) {
        abort();
    }
    memset(shadow, 0xFF, ggml_nbytes(storage));
    for (int64_t e = 0; e < experts; e++) {
        order[e] = (int32_t)e;
    }
    for (int64_t token = 0; token < ids->ne[1]; token++) {
        for (int64_t slot = 0; slot < ids->ne[0]; slot++) {
            int64_t other = slot + ops_random_below(random, (uint32_t)(experts - slot));
            int32_t chosen = order[other];
            order[other] = order[slot];
            order[slot] = chosen;
            memcpy(shadow + (size_t)token * ids->nb[1] + (size_t)slot * ids->nb[0], &chosen, sizeof chosen);
        }
    }
    ggml_backend_tensor_set(storage, shadow, 0, ggml_nbytes(storage));
    free(shadow);
    free(order);
}
