// SPDX-License-Identifier: MIT
#include "scenario.h"

#include <stdio.h>

// Whether the device takes the product of these weights when they lie in memory of `type`: asked with an empty buffer,
// as llama.cpp does before it loads a model.
static bool placed(ggml_backend_dev_t device, const struct rf_scenario_options *options,
                   ggml_backend_buffer_type_t type) {
    struct ggml_context *c =
        ggml_init((struct ggml_init_params){.mem_size = 8 * ggml_tensor_overhead(), .no_alloc = true});
    ggml_backend_buffer_t empty = ggml_backend_buft_alloc_buffer(type, 0);
    bool taken = c != NULL && empty != NULL;
    if (taken) {
        bool routed = options->experts > 0;
        struct ggml_tensor *columns =
            ggml_new_tensor_3d(c, GGML_TYPE_F32, options->k, routed ? 1 : 512, routed ? 512 : 1);
        struct ggml_tensor *experts = ggml_new_tensor_2d(c, GGML_TYPE_I32, options->used, 512);
        struct ggml_tensor *weights =
            ggml_new_tensor_3d(c, options->type, options->k, options->m, routed ? options->experts : 1);
        weights->buffer = empty;
        taken = ggml_backend_dev_supports_op(device, routed ? ggml_mul_mat_id(c, weights, columns, experts)
                                                            : ggml_mul_mat(c, weights, columns));
    }
    if (empty != NULL)
        ggml_backend_buffer_free(empty);
    ggml_free(c);
    return taken;
}

// The first buffer type of the device that takes the weights: its default one, then its extra ones.
static ggml_backend_buffer_type_t type_choose(ggml_backend_dev_t device, const struct rf_scenario_options *options) {
    ggml_backend_dev_get_extra_bufts_t list = (ggml_backend_dev_get_extra_bufts_t)ggml_backend_reg_get_proc_address(
        ggml_backend_dev_backend_reg(device), "ggml_backend_dev_get_extra_bufts");
    ggml_backend_buffer_type_t *extra = list != NULL ? list(device) : NULL;
    if (placed(device, options, ggml_backend_dev_buffer_type(device)))
        return ggml_backend_dev_buffer_type(device);
    for (; extra != NULL && *extra != NULL; extra++)
        if (placed(device, options, *extra))
            return *extra;
    return NULL;
}

// Large batches and small ones in turn on weights that the device keeps as well for the CPU as for itself.
int rf_act_twice(const struct rf_scenario_options *options) {
    rf_scene_library_load(options->library);
    ggml_backend_dev_t device = rf_scene_device_find();
    ggml_backend_buffer_type_t type = device != NULL ? type_choose(device, options) : NULL;
    struct rf_scene scene;
    struct rf_scene_product product;
    if (type == NULL || !rf_scene_open(&scene, device, options->cpu_threads))
        return device == NULL ? RF_SCENARIO_NO_DEVICE : RF_SCENARIO_WRONG;
    bool right = rf_scene_product_make(&product, options, type);
    if (right) {
        printf("weights type=%s buffer=%s\n", ggml_backend_buft_name(type),
               ggml_backend_buft_name(ggml_backend_buffer_get_type(product.buffer)));
        const int64_t batches[] = {options->n, 1, 7, options->n, 1};
        for (size_t i = 0; i < sizeof batches / sizeof batches[0]; i++) {
            struct rf_scene_result result = rf_scene_product_run(&scene, &product, batches[i], (uint32_t)i + 1);
            right = rf_scene_result_print(&result, (int64_t)i + 1) && right;
        }
        rf_scene_product_free(&product);
    }
    rf_scene_close(&scene);
    return right ? RF_SCENARIO_RIGHT : RF_SCENARIO_WRONG;
}
