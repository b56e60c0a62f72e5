// SPDX-License-Identifier: MIT
#include "matmul.h"

#include <string.h>

#include "matmul_parts.h"

static int64_t min64(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static bool positive(const struct rf_matrix *matrix) {
    return matrix->ne[0] > 0 && matrix->ne[1] > 0 && matrix->ne[2] > 0 && matrix->ne[3] > 0;
}

// Rows of integers must lie whole, floats may have any stride that is a multiple of their size; kernels load quantised
// blocks two bytes at a time unless the block's size is odd.
static bool strides_possible(const struct rf_matrix *matrix) {
    const struct rf_format_info *format = rf_format_info(matrix->format);
    size_t unit = format->is_float ? format->block_bytes : format->block_bytes % 2 == 0 ? 2 : 1;
    for (int i = format->is_float ? 0 : 1; i < 4; i++)
        if (matrix->nb[i] % unit != 0)
            return false;
    return format->is_float || (matrix->nb[0] == format->block_bytes && matrix->ne[0] % format->block_elems == 0);
}

static bool contiguous(const struct rf_matrix *matrix) {
    size_t expected = sizeof(float);
    for (int i = 0; i < 4; i++) {
        if (matrix->nb[i] != expected && matrix->ne[i] != 1)
            return false;
        expected *= (size_t)matrix->ne[i];
    }
    return true;
}

static bool shapes_agree(const struct rf_product *p) {
    const struct rf_matrix *a = &p->weights, *b = &p->activations, *c = &p->result;
    if (!positive(a) || !positive(b) || !positive(c) || a->ne[0] != b->ne[0] || c->ne[0] != a->ne[1])
        return false;
    if (p->routed)
        return a->ne[3] == 1 && b->ne[3] == 1 && c->ne[3] == 1 && b->ne[2] == p->routing.tokens &&
               c->ne[1] == p->routing.slots && c->ne[2] == p->routing.tokens &&
               (b->ne[1] == 1 || b->ne[1] == p->routing.slots);
    return b->ne[2] % a->ne[2] == 0 && b->ne[3] % a->ne[3] == 0 && c->ne[1] == b->ne[1] && c->ne[2] == b->ne[2] &&
           c->ne[3] == b->ne[3];
}

// The pieces of a product for a device on which each operand is reached in place or by staging.
static bool choose_split(const struct rf_matmul *m, const struct rf_caps *caps, const bool in_place[3],
                         struct rf_split *split) {
    struct rf_split_needs needs = rf_matmul_needs(m, caps);
    uint64_t binding = caps->max_range_bytes - 2 * caps->offset_alignment;
    uint64_t staged = RF_STAGING_LIMIT / 4 < binding ? RF_STAGING_LIMIT / 4 : binding;
    needs.weights_limit = in_place[0] ? binding : staged;
    needs.activations_limit = in_place[1] ? binding : staged;
    needs.result_limit = in_place[2] ? binding : staged;
    if (m->product->routed) {
        // All activations and all result columns stay reachable from one binding; only rows and slots are cut.
        needs.panels = needs.matrices = needs.columns = 1;
        needs.activations_last = rf_matrix_span(&m->product->activations);
        needs.result_column = 0;
        if (rf_matrix_span(&m->product->result) > needs.result_limit)
            return false;
    }
    return rf_split_choose(&needs, split);
}

bool rf_matmul_possible(const struct rf_caps *caps, const struct rf_product *product) {
    const struct rf_matrix *a = &product->weights, *b = &product->activations;
    if (!shapes_agree(product) || !strides_possible(a) || !strides_possible(b) || !contiguous(&product->result) ||
        product->result.format != RF_FORMAT_F32 || (b->format != RF_FORMAT_F32 && b->format != RF_FORMAT_F16))
        return false;
    if (b->ne[2] > caps->max_groups[2] ||
        (product->routed && product->routing.slots * product->routing.tokens > 1 << 24))
        return false;
    // The worst case: fp32 takes the most scratch memory, staging has the smallest limits.
    struct rf_matmul m = rf_matmul_shape(caps, RF_PATH_FP32, RF_PATH_FP32, product, false);
    const bool nowhere[3] = {false, false, false};
    struct rf_split split;
    return choose_split(&m, caps, nowhere, &split);
}

// A part of a product: outer matrix i3, activation matrices [first, first + panels * ratio), columns and rows.
struct piece {
    int64_t i3, first_panel, panels, first_matrix, ratio;
    int64_t first_column, columns, first_row, rows;
};

static struct rf_matrix sub_matrix(const struct rf_matrix *whole, int64_t row, int64_t rows, int64_t matrix,
                                   int64_t matrices, int64_t outer) {
    struct rf_matrix part = *whole;
    part.data = (const char *)whole->data + (uint64_t)row * whole->nb[1] + (uint64_t)matrix * whole->nb[2] +
                (uint64_t)outer * whole->nb[3];
    part.ne[1] = rows;
    part.ne[2] = matrices;
    part.ne[3] = 1;
    return part;
}

static struct rf_columns *find_columns(struct rf_plan *plan, const struct rf_columns_key *key) {
    for (size_t i = 0; i < plan->kept_count; i++)
        if (memcmp(&plan->kept[i].key, key, sizeof *key) == 0)
            return &plan->kept[i];
    return NULL;
}

static struct rf_columns_key columns_key(const struct rf_matmul *m, const struct rf_matrix *part) {
    struct rf_columns_key key;
    memset(&key, 0, sizeof key);
    key.data = part->data;
    memcpy(key.ne, part->ne, sizeof key.ne);
    memcpy(key.nb, part->nb, sizeof key.nb);
    key.count = part->ne[1];
    key.path = m->path;
    return key;
}

// The piece's columns: those of an earlier product of this graph, or new ones.
static struct rf_columns *piece_columns(struct rf_device *device, const struct rf_matmul *m,
                                        const struct rf_matrix *part, struct rf_columns *fresh) {
    struct rf_plan *plan = device->plan;
    struct rf_columns_key key = columns_key(m, part);
    // What this graph computes may lie where other activations lay before: an address tells nothing then.
    bool computed = rf_plan_pending(device, part);
    struct rf_columns *found = computed ? NULL : find_columns(plan, &key);
    if (found != NULL)
        return found;
    struct rf_operand source;
    fresh->key = key;
    if (!rf_plan_input(device, part, false, &source) ||
        !rf_matmul_columns(device, m, &source, part->ne[1], part->ne[2], NULL, fresh))
        return NULL;
    if (!computed && plan->kept_count < RF_COLUMNS_KEPT)
        plan->kept[plan->kept_count++] = *fresh;
    return fresh;
}

static bool plan_piece(struct rf_device *device, const struct rf_matmul *m, const struct piece *p) {
    const struct rf_product *product = m->product;
    int64_t outer_ratio = product->activations.ne[3] / product->weights.ne[3];
    int64_t matrices = p->panels * p->ratio;
    struct rf_matrix weights =
        sub_matrix(&product->weights, p->first_row, p->rows, p->first_panel, p->panels, p->i3 / outer_ratio);
    struct rf_matrix activations =
        sub_matrix(&product->activations, p->first_column, p->columns, p->first_matrix, matrices, p->i3);
    struct rf_matrix result =
        sub_matrix(&product->result, p->first_column, p->columns, p->first_matrix, matrices, p->i3);
    result.data = (const char *)result.data + (uint64_t)p->first_row * sizeof(float);
    result.ne[0] = p->rows;

    bool flushed;
    if (!rf_plan_prepare(device, &weights, m->constant) || !rf_plan_prepare(device, &activations, false) ||
        !rf_plan_room(
            device, rf_matmul_panel_bytes(m, p->rows, p->panels), rf_matmul_columns_bytes(m, p->columns, matrices),
            rf_plan_staging_bytes(device, &weights, m->constant) + rf_plan_staging_bytes(device, &activations, false) +
                rf_plan_staging_bytes(device, &result, false),
            &flushed))
        return false;
    struct rf_columns fresh;
    struct rf_columns *columns = piece_columns(device, m, &activations, &fresh);
    struct rf_operand source;
    struct rf_panel panel;
    if (columns == NULL || !rf_plan_input(device, &weights, m->constant, &source) ||
        !rf_matmul_panel(device, m, &source, p->rows, p->panels, &panel))
        return false;
    struct rf_tile_use use = {.panel = &panel,
                              .columns = columns,
                              .end_column = p->columns,
                              .padded_columns = (p->columns + 15) / 16 * 16,
                              .matrices = matrices,
                              .ratio = p->ratio};
    return rf_plan_output(device, &result, &use.result) && rf_matmul_tiles(device, m, &use, true);
}

// Columns and rows of one group of matrices. Rows run innermost: they share the columns.
static bool plan_group(struct rf_device *device, const struct rf_matmul *m, const struct rf_split *split,
                       struct piece *p) {
    int64_t all_columns = m->product->activations.ne[1], all_rows = m->product->weights.ne[1];
    for (p->first_column = 0; p->first_column < all_columns; p->first_column += split->columns) {
        p->columns = min64(split->columns, all_columns - p->first_column);
        for (p->first_row = 0; p->first_row < all_rows; p->first_row += split->rows) {
            p->rows = min64(split->rows, all_rows - p->first_row);
            if (!plan_piece(device, m, p))
                return false;
        }
    }
    return true;
}

static bool plan_outer(struct rf_device *device, const struct rf_matmul *m, const struct rf_split *split, int64_t i3) {
    int64_t all_panels = m->product->weights.ne[2], all_ratio = m->product->activations.ne[2] / all_panels;
    for (int64_t panel = 0; panel < all_panels; panel += split->panels)
        for (int64_t matrix = 0; matrix < all_ratio; matrix += split->matrices) {
            struct piece p = {.i3 = i3,
                              .first_panel = panel,
                              .panels = min64(split->panels, all_panels - panel),
                              .first_matrix = panel * all_ratio + matrix,
                              .ratio = min64(split->matrices, all_ratio - matrix)};
            if (!plan_group(device, m, split, &p))
                return false;
        }
    return true;
}

bool rf_matmul_plan(struct rf_device *device, const struct rf_product *product, bool constant) {
    struct rf_matmul m = rf_matmul_shape(&device->caps, device->quantised_path, device->half_path, product, constant);
    const bool in_place[3] = {rf_plan_in_place(device, &product->weights, constant),
                              rf_plan_in_place(device, &product->activations, false),
                              rf_plan_in_place(device, &product->result, false)};
    struct rf_split split;
    if (!choose_split(&m, &device->caps, in_place, &split))
        return false;
    if (product->routed)
        return rf_matmul_plan_routed(device, &m, &split);
    for (int64_t i3 = 0; i3 < product->activations.ne[3]; i3++)
        if (!plan_outer(device, &m, &split, i3))
            return false;
    return true;
}
