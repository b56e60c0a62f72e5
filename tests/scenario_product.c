// SPDX-License-Identifier: MIT
#include "scenario.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Rows repeat after a prime number, so that a misplaced part (cut at round numbers) never looks right, and the
// reference stays cheap for a vocabulary of rows.
#define POOL_ROWS 509
// Quantised activations (int8) explain about 1e-5; upstream's tests allow this, too.
#define NMSE_LIMIT 5e-4
// One wrong element among many must not hide in the mean: 5 sigma of int8's error are about 0.03.
#define WORST_LIMIT 0.1

static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

// A float of (-1, 1).
static float random_float(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (float)((double)(*state >> 40) / (double)(1 << 23) - 1.0);
}

static float *random_floats(int64_t count, uint64_t seed) {
    float *values = malloc((size_t)(count > 0 ? count : 1) * sizeof *values);
    uint64_t state = seed * 2654435761u + 1;
    for (int64_t i = 0; values != NULL && i < count; i++)
        values[i] = random_float(&state);
    return values;
}

// What was set must be what is got.
static bool read_back(const struct rf_scene_product *p, const char *packed, size_t row_bytes) {
    size_t bytes = ggml_nbytes(p->weights), pool_bytes = row_bytes * (size_t)p->pool_rows;
    char *got = malloc(bytes + 1);
    bool same = got != NULL;
    if (same && bytes > 0)
        ggml_backend_tensor_get(p->weights, got, 0, bytes);
    for (size_t at = 0; same && at < bytes; at += pool_bytes)
        same = memcmp(got + at, packed, bytes - at < pool_bytes ? bytes - at : pool_bytes) == 0;
    free(got);
    if (!same)
        fprintf(stderr, "error: the weights are not what was set\n");
    return same;
}

// Quantises the pool, fills the tensor with it, and leaves in the pool what quantisation made of it.
static bool weights_fill(struct rf_scene_product *p) {
    const struct ggml_type_traits *traits = ggml_get_type_traits(p->type);
    size_t row_bytes = ggml_row_size(p->type, p->k);
    int64_t rows = ggml_nrows(p->weights);
    char *packed = malloc(row_bytes * (size_t)p->pool_rows + 1);
    if (packed == NULL)
        return false;
    if (p->type == GGML_TYPE_F32)
        memcpy(packed, p->pool, row_bytes * (size_t)p->pool_rows);
    else if (p->k > 0)
        ggml_quantize_chunk(p->type, p->pool, packed, 0, p->pool_rows, p->k, NULL);
    for (int64_t row = 0; row < rows && row_bytes > 0; row += p->pool_rows) {
        int64_t count = rows - row < p->pool_rows ? rows - row : p->pool_rows;
        ggml_backend_tensor_set(p->weights, packed, (size_t)row * row_bytes, (size_t)count * row_bytes);
    }
    bool same = read_back(p, packed, row_bytes);
    if (p->type != GGML_TYPE_F32)
        for (int64_t row = 0; row < p->pool_rows && p->k > 0; row++)
            traits->to_float(packed + (size_t)row * row_bytes, p->pool + row * p->k, p->k);
    free(packed);
    return same;
}

bool rf_scene_product_make(struct rf_scene_product *p, const struct rf_scenario_options *options,
                           ggml_backend_buffer_type_t type) {
    *p = (struct rf_scene_product){.type = options->type,
                                   .m = options->m,
                                   .n = options->n,
                                   .k = options->k,
                                   .experts = options->experts,
                                   .used = options->used,
                                   .layers = options->layers};
    int64_t rows = p->m * (p->experts > 0 ? p->experts : 1);
    p->pool_rows = rows < POOL_ROWS ? (rows > 0 ? rows : 1) : POOL_ROWS;
    p->pool = random_floats(p->pool_rows * p->k, 7);
    p->tensors = ggml_init((struct ggml_init_params){.mem_size = 4 * ggml_tensor_overhead(), .no_alloc = true});
    if (p->pool != NULL && p->tensors != NULL) {
        p->weights = p->experts > 0 ? ggml_new_tensor_3d(p->tensors, p->type, p->k, p->m, p->experts)
                                    : ggml_new_tensor_2d(p->tensors, p->type, p->k, p->m);
        p->buffer = ggml_backend_alloc_ctx_tensors_from_buft(p->tensors, type);
    }
    bool allocated = p->weights != NULL && (p->buffer != NULL || ggml_nbytes(p->weights) == 0);
    if (p->buffer != NULL)
        ggml_backend_buffer_set_usage(p->buffer, GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
    if (allocated && weights_fill(p))
        return true;
    fprintf(stderr, "error: no memory for the weights, or wrong ones\n");
    rf_scene_product_free(p);
    return false;
}

void rf_scene_product_free(struct rf_scene_product *p) {
    if (p->buffer != NULL)
        ggml_backend_buffer_free(p->buffer);
    if (p->tensors != NULL)
        ggml_free(p->tensors);
    free(p->pool);
    *p = (struct rf_scene_product){0};
}

struct inputs {
    float *activations; // [n][slots][k]; slots is 1 for MUL_MAT
    int32_t *experts;   // [n][used]
};

struct graph {
    struct ggml_context *tensors;
    struct ggml_cgraph *nodes;
    struct ggml_tensor *activations, *experts, *product, *result;
};

// Scaling by powers of two before and after leaves the numbers alone, and is the CPU's work: what the device reads was
// just computed by another backend, and the other way round.
static struct graph graph_build(const struct rf_scene_product *p, int64_t n) {
    size_t bytes = ggml_tensor_overhead() * (size_t)(2 * p->layers + 16) + ggml_graph_overhead();
    struct graph g = {.tensors = ggml_init((struct ggml_init_params){.mem_size = bytes, .no_alloc = true})};
    struct ggml_context *c = g.tensors;
    if (c == NULL)
        return g;
    g.nodes = ggml_new_graph(c);
    g.activations = p->experts > 0 ? ggml_new_tensor_3d(c, GGML_TYPE_F32, p->k, 1, n)
                                   : ggml_new_tensor_2d(c, GGML_TYPE_F32, p->k, n);
    ggml_set_input(g.activations);
    if (p->experts > 0) {
        g.experts = ggml_new_tensor_2d(c, GGML_TYPE_I32, p->used, n);
        ggml_set_input(g.experts);
    }
    struct ggml_tensor *doubled = ggml_scale(c, g.activations, 2.0f),
                       **products = calloc((size_t)p->layers, sizeof *products);
    for (int64_t i = 0; products != NULL && i < p->layers; i++) {
        products[i] =
            p->experts > 0 ? ggml_mul_mat_id(c, p->weights, doubled, g.experts) : ggml_mul_mat(c, p->weights, doubled);
        ggml_build_forward_expand(g.nodes, products[i]);
    }
    g.product = products != NULL ? products[0] : NULL;
    struct ggml_tensor *sum = g.product;
    for (int64_t i = 1; products != NULL && i < p->layers; i++)
        sum = ggml_add(c, sum, products[i]);
    free(products);
    g.result = sum != NULL ? ggml_scale(c, sum, 0.5f) : NULL;
    if (g.result != NULL) {
        ggml_set_output(g.result);
        ggml_build_forward_expand(g.nodes, g.result);
    }
    return g;
}

static double reference(const struct rf_scene_product *p, const struct inputs *inputs, int64_t row, int64_t column,
                        int64_t slot) {
    int64_t expert = p->experts > 0 ? inputs->experts[column * p->used + slot] : 0;
    const float *weights = p->pool + (expert * p->m + row) % p->pool_rows * p->k;
    const float *activations = inputs->activations + column * p->k;
    double sum = 0;
    for (int64_t i = 0; i < p->k; i++)
        sum += (double)weights[i] * activations[i];
    return sum * (double)p->layers;
}

// Compares every element; rows beyond the pool repeat its values.
static void result_check(const struct rf_scene_product *p, const struct inputs *inputs, const float *values, int64_t n,
                         struct rf_scene_result *result) {
    int64_t slots = p->experts > 0 ? p->used : 1, pool = p->m < p->pool_rows ? p->m : p->pool_rows;
    double *expected = malloc((size_t)(pool > 0 ? pool : 1) * sizeof *expected);
    double square = 0, error_square = 0, worst = 0;
    for (int64_t i = 0; expected != NULL && i < n * slots; i++) {
        for (int64_t row = 0; row < pool; row++)
            expected[row] = reference(p, inputs, row, i / slots, i % slots);
        for (int64_t row = 0; row < p->m; row++) {
            double error = fabs(values[i * p->m + row] - expected[row % pool]);
            // The comparison is false for NaN.
            worst = error <= worst ? worst : error;
            error_square += error * error;
            square += expected[row % pool] * expected[row % pool];
        }
    }
    bool empty = p->m * n * slots == 0;
    result->nmse = empty ? 0 : error_square / square;
    result->worst = empty ? 0 : worst / sqrt(square / (double)(p->m * n * slots));
    result->right = empty || (expected != NULL && result->nmse <= NMSE_LIMIT && result->worst <= WORST_LIMIT);
    free(expected);
}

static void graph_compute(struct rf_scene *scene, const struct rf_scene_product *p, int64_t n,
                          const struct inputs *inputs, struct rf_scene_result *result) {
    double begin = now_ms();
    struct graph g = graph_build(p, n);
    ggml_backend_sched_reset(scene->sched);
    if (g.result == NULL || !ggml_backend_sched_alloc_graph(scene->sched, g.nodes)) {
        fprintf(stderr, "error: the graph could not be built or allocated\n");
        ggml_free(g.tensors);
        return;
    }
    ggml_backend_tensor_set(g.activations, inputs->activations, 0, ggml_nbytes(g.activations));
    if (g.experts != NULL)
        ggml_backend_tensor_set(g.experts, inputs->experts, 0, ggml_nbytes(g.experts));
    result->backend = ggml_backend_name(ggml_backend_sched_get_tensor_backend(scene->sched, g.product));
    enum ggml_status status = ggml_backend_sched_graph_compute(scene->sched, g.nodes);
    result->computed = status == GGML_STATUS_SUCCESS;
    result->ms = now_ms() - begin;
    float *values = malloc(ggml_nbytes(g.result) + 1);
    if (result->computed && values != NULL) {
        ggml_backend_tensor_get(g.result, values, 0, ggml_nbytes(g.result));
        result_check(p, inputs, values, n, result);
    } else
        fprintf(stderr, "error: computing the graph gave %s\n", ggml_status_to_string(status));
    free(values);
    ggml_free(g.tensors);
}

struct rf_scene_result rf_scene_product_run(struct rf_scene *scene, const struct rf_scene_product *p, int64_t n,
                                            uint32_t seed) {
    struct rf_scene_result result = {.backend = "none"};
    struct inputs inputs = {.activations = random_floats(n * p->k, seed)};
    int64_t slots = p->experts > 0 ? n * p->used : 0;
    inputs.experts = malloc((size_t)slots * sizeof *inputs.experts + 1);
    // Neighbouring tokens choose different experts, and each token different ones.
    for (int64_t i = 0; inputs.experts != NULL && i < slots; i++)
        inputs.experts[i] = (int32_t)(((i / p->used) * 5 + i % p->used + seed) % p->experts);
    if (inputs.activations != NULL && inputs.experts != NULL)
        graph_compute(scene, p, n, &inputs, &result);
    free(inputs.activations);
    free(inputs.experts);
    return result;
}

bool rf_scene_result_print(const struct rf_scene_result *result, int64_t index) {
    printf("compute index=%lld backend=%s computed=%d right=%d nmse=%.3g worst=%.3g ms=%.1f\n", (long long)index,
           result->backend, result->computed, result->right, result->nmse, result->worst, result->ms);
    return result->right;
}
