// SPDX-License-Identifier: MIT
// The reference: sums in double precision over dequantised weights. How far a result may be from it, and why:
//
// Elements. With S(row, block) the sum of |w| over 32 weights and A(column, block) the largest |x| there, an element's
// error is at most  c * sum over blocks of S * A,  where c is
//   int8: 1/254, half a step of activations rounded to A / 127;
//   fp16: 18 * 2^-11, one rounding of an activation and of each of 8 sums in fp16, which a multiply-add without fusion
//         rounds twice;
//   all:  + k * 2^-24, a rounding of each sum in fp32, and 2^-21 for scales and their products.
// Formats with a minimum multiply q and minimum apart; |q * scale| + |minimum| is at most |w| + 2 * largest |w|.
// 2^-126 * |x| an addend is free: Vulkan lets devices flush subnormal numbers.
//
// NMSE. int8: a step of A / 127 has the variance A^2 / 127^2 / 12, uniform activations A^2 / 3: 1.6e-5 expected; the
// limit is 1e-4, a fifth of what ggml's own test-backend-ops allows any backend. fp16: each of the roundings above is
// at most 2^-11 / sqrt(12) of a partial sum that is as large as the result's own deviation: 16 * 2^-22 / 12 = 3e-7
// expected, the limit is 3e-6. fp32: each of k sums rounds by 2^-25 on average, and equal addends round alike: (k *
// 2^-25)^2. A single column may have ten times that, and is looked at from 16 rows on, where a sum is no accident.
#include "ops.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 32, ROWS_FOR_NMSE = 16 };

struct limits {
    double element, nmse, row_nmse;
};

static struct limits limits_of(const struct ops_world *world, const struct ggml_tensor *node) {
    enum ggml_type type = node->src[0]->type;
    enum ops_path path = world->path;
    int32_t precision;
    memcpy(&precision, node->op_params, sizeof precision);
    bool is_half = type == GGML_TYPE_F16 || type == GGML_TYPE_BF16;
    if (type == GGML_TYPE_F32 || (is_half && precision == GGML_PREC_F32)) {
        path = OPS_PATH_FP32;
    } else if (is_half && path != OPS_PATH_FP32) {
        path = OPS_PATH_FP16; // int8 is for integers; floats then take fp16 or better
    }
    double k = (double)node->src[0]->ne[0];
    struct limits limits = {.element = 0x1p-21 + k * 0x1p-24, .nmse = 1e-12 + k * k * 0x1p-50};
    if (path == OPS_PATH_FP16 || path == OPS_PATH_AUTO) {
        limits.element += 18 * 0x1p-11;
        limits.nmse = 3e-6;
    }
    if (path == OPS_PATH_INT8) {
        limits.element += 1 / 254.0;
    }
    if (path == OPS_PATH_INT8 || path == OPS_PATH_AUTO) {
        limits.nmse = 1e-4;
    }
    limits.row_nmse = 10 * limits.nmse;
    return limits;
}

static bool has_minimum(enum ggml_type type) {
    return type == GGML_TYPE_Q4_1 || type == GGML_TYPE_Q5_1 || type == GGML_TYPE_Q2_K || type == GGML_TYPE_Q4_K ||
           type == GGML_TYPE_Q5_K;
}

static void *allocate(size_t count, size_t size) {
    void *memory = calloc(count + 1, size);
    if (memory == NULL) {
        abort();
    }
    return memory;
}

// One row of any operand as floats; elements of floats may have any stride.
static void row_read(const struct ggml_tensor *tensor, int64_t i1, int64_t i2, int64_t i3, float *to) {
    const char *from = (const char *)tensor->data + (size_t)i1 * tensor->nb[1] + (size_t)i2 * tensor->nb[2] +
                       (size_t)i3 * tensor->nb[3];
    if (ggml_is_quantized(tensor->type)) {
        ggml_get_type_traits(tensor->type)->to_float(from, to, tensor->ne[0]);
        return;
    }
    for (int64_t i = 0; i < tensor->ne[0]; i++, from += tensor->nb[0]) {
        ggml_fp16_t half;
        ggml_bf16_t brain;
        if (tensor->type == GGML_TYPE_F16) {
            memcpy(&half, from, sizeof half);
            to[i] = ggml_fp16_to_fp32(half);
        } else if (tensor->type == GGML_TYPE_BF16) {
            memcpy(&brain, from, sizeof brain);
            to[i] = ggml_bf16_to_fp32(brain);
        } else {
            memcpy(&to[i], from, sizeof to[i]);
        }
    }
}

// One matrix of weights, and one column after the other.
struct reference {
    const struct ggml_tensor *node;
    int64_t m, k, blocks;
    double *weights;                // [m][k]
    double *sums;                   // [m][blocks]: S
    float *row;                     // [k]
    double *column;                 // [k]
    double *largest;                // [blocks]: A
    double *result;                 // [m]
    int64_t weights_i2, weights_i3; // which matrix `weights` is; -1: none
};

static struct reference reference_make(const struct ggml_tensor *node) {
    int64_t m = node->src[0]->ne[1], k = node->src[0]->ne[0], blocks = (k + BLOCK - 1) / BLOCK;
    return (struct reference){.node = node,
                              .m = m,
                              .k = k,
                              .blocks = blocks,
                              .weights = allocate((size_t)(m * k), sizeof(double)),
                              .sums = allocate((size_t)(m * blocks), sizeof(double)),
                              .row = allocate((size_t)k, sizeof(float)),
                              .column = allocate((size_t)k, sizeof(double)),
                              .largest = allocate((size_t)blocks, sizeof(double)),
                              .result = allocate((size_t)m, sizeof(double)),
                              .weights_i2 = -1,
                              .weights_i3 = -1};
}

static void reference_free(struct reference *reference) {
    free(reference->weights);
    free(reference->sums);
    free(reference->row);
    free(reference->column);
    free(reference->largest);
    free(reference->result);
}

static double block_largest(const float *row, int64_t begin, int64_t end) {
    double largest = 0;
    for (int64_t i = begin; i < end; i++) {
        largest = fmax(largest, fabs((double)row[i]));
    }
    return largest;
}

static int64_t block_end(const struct reference *reference, int64_t block) {
    int64_t end = (block + 1) * BLOCK;
    return end < reference->k ? end : reference->k;
}

static void weights_read(struct reference *reference, int64_t i2, int64_t i3) {
    if (reference->weights_i2 == i2 && reference->weights_i3 == i3) {
        return;
    }
    const struct ggml_tensor *weights = reference->node->src[0];
    double extra = has_minimum(weights->type) ? 2 : 0;
    for (int64_t r = 0; r < reference->m; r++) {
        row_read(weights, r, i2, i3, reference->row);
        for (int64_t i = 0; i < reference->k; i++) {
            reference->weights[r * reference->k + i] = reference->row[i];
        }
        for (int64_t b = 0; b < reference->blocks; b++) {
            int64_t end = block_end(reference, b);
            double sum = extra * (double)(end - b * BLOCK) * block_largest(reference->row, b * BLOCK, end);
            for (int64_t i = b * BLOCK; i < end; i++) {
                sum += fabs((double)reference->row[i]);
            }
            reference->sums[r * reference->blocks + b] = sum;
        }
    }
    reference->weights_i2 = i2;
    reference->weights_i3 = i3;
}

// Reads a column and computes its results. False when it holds an infinity or a NaN.
static bool column_compute(struct reference *reference, int64_t i1, int64_t i2, int64_t i3) {
    row_read(reference->node->src[1], i1, i2, i3, reference->row);
    bool finite = true;
    for (int64_t i = 0; i < reference->k; i++) {
        reference->column[i] = reference->row[i];
        finite = finite && isfinite(reference->row[i]);
    }
    for (int64_t b = 0; b < reference->blocks; b++) {
        reference->largest[b] = block_largest(reference->row, b * BLOCK, block_end(reference, b));
    }
    for (int64_t r = 0; finite && r < reference->m; r++) {
        const double *w = reference->weights + r * reference->k, *x = reference->column;
        double sums[4] = {0}; // independent, or each addition would wait for the one before
        int64_t i = 0;
        for (; i + 4 <= reference->k; i += 4) {
            for (int j = 0; j < 4; j++) {
                sums[j] += w[i + j] * x[i + j];
            }
        }
        for (; i < reference->k; i++) {
            sums[0] += w[i] * x[i];
        }
        reference->result[r] = sums[0] + sums[1] + sums[2] + sums[3];
    }
    return finite;
}

// Where a column's results lie, for messages.
struct place {
    int64_t i1, i2, i3;
};

struct totals {
    double error, signal; // squares
};

// The error's bound without the limit c, and what flushed subnormal numbers may cost.
static double element_scale(const struct reference *reference, int64_t row, double *flushed) {
    double scale = 0;
    *flushed = 0;
    for (int64_t b = 0; b < reference->blocks; b++) {
        scale += reference->sums[row * reference->blocks + b] * reference->largest[b];
        *flushed += BLOCK * 0x1p-126 * (1 + reference->largest[b]);
    }
    return scale;
}

static void column_compare(struct reference *reference, const struct limits *limits, const float *got,
                           struct place place, struct totals *totals, struct ops_report *report) {
    struct totals column = {0};
    for (int64_t r = 0; r < reference->m; r++) {
        double flushed, scale = element_scale(reference, r, &flushed), expected = reference->result[r];
        double error = fmax(0, fabs((double)got[r] - expected) - flushed);
        if (!isfinite(got[r])) {
            error = INFINITY;
        }
        double part = scale > 0 ? error / (limits->element * scale) : error > 0 ? INFINITY : 0;
        report->worst = fmax(report->worst, part);
        if (part > 1) {
            ops_fail(report, "row %lld of column (%lld, %lld, %lld): %.9g instead of %.9g, %.3g of the bound",
                     (long long)r, (long long)place.i1, (long long)place.i2, (long long)place.i3, (double)got[r],
                     expected, part);
        }
        column.error += error * error;
        column.signal += expected * expected;
    }
    double nmse = column.signal > 0 ? column.error / column.signal : 0;
    if (reference->m >= ROWS_FOR_NMSE) {
        report->row_nmse = fmax(report->row_nmse, nmse);
        if (nmse > limits->row_nmse) {
            ops_fail(report, "column (%lld, %lld, %lld): NMSE %.3g, more than %.3g", (long long)place.i1,
                     (long long)place.i2, (long long)place.i3, nmse, limits->row_nmse);
        }
    }
    totals->error += column.error;
    totals->signal += column.signal;
}

// Infinity and NaN spread over the column's results, as on the CPU.
static void column_nonfinite(const struct reference *reference, const float *got, struct place place,
                             struct ops_report *report) {
    for (int64_t r = 0; r < reference->m; r++) {
        if (isfinite(got[r])) {
            ops_fail(report, "row %lld of column (%lld, %lld, %lld): %.9g, where activations are not finite",
                     (long long)r, (long long)place.i1, (long long)place.i2, (long long)place.i3, (double)got[r]);
        }
    }
}

static const float *result_column(const struct ggml_tensor *node, struct place at) {
    return (const float *)(const void *)((const char *)node->data + (size_t)at.i1 * node->nb[1] +
                                         (size_t)at.i2 * node->nb[2] + (size_t)at.i3 * node->nb[3]);
}

// The matrix of weights that a column meets.
static void column_weights(const struct ggml_tensor *node, struct place at, int64_t *i2, int64_t *i3) {
    const struct ggml_tensor *weights = node->src[0];
    if (node->op == GGML_OP_MUL_MAT) {
        *i2 = at.i2 / (node->ne[2] / weights->ne[2]);
        *i3 = at.i3 / (node->ne[3] / weights->ne[3]);
        return;
    }
    const struct ggml_tensor *ids = node->src[2];
    int32_t id;
    memcpy(&id, (const char *)ids->data + (size_t)at.i1 * ids->nb[0] + (size_t)at.i2 * ids->nb[1], sizeof id);
    *i2 = id;
    *i3 = 0;
}

// All columns that meet the weight matrix (i2, i3).
static void matrix_check(struct reference *reference, const struct limits *limits, int64_t i2, int64_t i3,
                         struct totals *totals, struct ops_report *report) {
    const struct ggml_tensor *node = reference->node, *columns = node->src[1];
    int64_t count = node->ne[1] * node->ne[2] * node->ne[3];
    for (int64_t i = 0; i < count; i++) {
        struct place at = {i % node->ne[1], i / node->ne[1] % node->ne[2], i / node->ne[1] / node->ne[2]};
        int64_t own_i2, own_i3;
        column_weights(node, at, &own_i2, &own_i3);
        if (own_i2 != i2 || own_i3 != i3) {
            continue;
        }
        weights_read(reference, i2, i3);
        if (column_compute(reference, at.i1 % columns->ne[1], at.i2, at.i3)) {
            column_compare(reference, limits, result_column(node, at), at, totals, report);
        } else {
            column_nonfinite(reference, result_column(node, at), at, report);
        }
    }
}

static double product_check(const struct ggml_tensor *node, const struct limits *limits, struct ops_report *report) {
    struct reference reference = reference_make(node);
    struct totals totals = {0};
    for (int64_t i3 = 0; i3 < node->src[0]->ne[3]; i3++) {
        for (int64_t i2 = 0; i2 < node->src[0]->ne[2]; i2++) {
            matrix_check(&reference, limits, i2, i3, &totals, report);
        }
    }
    reference_free(&reference);
    return totals.signal > 0 ? totals.error / totals.signal : 0;
}

void ops_reference_check(const struct ops_world *world, const struct ggml_tensor *node, struct ops_report *report) {
    struct limits limits = limits_of(world, node);
    double nmse = product_check(node, &limits, report);
    report->products++;
    report->nmse = fmax(report->nmse, nmse);
    if (nmse > limits.nmse) {
        ops_fail(report, "NMSE %.3g, more than %.3g", nmse, limits.nmse);
    }
}

double ops_reference_nmse(const struct ops_world *world, const struct ggml_tensor *node) {
    struct limits limits = limits_of(world, node);
    struct ops_report ignored = {0};
    return product_check(node, &limits, &ignored);
}
