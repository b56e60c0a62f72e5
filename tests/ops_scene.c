// SPDX-License-Identifier: MIT
#include "ops.h"

#include <stdlib.h>
#include <string.h>

enum { TENSORS_MAX = 1024, GUARD_BYTES = 4096, POISON = 0xFF };

bool ops_is_product(const struct ggml_tensor *node) {
    return node->op == GGML_OP_MUL_MAT || node->op == GGML_OP_MUL_MAT_ID;
}

bool ops_scene_open(struct ops_scene *scene, const struct ops_world *world, struct ops_report *report) {
    *scene = (struct ops_scene){.world = world, .report = report};
    for (int i = 0; i < OPS_PLACES; i++) {
        scene->contexts[i] = ggml_init((struct ggml_init_params){
            .mem_size = TENSORS_MAX * ggml_tensor_overhead() + ggml_graph_overhead(), .no_alloc = true});
    }
    scene->graph = ggml_new_graph(scene->contexts[OPS_COMPUTE]);
    scene->backend = ggml_backend_dev_init(world->device, NULL);
    if (scene->backend == NULL) {
        ops_fail(report, "the device gives no backend");
    }
    return !report->failed;
}

void ops_scene_close(struct ops_scene *scene) {
    for (int i = 0; i < OPS_PLACES; i++) {
        ggml_backend_buffer_free(scene->buffers[i]);
        ggml_free(scene->contexts[i]);
        free(scene->snapshots[i]);
    }
    ggml_backend_free(scene->backend);
}

static ggml_backend_buffer_type_t place_type(const struct ops_scene *scene, int place) {
    return ggml_backend_dev_buffer_type(place == OPS_FOREIGN ? scene->world->cpu : scene->world->device);
}

// Bytes from a tensor's start to the next one's, with a guard between.
static size_t slot_bytes(ggml_backend_buffer_type_t type, const struct ggml_tensor *tensor) {
    size_t alignment = ggml_backend_buft_get_alignment(type);
    return (ggml_nbytes(tensor) + GUARD_BYTES + alignment - 1) / alignment * alignment;
}

static bool place_allocate(struct ops_scene *scene, int place) {
    struct ggml_context *context = scene->contexts[place];
    ggml_backend_buffer_type_t type = place_type(scene, place);
    size_t bytes = GUARD_BYTES;
    for (struct ggml_tensor *t = ggml_get_first_tensor(context); t != NULL; t = ggml_get_next_tensor(context, t)) {
        bytes += t->view_src == NULL ? slot_bytes(type, t) : 0;
    }
    if (bytes == GUARD_BYTES) {
        return true;
    }
    ggml_backend_buffer_t buffer = ggml_backend_buft_alloc_buffer(type, bytes);
    scene->buffers[place] = buffer;
    if (buffer == NULL) {
        ops_fail(scene->report, "no buffer of %zu bytes", bytes);
        return false;
    }
    ggml_backend_buffer_set_usage(buffer, place == OPS_WEIGHTS ? GGML_BACKEND_BUFFER_USAGE_WEIGHTS
                                                               : GGML_BACKEND_BUFFER_USAGE_COMPUTE);
    ggml_backend_buffer_clear(buffer, POISON);
    char *at = (char *)ggml_backend_buffer_get_base(buffer) + GUARD_BYTES;
    for (struct ggml_tensor *t = ggml_get_first_tensor(context); t != NULL; t = ggml_get_next_tensor(context, t)) {
        if (t->view_src == NULL) {
            ggml_backend_tensor_alloc(buffer, t, at);
            at += slot_bytes(type, t);
        }
    }
    return true;
}

bool ops_scene_allocate(struct ops_scene *scene) {
    for (int i = 0; i < OPS_PLACES && !scene->report->failed; i++) {
        place_allocate(scene, i);
    }
    // Views may look into another place, and come in the order in which they were made.
    for (int i = 0; i < OPS_PLACES && !scene->report->failed; i++) {
        struct ggml_context *context = scene->contexts[i];
        for (struct ggml_tensor *t = ggml_get_first_tensor(context); t != NULL; t = ggml_get_next_tensor(context, t)) {
            if (t->view_src != NULL) {
                ggml_backend_view_init(t);
            }
        }
    }
    return !scene->report->failed;
}

static void results_poison(struct ops_scene *scene) {
    for (int i = 0; i < ggml_graph_n_nodes(scene->graph); i++) {
        struct ggml_tensor *node = ggml_graph_node(scene->graph, i);
        if (ops_is_product(node) && ggml_nelements(node) > 0) {
            ggml_backend_tensor_memset(node, POISON, 0, ggml_nbytes(node));
        }
    }
}

static bool snapshots_take(struct ops_scene *scene) {
    for (int i = 0; i < OPS_PLACES; i++) {
        if (scene->buffers[i] == NULL) {
            continue;
        }
        size_t bytes = ggml_backend_buffer_get_size(scene->buffers[i]);
        free(scene->snapshots[i]);
        scene->snapshots[i] = malloc(bytes);
        if (scene->snapshots[i] == NULL) {
            ops_fail(scene->report, "no memory for a copy of %zu bytes", bytes);
            return false;
        }
        memcpy(scene->snapshots[i], ggml_backend_buffer_get_base(scene->buffers[i]), bytes);
    }
    return true;
}

// Accepts the products' results into the snapshots.
static void results_accept(struct ops_scene *scene) {
    for (int i = 0; i < ggml_graph_n_nodes(scene->graph); i++) {
        const struct ggml_tensor *node = ggml_graph_node(scene->graph, i);
        for (int place = 0; place < OPS_PLACES && ops_is_product(node); place++) {
            if (node->buffer != NULL && node->buffer == scene->buffers[place]) {
                const char *base = ggml_backend_buffer_get_base(node->buffer);
                memcpy(scene->snapshots[place] + ((const char *)node->data - base), node->data, ggml_nbytes(node));
            }
        }
    }
}

// The tensor that an address of a buffer belongs to, or that it lies behind.
static const char *tensor_near(const struct ops_scene *scene, int place, const char *address) {
    const char *name = "the first one";
    struct ggml_context *context = scene->contexts[place];
    for (struct ggml_tensor *t = ggml_get_first_tensor(context); t != NULL; t = ggml_get_next_tensor(context, t)) {
        if (t->view_src == NULL && (const char *)t->data <= address) {
            name = t->name[0] != '\0' ? t->name : ggml_op_name(t->op);
        }
    }
    return name;
}

static bool snapshots_compare(struct ops_scene *scene, const char *what) {
    for (int i = 0; i < OPS_PLACES; i++) {
        if (scene->buffers[i] == NULL) {
            continue;
        }
        const char *now = ggml_backend_buffer_get_base(scene->buffers[i]);
        size_t bytes = ggml_backend_buffer_get_size(scene->buffers[i]), at = 0;
        if (memcmp(now, scene->snapshots[i], bytes) == 0) {
            continue;
        }
        while (now[at] == scene->snapshots[i][at]) {
            at++;
        }
        ops_fail(scene->report, "%s: byte %zu of buffer %d, in or behind tensor %s", what, at, i,
                 tensor_near(scene, i, now + at));
        return false;
    }
    return true;
}

static bool compute_once(struct ops_scene *scene) {
    int before = ops_world_cpu_count();
    enum ggml_status status = ggml_backend_graph_compute(scene->backend, scene->graph);
    if (status != GGML_STATUS_SUCCESS) {
        ops_fail(scene->report, "the graph's status is %s", ggml_status_to_string(status));
    } else if (ops_world_cpu_count() != before) {
        ops_fail(scene->report, "the device left the graph to the CPU");
    }
    return !scene->report->failed;
}

bool ops_scene_compute(struct ops_scene *scene, int runs) {
    if (scene->report->failed) {
        return false;
    }
    results_poison(scene);
    if (!snapshots_take(scene) || !compute_once(scene)) {
        return false;
    }
    results_accept(scene);
    bool good = snapshots_compare(scene, "changed outside the results");
    int limit = scene->world->runs_limit < runs ? scene->world->runs_limit : runs;
    for (int i = 1; good && i < limit; i++) {
        results_poison(scene);
        good = compute_once(scene) && snapshots_compare(scene, "differs from the first run");
    }
    return good;
}

bool ops_scene_compute_cpu(struct ops_scene *scene) {
    if (scene->report->failed) {
        return false;
    }
    ggml_backend_t cpu = ggml_backend_dev_init(scene->world->cpu, NULL);
    results_poison(scene);
    bool good = cpu != NULL && ggml_backend_graph_compute(cpu, scene->graph) == GGML_STATUS_SUCCESS;
    ggml_backend_free(cpu);
    if (!good) {
        ops_fail(scene->report, "the CPU backend did not compute the graph");
    }
    return good;
}

bool ops_scene_supported(struct ops_scene *scene, bool may_refuse) {
    bool all = !scene->report->failed;
    for (int i = 0; all && i < ggml_graph_n_nodes(scene->graph); i++) {
        const struct ggml_tensor *node = ggml_graph_node(scene->graph, i);
        all = ggml_backend_dev_supports_op(scene->world->device, node);
        if (!all && may_refuse) {
            scene->report->refused = true;
        } else if (!all) {
            ops_fail(scene->report, "supports_op is false for %s", ggml_op_desc(node));
        }
    }
    return all;
}

bool ops_scene_check(struct ops_scene *scene) {
    for (int i = 0; i < ggml_graph_n_nodes(scene->graph) && !scene->report->failed; i++) {
        const struct ggml_tensor *node = ggml_graph_node(scene->graph, i);
        if (ops_is_product(node) && ggml_nelements(node) > 0) {
            ops_reference_check(scene->world, node, scene->report);
        }
    }
    return !scene->report->failed;
}
