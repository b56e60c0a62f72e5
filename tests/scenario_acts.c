// SPDX-License-Identifier: MIT
#include "scenario.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

int rf_act_devices(const struct rf_scenario_options *options) {
    bool loaded = rf_scene_library_load(options->library);
    ggml_backend_dev_t device = rf_scene_device_find();
    return loaded && device != NULL ? RF_SCENARIO_RIGHT : RF_SCENARIO_NO_DEVICE;
}

// Whether the device would take the product now: a failed one must say so.
static void supports_print(ggml_backend_dev_t device, const struct rf_scene_product *p) {
    struct ggml_context *c =
        device != NULL ? ggml_init((struct ggml_init_params){.mem_size = 4096, .no_alloc = true}) : NULL;
    if (c == NULL)
        return;
    struct ggml_tensor *columns = ggml_new_tensor_2d(c, GGML_TYPE_F32, p->k, 512);
    bool supported = p->experts == 0 && ggml_backend_dev_supports_op(device, ggml_mul_mat(c, p->weights, columns));
    printf("supports product=%d\n", supported);
    ggml_free(c);
}

// `repeat` graphs on `device`, or on the CPU alone when it is NULL.
static bool products_run(const struct rf_scenario_options *options, ggml_backend_dev_t device) {
    struct rf_scene scene;
    struct rf_scene_product product;
    if (!rf_scene_open(&scene, device, options->cpu_threads))
        return false;
    bool right = rf_scene_product_make(&product, options, rf_scene_buffer_type(&scene));
    if (right) {
        for (int64_t i = 1; i <= options->repeat; i++) {
            struct rf_scene_result result = rf_scene_product_run(&scene, &product, options->n, (uint32_t)i);
            right = rf_scene_result_print(&result, i) && right;
        }
        supports_print(device, &product);
        rf_scene_product_free(&product);
    }
    rf_scene_close(&scene);
    return right;
}

// Without a device the CPU computes: the host program must be able to go on.
static int finish(bool right, bool device) {
    return !right ? RF_SCENARIO_WRONG : device ? RF_SCENARIO_RIGHT : RF_SCENARIO_NO_DEVICE;
}

int rf_act_product(const struct rf_scenario_options *options) {
    rf_scene_library_load(options->library);
    ggml_backend_dev_t device = rf_scene_device_find();
    return finish(products_run(options, device), device != NULL);
}

int rf_act_grow(const struct rf_scenario_options *options) {
    rf_scene_library_load(options->library);
    ggml_backend_dev_t device = rf_scene_device_find();
    struct rf_scene scene;
    struct rf_scene_product product;
    if (!rf_scene_open(&scene, device, options->cpu_threads))
        return RF_SCENARIO_WRONG;
    bool right = rf_scene_product_make(&product, options, rf_scene_buffer_type(&scene));
    for (int64_t i = 1; right && i <= options->repeat; i++) {
        // Every third batch is small: what was reallocated for a large one must not be missed by it.
        int64_t n = i % 3 == 0 ? 33 : options->n * i / options->repeat + 32;
        struct rf_scene_result result = rf_scene_product_run(&scene, &product, n, (uint32_t)i);
        right = rf_scene_result_print(&result, i) && right;
    }
    rf_scene_product_free(&product);
    rf_scene_close(&scene);
    return finish(right, device != NULL);
}

// A product of the given shape straight through the device's interface, which ggml's allocator does not let a graph
// with empty tensors reach. Its result, if any, is zeros.
static bool empty_run(struct rf_scene *scene, const int64_t shape[4]) {
    struct ggml_context *c = ggml_init(
        (struct ggml_init_params){.mem_size = 16 * ggml_tensor_overhead() + ggml_graph_overhead(), .no_alloc = true});
    struct ggml_tensor *weights = ggml_new_tensor_3d(c, GGML_TYPE_F16, shape[2], shape[0], shape[3] > 0 ? shape[3] : 1);
    struct ggml_tensor *columns = shape[3] > 0 ? ggml_new_tensor_3d(c, GGML_TYPE_F32, shape[2], 1, shape[1])
                                               : ggml_new_tensor_2d(c, GGML_TYPE_F32, shape[2], shape[1]);
    struct ggml_tensor *experts = ggml_new_tensor_2d(c, GGML_TYPE_I32, shape[3] > 0 ? 1 : 0, shape[1]);
    struct ggml_tensor *product =
        shape[3] > 0 ? ggml_mul_mat_id(c, weights, columns, experts) : ggml_mul_mat(c, weights, columns);
    struct ggml_cgraph *nodes = ggml_new_graph(c);
    ggml_build_forward_expand(nodes, product);
    ggml_backend_buffer_t buffer = ggml_backend_alloc_ctx_tensors_from_buft(c, rf_scene_buffer_type(scene));
    if (buffer != NULL)
        ggml_backend_buffer_clear(buffer, 0);
    bool claimed = ggml_backend_supports_op(scene->backends[0], product);
    bool computed = !claimed || ggml_backend_graph_compute(scene->backends[0], nodes) == GGML_STATUS_SUCCESS;
    printf("empty m=%d n=%d k=%d experts=%d claimed=%d computed=%d\n", (int)shape[0], (int)shape[1], (int)shape[2],
           (int)shape[3], claimed, computed);
    ggml_backend_buffer_free(buffer);
    ggml_free(c);
    return computed;
}

// A 0 in each place in turn, a buffer of 0 bytes, then an ordinary product: nothing may be left in disorder.
int rf_act_zero(const struct rf_scenario_options *options) {
    rf_scene_library_load(options->library);
    ggml_backend_dev_t device = rf_scene_device_find();
    const int64_t shapes[][4] = {{64, 0, 256, 0}, {0, 64, 256, 0}, {0, 0, 256, 0}, {64, 0, 256, 4}, {0, 64, 256, 4}};
    struct rf_scene scene;
    bool right = rf_scene_open(&scene, device, options->cpu_threads);
    for (size_t i = 0; right && i < sizeof shapes / sizeof shapes[0]; i++)
        right = empty_run(&scene, shapes[i]);
    if (right) {
        ggml_backend_buffer_t buffer = ggml_backend_buft_alloc_buffer(rf_scene_buffer_type(&scene), 0);
        printf("buffer bytes=0 allocated=%d\n", buffer != NULL);
        ggml_backend_buffer_free(buffer);
    }
    rf_scene_close(&scene);
    right = right && products_run(options, device);
    return finish(right, device != NULL);
}

struct worker {
    pthread_t thread;
    const struct rf_scenario_options *options;
    ggml_backend_dev_t device;
    uint32_t seed;
    bool right;
};

static void *worker_run(void *argument) {
    struct worker *worker = argument;
    struct rf_scenario_options own = *worker->options;
    // Every thread has another shape, so that arenas grow while others compute.
    own.m += 16 * worker->seed;
    struct rf_scene scene;
    struct rf_scene_product product;
    if (!rf_scene_open(&scene, worker->device, own.cpu_threads))
        return NULL;
    worker->right = rf_scene_product_make(&product, &own, rf_scene_buffer_type(&scene));
    for (int64_t i = 0; worker->right && i < own.repeat; i++)
        worker->right = rf_scene_product_run(&scene, &product, own.n + i, worker->seed * 1000 + (uint32_t)i).right;
    rf_scene_product_free(&product);
    rf_scene_close(&scene);
    return NULL;
}

int rf_act_threads(const struct rf_scenario_options *options) {
    rf_scene_library_load(options->library);
    ggml_backend_dev_t device = rf_scene_device_find();
    struct worker *workers = calloc((size_t)options->threads + 1, sizeof *workers);
    bool right = workers != NULL;
    int64_t started = 0;
    for (; right && started < options->threads; started++) {
        workers[started] = (struct worker){.options = options, .device = device, .seed = (uint32_t)started + 1};
        if (pthread_create(&workers[started].thread, NULL, worker_run, &workers[started]) != 0) {
            fprintf(stderr, "error: no thread\n");
            right = false;
            break;
        }
    }
    for (int64_t i = 0; i < started; i++) {
        pthread_join(workers[i].thread, NULL);
        printf("thread index=%lld right=%d\n", (long long)i, workers[i].right);
        right = workers[i].right && right;
    }
    free(workers);
    return finish(right, device != NULL);
}

int rf_act_reload(const struct rf_scenario_options *options) {
    bool right = true, found = true;
    for (int round = 1; round <= 3; round++) {
        rf_scene_library_load(options->library);
        ggml_backend_dev_t device = rf_scene_device_find();
        found = found && device != NULL;
        right = products_run(options, device) && right;
        ggml_backend_reg_t registry = ggml_backend_reg_by_name("ROCKFILL");
        if (registry != NULL)
            ggml_backend_unload(registry);
        printf("unloaded round=%d left=%d\n", round, ggml_backend_reg_by_name("ROCKFILL") != NULL);
    }
    // With the plug-in gone the CPU still works.
    right = products_run(options, NULL) && right;
    return finish(right, found);
}
