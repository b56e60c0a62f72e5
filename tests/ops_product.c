// SPDX-License-Identifier: MIT
#include "ops.h"

static void axes_of(enum rf_case_order order, int axes[4]) {
    static const int orders[][4] = {{0, 1, 2, 3}, {0, 2, 1, 3}, {0, 1, 3, 2}, {1, 0, 2, 3}};
    for (int i = 0; i < 4; i++) {
        axes[i] = orders[order][i];
    }
}

// A tensor of shape `ne` whose memory has another order of dimensions, or rows with padding behind them. All orders
// swap two dimensions, so that each is its own inverse.
static struct ggml_tensor *operand_make(struct ggml_context *context, enum ggml_type type, const int64_t ne[4],
                                        int64_t padding, enum rf_case_order order, const char *name) {
    int axes[4];
    axes_of(order, axes);
    struct ggml_tensor *tensor =
        ggml_new_tensor_4d(context, type, ne[axes[0]] + padding, ne[axes[1]], ne[axes[2]], ne[axes[3]]);
    ggml_set_name(tensor, name);
    if (padding > 0) {
        tensor = ggml_view_4d(context, tensor, ne[0], tensor->ne[1], tensor->ne[2], tensor->ne[3], tensor->nb[1],
                              tensor->nb[2], tensor->nb[3], 0);
    }
    return order == RF_ORDER_0123 ? tensor : ggml_permute(context, tensor, axes[0], axes[1], axes[2], axes[3]);
}

static enum ggml_type type_by_name(const char *name) {
    for (int i = 0; i < GGML_TYPE_COUNT; i++) {
        const char *candidate = ggml_type_name((enum ggml_type)i);
        for (int j = 0; candidate != NULL && candidate[j] == name[j]; j++) {
            if (name[j] == '\0') {
                return (enum ggml_type)i;
            }
        }
    }
    return GGML_TYPE_COUNT;
}

static struct ggml_tensor *routed_make(struct ops_scene *scene, const struct rf_case *item, enum ggml_type type) {
    struct ggml_context *near = scene->contexts[item->foreign ? OPS_FOREIGN : OPS_COMPUTE];
    const int64_t weights_ne[4] = {item->k, item->m, item->experts, 1};
    const int64_t columns_ne[4] = {item->k, item->shared_slots ? 1 : item->used, item->n, 1};
    struct ggml_tensor *weights =
        operand_make(scene->contexts[OPS_WEIGHTS], type, weights_ne, item->row_padding, item->weights_order, "weights");
    struct ggml_tensor *columns = operand_make(near, item->activations_f16 ? GGML_TYPE_F16 : GGML_TYPE_F32, columns_ne,
                                               item->column_padding, item->columns_order, "columns");
    // As llama.cpp has them: the first few of all experts, sorted.
    struct ggml_tensor *all = ggml_new_tensor_2d(near, GGML_TYPE_I32, item->experts, item->n);
    struct ggml_tensor *ids = ggml_view_2d(near, all, item->used, item->n, all->nb[1], 0);
    ggml_set_name(all, "ids");
    return ggml_mul_mat_id(scene->contexts[OPS_COMPUTE], weights, columns, ids);
}

static struct ggml_tensor *plain_make(struct ops_scene *scene, const struct rf_case *item, enum ggml_type type) {
    struct ggml_context *near = scene->contexts[item->foreign ? OPS_FOREIGN : OPS_COMPUTE];
    const int64_t weights_ne[4] = {item->k, item->m, item->matrices, item->outer};
    const int64_t columns_ne[4] = {item->k, item->n, item->matrices * item->repeat, item->outer * item->outer_repeat};
    struct ggml_tensor *weights =
        operand_make(scene->contexts[OPS_WEIGHTS], type, weights_ne, item->row_padding, item->weights_order, "weights");
    struct ggml_tensor *columns = operand_make(near, item->activations_f16 ? GGML_TYPE_F16 : GGML_TYPE_F32, columns_ne,
                                               item->column_padding, item->columns_order, "columns");
    struct ggml_context *context = scene->contexts[OPS_COMPUTE];
    if (!ggml_is_transposed(weights)) {
        return ggml_mul_mat(context, weights, columns);
    }
    // ggml's constructor does not take transposed weights; a plain pair lends its shape.
    struct ggml_tensor *like = ggml_new_tensor(context, type, 4, weights_ne);
    struct ggml_tensor *node = ggml_mul_mat(context, like, columns);
    node->src[0] = weights;
    return node;
}

struct ggml_tensor *ops_product_build(struct ops_scene *scene, const struct rf_case *item) {
    enum ggml_type type = type_by_name(item->type);
    if (type == GGML_TYPE_COUNT) {
        ops_fail(scene->report, "this ggml has no type %s", item->type);
        return NULL;
    }
    struct ggml_tensor *node = item->experts > 0 ? routed_make(scene, item, type) : plain_make(scene, item, type);
    ggml_set_name(node, "result");
    if (item->strict) {
        ggml_prec_set_acc(node, GGML_PREC_F32);
    }
    if (item->wide) {
        ggml_prec_set_src(node, GGML_PREC_F32, 1);
    }
    ggml_build_forward_expand(scene->graph, node);
    return node;
}

void ops_product_fill(const struct ops_scene *scene, const struct ggml_tensor *node, const struct rf_case *item) {
    struct ops_random random = ops_random_of(scene->world, item->name);
    ops_fill(node->src[0], item->weights_fill, item->weights_value, &random);
    ops_fill(node->src[1], item->columns_fill, item->columns_value, &random);
    if (item->experts > 0) {
        ops_fill_ids(node->src[2], item->experts, &random);
    }
}

void ops_product_run(const struct ops_world *world, const struct rf_case *item, struct ops_report *report) {
    struct ops_scene scene;
    struct ggml_tensor *node = ops_scene_open(&scene, world, report) ? ops_product_build(&scene, item) : NULL;
    if (node != NULL && ops_scene_allocate(&scene) && ops_scene_supported(&scene, item->may_refuse)) {
        ops_product_fill(&scene, node, item);
        if (ops_scene_compute(&scene, item->runs)) {
            ops_scene_check(&scene);
        }
    }
    ops_scene_close(&scene);
}
