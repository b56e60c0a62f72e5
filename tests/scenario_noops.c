// SPDX-License-Identifier: MIT
#include "scenario.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { HEAD = 64, HEADS = 4, WIDTH = HEAD * HEADS, CELLS = 128, TOKENS = 48, FIRST = 20 };

// Two caches in the device's memory, written the older way (CPY into a view) and the newer (SET_ROWS), and read by a
// product through reshaped and permuted views.
struct caches {
    struct ggml_context *tensors;
    ggml_backend_buffer_t buffer;
    struct ggml_tensor *copied, *rows;
};

struct graph {
    struct ggml_context *tensors;
    struct ggml_cgraph *nodes;
    struct ggml_tensor *keys, *queries, *indices, *scores, *transposed;
};

static bool caches_make(struct caches *caches, ggml_backend_buffer_type_t type) {
    caches->tensors = ggml_init((struct ggml_init_params){.mem_size = 4 * ggml_tensor_overhead(), .no_alloc = true});
    caches->copied = ggml_new_tensor_2d(caches->tensors, GGML_TYPE_F16, WIDTH, CELLS);
    caches->rows = ggml_new_tensor_2d(caches->tensors, GGML_TYPE_F16, WIDTH, CELLS);
    caches->buffer = ggml_backend_alloc_ctx_tensors_from_buft(caches->tensors, type);
    if (caches->buffer != NULL)
        ggml_backend_buffer_clear(caches->buffer, 0);
    return caches->buffer != NULL;
}

static struct graph graph_build(const struct caches *caches) {
    struct graph g = {.tensors = ggml_init((struct ggml_init_params){
                          .mem_size = 64 * ggml_tensor_overhead() + ggml_graph_overhead(), .no_alloc = true})};
    struct ggml_context *c = g.tensors;
    g.nodes = ggml_new_graph(c);
    g.keys = ggml_new_tensor_2d(c, GGML_TYPE_F32, WIDTH, TOKENS);
    g.queries = ggml_new_tensor_3d(c, GGML_TYPE_F32, HEAD, HEADS, TOKENS);
    g.indices = ggml_new_tensor_1d(c, GGML_TYPE_I64, TOKENS);
    ggml_set_input(g.keys);
    ggml_set_input(g.queries);
    ggml_set_input(g.indices);
    struct ggml_tensor *part =
        ggml_view_2d(c, caches->copied, WIDTH, TOKENS, caches->copied->nb[1], FIRST * caches->copied->nb[1]);
    ggml_build_forward_expand(g.nodes, ggml_cpy(c, g.keys, part));
    ggml_build_forward_expand(g.nodes, ggml_set_rows(c, caches->rows, g.keys, g.indices));
    struct ggml_tensor *keys = ggml_permute(c, ggml_reshape_3d(c, caches->rows, HEAD, HEADS, CELLS), 0, 2, 1, 3);
    struct ggml_tensor *queries = ggml_permute(c, g.queries, 0, 2, 1, 3);
    g.scores = ggml_mul_mat(c, keys, queries); // [HEADS][TOKENS][CELLS]
    ggml_set_output(g.scores);
    ggml_build_forward_expand(g.nodes, g.scores);
    // What only changes the shape of a product's result, and a leaf that nothing computes.
    struct ggml_tensor *flat = ggml_transpose(c, ggml_view_2d(c, g.scores, CELLS, TOKENS, g.scores->nb[1], 0));
    g.transposed = ggml_cont(c, flat); // [CELLS][TOKENS] of head 0
    ggml_set_output(g.transposed);
    ggml_build_forward_expand(g.nodes, g.transposed);
    return g;
}

// Small whole numbers and halves, exact in f16. A score is a sum of multiples of 0.5: half of that tells right from
// wrong on a path that scales and rounds activations to f16, too.
#define SCORE_TOLERANCE 0.25

static float key(int64_t token, int64_t i) {
    return (float)((token * 7 + i * 3) % 9 - 4) * 0.5f;
}

static float query(int64_t token, int64_t i) {
    return (float)((token * 5 + i) % 7 - 3);
}

static void inputs_set(const struct graph *g) {
    static float keys[WIDTH * TOKENS], queries[WIDTH * TOKENS];
    static int64_t indices[TOKENS];
    for (int64_t t = 0; t < TOKENS; t++) {
        indices[t] = (t * 37 + 5) % CELLS;
        for (int64_t i = 0; i < WIDTH; i++) {
            keys[t * WIDTH + i] = key(t, i);
            queries[t * WIDTH + i] = query(t, i);
        }
    }
    ggml_backend_tensor_set(g->keys, keys, 0, sizeof keys);
    ggml_backend_tensor_set(g->queries, queries, 0, sizeof queries);
    ggml_backend_tensor_set(g->indices, indices, 0, sizeof indices);
}

static int64_t token_of_cell(int64_t cell) {
    for (int64_t t = 0; t < TOKENS; t++)
        if ((t * 37 + 5) % CELLS == cell)
            return t;
    return -1;
}

static bool cache_right(struct ggml_tensor *cache, bool by_rows) {
    static ggml_fp16_t values[WIDTH * CELLS];
    ggml_backend_tensor_get(cache, values, 0, sizeof values);
    int64_t wrong = 0;
    for (int64_t cell = 0; cell < CELLS; cell++) {
        int64_t token = by_rows ? token_of_cell(cell) : cell - FIRST;
        for (int64_t i = 0; i < WIDTH; i++) {
            float expected = token >= 0 && token < TOKENS ? key(token, i) : 0.0f;
            wrong += ggml_fp16_to_fp32(values[cell * WIDTH + i]) != expected;
        }
    }
    return wrong == 0;
}

static double score(int64_t head, int64_t token, int64_t cell) {
    int64_t key_token = token_of_cell(cell);
    double sum = 0;
    for (int64_t i = 0; key_token >= 0 && i < HEAD; i++)
        sum += (double)key(key_token, head * HEAD + i) * query(token, head * HEAD + i);
    return sum;
}

static bool scores_right(const struct graph *g) {
    static float scores[HEADS * TOKENS * CELLS], transposed[CELLS * TOKENS];
    ggml_backend_tensor_get(g->scores, scores, 0, sizeof scores);
    ggml_backend_tensor_get(g->transposed, transposed, 0, sizeof transposed);
    int64_t wrong = 0;
    for (int64_t head = 0; head < HEADS; head++)
        for (int64_t token = 0; token < TOKENS; token++)
            for (int64_t cell = 0; cell < CELLS; cell++) {
                double expected = score(head, token, cell);
                wrong += !(fabs(scores[(head * TOKENS + token) * CELLS + cell] - expected) <= SCORE_TOLERANCE);
                wrong += head == 0 && !(fabs(transposed[cell * TOKENS + token] - expected) <= SCORE_TOLERANCE);
            }
    return wrong == 0;
}

static bool caches_run(struct rf_scene *scene, struct caches *caches) {
    struct graph g = graph_build(caches);
    ggml_backend_sched_reset(scene->sched);
    // In a model the layer's other products draw this one to the device.
    ggml_backend_sched_set_tensor_backend(scene->sched, g.scores, scene->backends[0]);
    bool computed = ggml_backend_sched_alloc_graph(scene->sched, g.nodes);
    if (computed) {
        inputs_set(&g);
        printf("compute backend=%s", ggml_backend_name(ggml_backend_sched_get_tensor_backend(scene->sched, g.scores)));
        computed = ggml_backend_sched_graph_compute(scene->sched, g.nodes) == GGML_STATUS_SUCCESS;
    }
    bool copied = computed && cache_right(caches->copied, false), rows = computed && cache_right(caches->rows, true),
         scores = computed && scores_right(&g);
    printf(" computed=%d copied=%d rows=%d scores=%d\n", computed, copied, rows, scores);
    ggml_free(g.tensors);
    return copied && rows && scores;
}

int rf_act_noops(const struct rf_scenario_options *options) {
    rf_scene_library_load(options->library);
    ggml_backend_dev_t device = rf_scene_device_find();
    struct rf_scene scene;
    struct caches caches = {0};
    if (!rf_scene_open(&scene, device, options->cpu_threads))
        return RF_SCENARIO_WRONG;
    bool right = caches_make(&caches, rf_scene_buffer_type(&scene));
    for (int64_t i = 0; right && i < options->repeat; i++)
        right = caches_run(&scene, &caches);
    ggml_backend_buffer_free(caches.buffer);
    ggml_free(caches.tensors);
    rf_scene_close(&scene);
    return !right ? RF_SCENARIO_WRONG : device != NULL ? RF_SCENARIO_RIGHT : RF_SCENARIO_NO_DEVICE;
}
