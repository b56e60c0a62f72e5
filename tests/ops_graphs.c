// SPDX-License-Identifier: MIT
// Graphs: several products that depend on each other, contents that change between computations, and what is no
// product.
#include "ops.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A scene that fills all its inputs with uniform data.
struct stage {
    struct ops_scene scene;
    struct ops_random random;
};

static struct ggml_tensor *make(struct stage *stage, enum ops_place place, enum ggml_type type, int64_t ne0,
                                int64_t ne1, const char *name) {
    struct ggml_tensor *tensor = ggml_new_tensor_2d(stage->scene.contexts[place], type, ne0, ne1);
    ggml_set_name(tensor, name);
    return tensor;
}

static struct ggml_tensor *weights(struct stage *stage, enum ggml_type type, int64_t k, int64_t m) {
    return make(stage, OPS_WEIGHTS, type, k, m, "weights");
}

static struct ggml_tensor *columns(struct stage *stage, int64_t k, int64_t n) {
    return make(stage, OPS_COMPUTE, GGML_TYPE_F32, k, n, "columns");
}

static struct ggml_tensor *product(struct stage *stage, struct ggml_tensor *a, struct ggml_tensor *b) {
    struct ggml_tensor *node = ggml_mul_mat(stage->scene.contexts[OPS_COMPUTE], a, b);
    ggml_build_forward_expand(stage->scene.graph, node);
    return node;
}

static bool stage_open(struct stage *stage, const struct ops_world *world, struct ops_report *report,
                       const char *name) {
    stage->random = ops_random_of(world, name);
    return ops_scene_open(&stage->scene, world, report);
}

// Allocates, then fills all tensors that nothing computes. Index tensors are the caller's.
static bool stage_fill(struct stage *stage) {
    if (!ops_scene_allocate(&stage->scene)) {
        return false;
    }
    for (int i = 0; i < OPS_PLACES; i++) {
        struct ggml_context *context = stage->scene.contexts[i];
        for (struct ggml_tensor *t = ggml_get_first_tensor(context); t != NULL; t = ggml_get_next_tensor(context, t)) {
            bool is_index = t->type == GGML_TYPE_I32 || t->type == GGML_TYPE_I64;
            if (t->op == GGML_OP_NONE && t->view_src == NULL && !is_index) {
                ops_fill(t, RF_FILL_UNIFORM, 1, &stage->random);
            }
        }
    }
    return true;
}

// Fills, computes twice, and checks every product.
static bool stage_check(struct stage *stage) {
    return stage_fill(stage) && ops_scene_supported(&stage->scene, false) && ops_scene_compute(&stage->scene, 2) &&
           ops_scene_check(&stage->scene);
}

static void shared_columns(const struct ops_world *world, struct ops_report *report) {
    struct stage stage;
    if (stage_open(&stage, world, report, "shared-columns")) {
        // Q, K and V; the types take different paths, and F32 must not get int8's columns.
        struct ggml_tensor *x = columns(&stage, 256, 40);
        product(&stage, weights(&stage, GGML_TYPE_Q4_0, 256, 96), x);
        product(&stage, weights(&stage, GGML_TYPE_F32, 256, 32), x);
        product(&stage, weights(&stage, GGML_TYPE_Q4_K, 256, 33), x);
        product(&stage, weights(&stage, GGML_TYPE_F16, 256, 31), x);
        stage_check(&stage);
    }
    ops_scene_close(&stage.scene);
}

static void dependent_products(const struct ops_world *world, struct ops_report *report) {
    struct stage stage;
    if (stage_open(&stage, world, report, "dependent-products")) {
        struct ggml_tensor *y = product(&stage, weights(&stage, GGML_TYPE_Q4_0, 256, 128), columns(&stage, 256, 40));
        struct ggml_tensor *z = product(&stage, weights(&stage, GGML_TYPE_F16, 128, 64), y);
        product(&stage, weights(&stage, GGML_TYPE_Q8_0, 64, 37), z);
        product(&stage, weights(&stage, GGML_TYPE_F32, 128, 21), y);
        stage_check(&stage);
    }
    ops_scene_close(&stage.scene);
}

static void long_chain(const struct ops_world *world, struct ops_report *report) {
    struct stage stage;
    if (stage_open(&stage, world, report, "long-chain")) {
        struct ggml_tensor *x = columns(&stage, 64, 33);
        for (int i = 0; i < 150; i++) {
            struct ggml_tensor *w = weights(&stage, i % 3 == 0 ? GGML_TYPE_F32 : GGML_TYPE_Q8_0, 64, 64);
            struct ggml_tensor *y = product(&stage, w, x);
            x = i % 10 == 9 ? columns(&stage, 64, 33) : y; // or the values would grow without end
        }
        stage_check(&stage);
    }
    ops_scene_close(&stage.scene);
}

static void many_inputs(const struct ops_world *world, struct ops_report *report) {
    struct stage stage;
    if (stage_open(&stage, world, report, "many-inputs")) {
        for (int i = 0; i < 40; i++) {
            struct ggml_tensor *x = columns(&stage, 96, 20 + i);
            product(&stage, weights(&stage, GGML_TYPE_Q5_0, 96, 18), x);
            product(&stage, weights(&stage, GGML_TYPE_Q5_1, 96, 17), x);
        }
        stage_check(&stage);
    }
    ops_scene_close(&stage.scene);
}

// The allocator gives a dead tensor's memory to a later result of the same shape: x, then z. The third product must not
// take x's columns for z's.
static void address_reuse(const struct ops_world *world, struct ops_report *report) {
    enum { SIZE = 64, COLUMNS = 33 };
    struct stage stage;
    if (stage_open(&stage, world, report, "address-reuse")) {
        struct ggml_tensor *x = columns(&stage, SIZE, COLUMNS);
        struct ggml_tensor *first = weights(&stage, GGML_TYPE_Q8_0, SIZE, SIZE);
        struct ggml_tensor *y = product(&stage, first, x);
        struct ggml_tensor *z = product(&stage, weights(&stage, GGML_TYPE_Q8_0, SIZE, SIZE), y);
        struct ggml_tensor *last = product(&stage, weights(&stage, GGML_TYPE_Q8_0, SIZE, SIZE), z);
        if (stage_fill(&stage)) {
            float start[SIZE * COLUMNS];
            memcpy(start, x->data, sizeof start);
            z->data = x->data;
            enum ggml_status status = ggml_backend_graph_compute(stage.scene.backend, stage.scene.graph);
            if (status != GGML_STATUS_SUCCESS) {
                ops_fail(report, "the graph's status is %s", ggml_status_to_string(status));
            }
            ops_reference_check(world, z, report);
            ops_reference_check(world, last, report);
            ggml_backend_tensor_set(x, start, 0, sizeof start); // z's values are gone; x is the first one's operand
            ops_reference_check(world, y, report);
        }
    }
    ops_scene_close(&stage.scene);
}

static void computed_weights(const struct ops_world *world, struct ops_report *report) {
    struct stage stage;
    if (stage_open(&stage, world, report, "computed-weights")) {
        struct ggml_tensor *w = product(&stage, weights(&stage, GGML_TYPE_Q4_0, 128, 64), columns(&stage, 128, 45));
        product(&stage, w, columns(&stage, 64, 33)); // w as 45 rows of 64
        product(&stage, w, w);
        stage_check(&stage);
    }
    ops_scene_close(&stage.scene);
}

// Keys times queries as llama.cpp builds them: both permuted, key heads shared by several query heads.
static void attention_scores(const struct ops_world *world, struct ops_report *report) {
    enum { HEAD = 64, KEY_HEADS = 3, SHARED = 2, KEYS = 70, QUERIES = 33 };
    struct stage stage;
    if (stage_open(&stage, world, report, "attention-scores")) {
        struct ggml_context *context = stage.scene.contexts[OPS_COMPUTE];
        struct ggml_tensor *cache = make(&stage, OPS_COMPUTE, GGML_TYPE_F16, HEAD * KEY_HEADS, 96, "cache");
        struct ggml_tensor *keys = ggml_view_3d(context, cache, HEAD, KEYS, KEY_HEADS, cache->nb[1],
                                                HEAD * sizeof(ggml_fp16_t), 5 * cache->nb[1]);
        struct ggml_tensor *q = ggml_new_tensor_3d(context, GGML_TYPE_F32, HEAD, (int64_t)KEY_HEADS * SHARED, QUERIES);
        product(&stage, keys, ggml_permute(context, q, 0, 2, 1, 3));
        stage_check(&stage);
    }
    ops_scene_close(&stage.scene);
}

static void no_ops(const struct ops_world *world, struct ops_report *report) {
    struct stage stage;
    if (stage_open(&stage, world, report, "fault-20-no-ops")) {
        struct ggml_context *context = stage.scene.contexts[OPS_COMPUTE];
        struct ggml_cgraph *graph = stage.scene.graph;
        struct ggml_tensor *x = columns(&stage, 64, 48);
        struct ggml_tensor *y = product(&stage, weights(&stage, GGML_TYPE_Q8_0, 64, 128), x);
        struct ggml_tensor *reshaped = ggml_reshape_3d(context, y, 64, 2, 48);
        struct ggml_tensor *permuted = ggml_permute(context, reshaped, 0, 2, 1, 3);
        product(&stage, weights(&stage, GGML_TYPE_F16, 64, 30), permuted);
        struct ggml_tensor *view = ggml_view_2d(context, y, 64, 20, y->nb[1], 64 * sizeof(float));
        product(&stage, weights(&stage, GGML_TYPE_Q4_0, 64, 30), view);
        ggml_build_forward_expand(graph, ggml_transpose(context, y));
        ggml_build_forward_expand(graph, ggml_view_tensor(context, x));
        stage_check(&stage);
    }
    ops_scene_close(&stage.scene);
}

// What the scheduler's graph starts from.
struct inputs {
    struct ggml_tensor *x, *cache, *rows, *first, *second;
};

// The scheduler splits the graph between device and CPU; CPY and SET_ROWS write into the device's own buffers. Returns
// the last node.
static struct ggml_tensor *scheduler_build(struct ggml_context *context, struct ggml_cgraph *graph,
                                           const struct inputs *in) {
    struct ggml_tensor *y = ggml_silu(context, ggml_mul_mat(context, in->first, ggml_scale(context, in->x, 0.5f)));
    struct ggml_tensor *front = ggml_view_2d(context, in->cache, 64, 48, in->cache->nb[1], 0);
    struct ggml_tensor *parts = ggml_permute(context, ggml_reshape_3d(context, y, 32, 2, 48), 0, 2, 1, 3);
    struct ggml_tensor *last = ggml_mul_mat(context, in->second, ggml_cont(context, parts));
    ggml_build_forward_expand(graph, ggml_cpy(context, y, front));
    ggml_build_forward_expand(graph, ggml_set_rows(context, in->cache, y, in->rows));
    ggml_set_output(last);
    ggml_build_forward_expand(graph, last);
    return last;
}

enum { CACHE_ELEMS = 64 * 160, LAST_ELEMS = 40 * 48 * 2 };

// Computes the graph under the scheduler with the given backends; cache and last node go to `to`.
static bool scheduler_run(ggml_backend_t *backends, int count, const struct inputs *in, float *to,
                          struct ops_report *report) {
    struct ggml_context *context = ggml_init(
        (struct ggml_init_params){.mem_size = 64 * ggml_tensor_overhead() + ggml_graph_overhead(), .no_alloc = true});
    struct ggml_cgraph *graph = ggml_new_graph(context);
    struct ggml_tensor *last = scheduler_build(context, graph, in);
    ggml_backend_sched_t scheduler = ggml_backend_sched_new(backends, NULL, count, 256, false, true);
    ggml_backend_tensor_memset(in->cache, 0, 0, ggml_nbytes(in->cache));
    bool good = ggml_backend_sched_graph_compute(scheduler, graph) == GGML_STATUS_SUCCESS;
    if (good) {
        ggml_backend_tensor_get(in->cache, to, 0, ggml_nbytes(in->cache));
        ggml_backend_tensor_get(last, to + CACHE_ELEMS, 0, ggml_nbytes(last));
    } else {
        ops_fail(report, "the scheduler did not compute the graph with %d backends", count);
    }
    ggml_backend_sched_free(scheduler);
    ggml_free(context);
    return good;
}

static double nmse_of(const float *got, const float *expected, size_t count) {
    double error = 0, signal = 0;
    for (size_t i = 0; i < count; i++) {
        error += ((double)got[i] - expected[i]) * ((double)got[i] - expected[i]);
        signal += (double)expected[i] * expected[i];
    }
    return signal > 0 ? error / signal : error > 0 ? INFINITY : 0;
}

static void scheduler_compare(struct stage *stage, const struct inputs *in) {
    static float got[CACHE_ELEMS + LAST_ELEMS], expected[CACHE_ELEMS + LAST_ELEMS];
    struct ops_report *report = stage->scene.report;
    ggml_backend_t cpu = ggml_backend_dev_init(stage->scene.world->cpu, NULL);
    ggml_backend_t both[] = {stage->scene.backend, cpu};
    int before = ops_world_cpu_count();
    if (scheduler_run(both, 2, in, got, report) && scheduler_run(&cpu, 1, in, expected, report)) {
        report->nmse = nmse_of(got, expected, CACHE_ELEMS + LAST_ELEMS);
        if (!(report->nmse <= 5e-4)) { // test-backend-ops' limit for one product; NaN fails, too
            ops_fail(report, "NMSE %.3g against the CPU alone", report->nmse);
        }
        if (ops_world_cpu_count() != before) {
            ops_fail(report, "the device left a graph to the CPU");
        }
    }
    ggml_backend_free(cpu);
}

static void scheduler(const struct ops_world *world, struct ops_report *report) {
    struct stage stage;
    if (stage_open(&stage, world, report, "fault-20-scheduler")) {
        struct inputs in = {.x = columns(&stage, 64, 48),
                            .cache = make(&stage, OPS_COMPUTE, GGML_TYPE_F32, 64, 160, "cache"),
                            .rows = make(&stage, OPS_FOREIGN, GGML_TYPE_I64, 48, 1, "rows"),
                            .first = weights(&stage, GGML_TYPE_Q8_0, 64, 64),
                            .second = weights(&stage, GGML_TYPE_F16, 32, 40)};
        int64_t rows[48];
        for (int i = 0; i < 48; i++) {
            rows[i] = 159 - 2 * i;
        }
        if (stage_fill(&stage)) {
            ggml_backend_tensor_set(in.rows, rows, 0, sizeof rows);
            scheduler_compare(&stage, &in);
        }
    }
    ops_scene_close(&stage.scene);
}

// Weights that are written again, whole and in part, between computations.
static void rewritten_weights(const struct ops_world *world, struct ops_report *report) {
    struct stage stage;
    if (stage_open(&stage, world, report, "rewritten-weights")) {
        struct ggml_tensor *w = weights(&stage, GGML_TYPE_Q4_0, 128, 60),
                           *other = weights(&stage, GGML_TYPE_Q4_0, 128, 60);
        product(&stage, w, columns(&stage, 128, 33));
        bool good = stage_check(&stage);
        ops_fill(w, RF_FILL_UNIFORM, 0.5, &stage.random);
        good = good && ops_scene_compute(&stage.scene, 1) && ops_scene_check(&stage.scene);
        size_t half = ggml_nbytes(w) / 2;
        if (good) {
            ggml_backend_tensor_set(w, other->data, half, ggml_nbytes(w) - half);
            good = ops_scene_compute(&stage.scene, 1) && ops_scene_check(&stage.scene);
        }
        if (good) {
            ggml_backend_tensor_memset(w, 0, 0, half);
            good = ops_scene_compute(&stage.scene, 1) && ops_scene_check(&stage.scene);
        }
        if (good) {
            ggml_backend_tensor_copy(other, w);
            if (ops_scene_compute(&stage.scene, 1)) {
                ops_scene_check(&stage.scene);
            }
        }
    }
    ops_scene_close(&stage.scene);
}

// The CPU backend writes activations where they lie, without telling the buffer.
static void rewritten_columns(const struct ops_world *world, struct ops_report *report) {
    struct stage stage;
    if (stage_open(&stage, world, report, "rewritten-columns")) {
        struct ggml_tensor *x = columns(&stage, 128, 33);
        product(&stage, weights(&stage, GGML_TYPE_Q4_0, 128, 60), x);
        bool good = stage_check(&stage);
        for (int round = 0; good && round < 3; round++) {
            for (int64_t i = 0; i < ggml_nelements(x); i++) {
                ((float *)x->data)[i] = (float)ops_random_signed(&stage.random);
            }
            good = ops_scene_compute(&stage.scene, 1) && ops_scene_check(&stage.scene);
        }
    }
    ops_scene_close(&stage.scene);
}

// Other experts in each computation, all tokens to one expert among them.
static void rewritten_ids(const struct ops_world *world, struct ops_report *report) {
    enum { EXPERTS = 6, TOKENS = 40 };
    struct stage stage;
    if (stage_open(&stage, world, report, "rewritten-ids")) {
        struct ggml_context *near = stage.scene.contexts[OPS_COMPUTE];
        struct ggml_tensor *w = ggml_new_tensor_3d(stage.scene.contexts[OPS_WEIGHTS], GGML_TYPE_Q4_0, 64, 33, EXPERTS);
        struct ggml_tensor *x = ggml_new_tensor_3d(near, GGML_TYPE_F32, 64, 1, TOKENS);
        struct ggml_tensor *ids = ggml_new_tensor_2d(near, GGML_TYPE_I32, 2, TOKENS);
        ggml_build_forward_expand(stage.scene.graph, ggml_mul_mat_id(near, w, x, ids));
        bool good = stage_fill(&stage);
        for (int round = 0; good && round < 3; round++) {
            ops_fill_ids(ids, EXPERTS, &stage.random);
            good = ops_scene_compute(&stage.scene, 1) && ops_scene_check(&stage.scene);
        }
        for (int32_t slot = 0, id; good && slot < 2 * TOKENS; slot++) {
            id = slot % 2 == 0 ? 5 : 0;
            ggml_backend_tensor_set(ids, &id, (size_t)slot * sizeof id, sizeof id);
        }
        if (good && ops_scene_compute(&stage.scene, 1)) {
            ops_scene_check(&stage.scene);
        }
    }
    ops_scene_close(&stage.scene);
}

// An expert layer as llama.cpp builds it: up for each token's experts, then down for each slot.
static void routed_chain(const struct ops_world *world, struct ops_report *report) {
    enum { EXPERTS = 5, USED = 2, TOKENS = 37 };
    struct stage stage;
    if (stage_open(&stage, world, report, "routed-chain")) {
        struct ggml_context *near = stage.scene.contexts[OPS_COMPUTE], *far = stage.scene.contexts[OPS_WEIGHTS];
        struct ggml_tensor *up = ggml_new_tensor_3d(far, GGML_TYPE_Q4_0, 64, 96, EXPERTS);
        struct ggml_tensor *gate = ggml_new_tensor_3d(far, GGML_TYPE_F16, 64, 96, EXPERTS);
        struct ggml_tensor *down = ggml_new_tensor_3d(far, GGML_TYPE_Q5_0, 96, 64, EXPERTS);
        struct ggml_tensor *x = ggml_new_tensor_3d(near, GGML_TYPE_F32, 64, 1, TOKENS);
        struct ggml_tensor *ids = ggml_new_tensor_2d(near, GGML_TYPE_I32, USED, TOKENS);
        struct ggml_tensor *y = ggml_mul_mat_id(near, up, x, ids);
        ggml_build_forward_expand(stage.scene.graph, y);
        ggml_build_forward_expand(stage.scene.graph, ggml_mul_mat_id(near, gate, x, ids));
        ggml_build_forward_expand(stage.scene.graph, ggml_mul_mat_id(near, down, y, ids));
        if (stage_fill(&stage) && ops_scene_supported(&stage.scene, false)) {
            ops_fill_ids(ids, EXPERTS, &stage.random);
            if (ops_scene_compute(&stage.scene, 2)) {
                ops_scene_check(&stage.scene);
            }
        }
    }
    ops_scene_close(&stage.scene);
}

// Products without columns or without rows beside one with both. (ggml itself refuses k = 0.)
static void zero_sizes(const struct ops_world *world, struct ops_report *report) {
    struct stage stage;
    if (stage_open(&stage, world, report, "zero-sizes")) {
        product(&stage, weights(&stage, GGML_TYPE_Q4_0, 64, 45), columns(&stage, 64, 0));
        product(&stage, weights(&stage, GGML_TYPE_F16, 64, 0), columns(&stage, 64, 33));
        product(&stage, weights(&stage, GGML_TYPE_Q4_0, 64, 45), columns(&stage, 64, 33));
        if (stage_fill(&stage) && ops_scene_compute(&stage.scene, 2)) {
            ops_scene_check(&stage.scene);
        }
    }
    ops_scene_close(&stage.scene);
}

// A NaN and an infinity spoil their own columns; all others have the same bits as without.
static void nonfinite(const struct ops_world *world, struct ops_report *report, enum ggml_type type, bool routed) {
    enum { K = 256, M = 45, COLUMNS = 70, NAN_COLUMN = 5, INFINITY_COLUMN = 37 };
    struct stage stage;
    char name[64];
    snprintf(name, sizeof name, "nonfinite-%s", ggml_type_name(type));
    if (stage_open(&stage, world, report, name)) {
        struct ggml_context *near = stage.scene.contexts[OPS_COMPUTE];
        struct ggml_tensor *w = ggml_new_tensor_3d(stage.scene.contexts[OPS_WEIGHTS], type, K, M, routed ? 4 : 1);
        struct ggml_tensor *x = ggml_new_tensor_3d(near, GGML_TYPE_F32, K, routed ? 1 : COLUMNS, routed ? COLUMNS : 1);
        struct ggml_tensor *ids = routed ? ggml_new_tensor_2d(near, GGML_TYPE_I32, 1, COLUMNS) : NULL;
        struct ggml_tensor *y = routed ? ggml_mul_mat_id(near, w, x, ids) : ggml_mul_mat(near, w, x);
        ggml_build_forward_expand(stage.scene.graph, y);
        bool good = stage_fill(&stage);
        if (good && routed) {
            ops_fill_ids(ids, 4, &stage.random);
        }
        static float clean[M * COLUMNS];
        if (good && ops_scene_compute(&stage.scene, 1)) {
            memcpy(clean, y->data, sizeof clean);
            ((float *)x->data)[NAN_COLUMN * K + 77] = NAN;
            ((float *)x->data)[INFINITY_COLUMN * K + 200] = -INFINITY;
            good = ops_scene_compute(&stage.scene, 1) && ops_scene_check(&stage.scene);
        }
        for (int i = 0; good && i < COLUMNS; i++) {
            bool spoilt = i == NAN_COLUMN || i == INFINITY_COLUMN;
            if (!spoilt && memcmp(clean + i * M, (float *)y->data + i * M, M * sizeof *clean) != 0) {
                ops_fail(report, "column %d changed with another column's NaN", i);
            }
        }
    }
    ops_scene_close(&stage.scene);
}

static void nonfinite_plain(const struct ops_world *world, struct ops_report *report) {
    static const enum ggml_type types[] = {GGML_TYPE_F32,  GGML_TYPE_F16,  GGML_TYPE_BF16, GGML_TYPE_Q4_0,
                                           GGML_TYPE_Q4_1, GGML_TYPE_Q4_K, GGML_TYPE_Q6_K, GGML_TYPE_MXFP4};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        nonfinite(world, report, types[i], false);
    }
}

static void nonfinite_routed(const struct ops_world *world, struct ops_report *report) {
    static const enum ggml_type types[] = {GGML_TYPE_F32, GGML_TYPE_F16, GGML_TYPE_Q4_0, GGML_TYPE_Q4_K};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        nonfinite(world, report, types[i], true);
    }
}

// The error relative to the result must not grow with k. In fp32 it is so small that its own growth, a random walk of
// roundings, stays below the floor.
static void flat_in_k(const struct ops_world *world, struct ops_report *report, enum ggml_type type) {
    const double floor = 1e-10;
    double first = 0;
    for (int64_t k = 256; k <= 16384 && !report->failed; k *= 2) {
        struct stage stage;
        if (stage_open(&stage, world, report, "fault-02-flat-in-k")) {
            struct ggml_tensor *y = product(&stage, weights(&stage, type, k, 64), columns(&stage, k, 64));
            stage_check(&stage);
            double nmse = report->failed ? 0 : ops_reference_nmse(world, y);
            first = k == 256 ? nmse : first;
            if (nmse > 2 * first + floor) {
                ops_fail(report, "%s: NMSE %.3g at k %lld, %.3g at 256", ggml_type_name(type), nmse, (long long)k,
                         first);
            }
        }
        ops_scene_close(&stage.scene);
    }
}

static void flat_in_k_all(const struct ops_world *world, struct ops_report *report) {
    static const enum ggml_type types[] = {GGML_TYPE_F32, GGML_TYPE_F16, GGML_TYPE_Q4_0, GGML_TYPE_Q6_K};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        flat_in_k(world, report, types[i]);
    }
}

// Both sides against double precision: where the CPU itself is wrong, agreeing with it proves nothing, and is not
// asked.
static void cpu_too(const struct ops_world *world, struct ops_report *report, enum ggml_type type) {
    const double limit = 5e-4; // what test-backend-ops allows a backend against the CPU
    enum { M = 45, N = 33, K = 512 };
    struct stage stage;
    if (stage_open(&stage, world, report, "fault-29-cpu")) {
        struct ggml_tensor *y = product(&stage, weights(&stage, type, K, M), columns(&stage, K, N));
        static float ours[M * N];
        if (stage_check(&stage)) {
            memcpy(ours, y->data, sizeof ours);
            ops_scene_compute_cpu(&stage.scene);
            double cpu = ops_reference_nmse(world, y), apart = nmse_of(ours, y->data, M * N);
            if (!(cpu <= limit)) {
                printf("     the CPU is wrong for %s: NMSE %.3g\n", ggml_type_name(type), cpu);
            } else if (!(apart <= limit)) {
                ops_fail(report, "%s: NMSE %.3g against the CPU, whose own is %.3g", ggml_type_name(type), apart, cpu);
            }
        }
    }
    ops_scene_close(&stage.scene);
}

static void cpu_too_all(const struct ops_world *world, struct ops_report *report) {
    static const enum ggml_type types[] = {GGML_TYPE_F32,  GGML_TYPE_F16,    GGML_TYPE_BF16,   GGML_TYPE_Q4_0,
                                           GGML_TYPE_Q4_1, GGML_TYPE_Q5_0,   GGML_TYPE_Q5_1,   GGML_TYPE_Q8_0,
                                           GGML_TYPE_Q2_K, GGML_TYPE_Q3_K,   GGML_TYPE_Q4_K,   GGML_TYPE_Q5_K,
                                           GGML_TYPE_Q6_K, GGML_TYPE_IQ4_NL, GGML_TYPE_IQ4_XS, GGML_TYPE_MXFP4};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        cpu_too(world, report, types[i]);
    }
}

// Two backends on one device, in turn: each has its own graph, both share device and scratch memory.
static void two_backends(const struct ops_world *world, struct ops_report *report) {
    struct stage first, second;
    bool good = stage_open(&first, world, report, "two-backends-first");
    good = stage_open(&second, world, report, "two-backends-second") && good;
    if (good) {
        product(&first, weights(&first, GGML_TYPE_Q4_0, 256, 60), columns(&first, 256, 33));
        product(&second, weights(&second, GGML_TYPE_Q6_K, 512, 70), columns(&second, 512, 65));
        good = stage_check(&first) && stage_check(&second);
        for (int round = 0; good && round < 5; round++) {
            good = ops_scene_compute(&first.scene, 1) && ops_scene_compute(&second.scene, 1) &&
                   ops_scene_check(&first.scene) && ops_scene_check(&second.scene);
        }
    }
    ops_scene_close(&first.scene);
    ops_scene_close(&second.scene);
}

const struct ops_graph_case ops_graph_cases[] = {
    {"shared-columns", shared_columns},
    {"dependent-products", dependent_products},
    {"address-reuse", address_reuse},
    {"computed-weights", computed_weights},
    {"attention-scores", attention_scores},
    {"rewritten-weights", rewritten_weights},
    {"rewritten-columns", rewritten_columns},
    {"rewritten-ids", rewritten_ids},
    {"routed-chain", routed_chain},
    {"zero-sizes", zero_sizes},
    {"nonfinite", nonfinite_plain},
    {"nonfinite-routed", nonfinite_routed},
    {"two-backends", two_backends},
    {"many-inputs", many_inputs},
    {"long-chain", long_chain},
    {"fault-20-no-ops", no_ops},
    {"fault-20-scheduler", scheduler},
    {"fault-29-cpu-against-double", cpu_too_all},
    {"fault-02-flat-in-k", flat_in_k_all},
};

const size_t ops_graph_case_count = sizeof ops_graph_cases / sizeof ops_graph_cases[0];
