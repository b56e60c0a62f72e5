// SPDX-License-Identifier: MIT
#include "matmul_parts.h"

#include <string.h>

#define BLOCK 32
#define COLUMN_GROUP 16
// Producing a value in the arena, compared with one multiply-accumulate of a tile: loads, conversions and a store.
#define WORK_PER_VALUE 8.0

static int64_t ceil_div(int64_t value, int64_t by) {
    return (value + by - 1) / by;
}

static int64_t round_up(int64_t value, int64_t multiple) {
    return ceil_div(value, multiple) * multiple;
}

// F32 weights keep fp32 arithmetic: whoever stores them so wants the precision (routers, norms).
static enum rf_path choose_path(enum rf_path quantised_path, enum rf_path half_path, const struct rf_product *product) {
    enum rf_format format = product->weights.format;
    if (!rf_format_info(format)->is_float)
        return quantised_path;
    return format == RF_FORMAT_F32 || product->exact ? RF_PATH_FP32 : half_path;
}

struct rf_matmul rf_matmul_shape(const struct rf_caps *caps, enum rf_path quantised_path, enum rf_path half_path,
                                 const struct rf_product *product, bool constant) {
    const struct rf_format_info *format = rf_format_info(product->weights.format);
    struct rf_matmul m = {.product = product, .constant = constant};
    m.path = choose_path(quantised_path, half_path, product);
    struct rf_tile_query query = {.path = m.path,
                                  .subgroup_size = caps->subgroup_size,
                                  .max_invocations = caps->max_invocations,
                                  .software = caps->software,
                                  .rows = product->weights.ne[1],
                                  .columns = product->activations.ne[1]};
    if (product->routed) // columns of one expert, on average
        query.columns = product->routing.slots * product->routing.tokens / product->weights.ne[2];
    m.tile = rf_tile_choose(&query);
    m.granules = m.path == RF_PATH_FP32 ? 0 : format->granules;
    m.has_min = m.path != RF_PATH_FP32 && format->has_min;
    m.blocks = ceil_div(product->weights.ne[0], BLOCK);
    uint64_t block_bytes = rf_tile_block_bytes(m.path);
    m.panel_row_bytes = (uint64_t)m.blocks * (block_bytes + sizeof(float) * m.granules * (m.has_min ? 2 : 1));
    m.column_bytes = (uint64_t)m.blocks * (block_bytes + (m.path == RF_PATH_FP32 ? 0 : 3 * sizeof(float)));
    return m;
}

struct rf_split_needs rf_matmul_needs(const struct rf_matmul *m, const struct rf_caps *caps) {
    const struct rf_matrix *a = &m->product->weights, *b = &m->product->activations, *c = &m->product->result;
    struct rf_matrix row = *a, column = *b;
    row.ne[1] = row.ne[2] = row.ne[3] = column.ne[1] = column.ne[2] = column.ne[3] = 1;
    return (struct rf_split_needs){.rows = a->ne[1],
                                   .columns = b->ne[1],
                                   .panels = a->ne[2],
                                   .matrices = b->ne[2] / a->ne[2],
                                   .row_limit = (int64_t)caps->max_groups[1] * m->tile.tm,
                                   .row_multiple = m->tile.tm,
                                   .panel_row_bytes = m->panel_row_bytes,
                                   .column_bytes = m->column_bytes,
                                   .weights_row = a->nb[1],
                                   .weights_matrix = a->nb[2],
                                   .weights_last = rf_matrix_span(&row),
                                   .activations_column = b->nb[1],
                                   .activations_matrix = b->nb[2],
                                   .activations_last = rf_matrix_span(&column),
                                   .result_column = c->nb[1],
                                   .result_matrix = c->nb[2],
                                   .panel_limit = RF_PANEL_LIMIT,
                                   .column_limit = RF_COLUMN_LIMIT};
}

static uint64_t panel_values_bytes(const struct rf_matmul *m, int64_t rows, int64_t matrices) {
    return (uint64_t)(matrices * round_up(rows, m->tile.tm) * m->blocks) * rf_tile_block_bytes(m->path);
}

// At least one float, so that there is something to bind.
static uint64_t panel_scales_bytes(const struct rf_matmul *m, int64_t rows, int64_t matrices) {
    uint64_t floats = (uint64_t)(matrices * round_up(rows, m->tile.tm) * m->blocks) * m->granules;
    return (floats * (m->has_min ? 2 : 1) + 1) * sizeof(float);
}

static uint64_t columns_values_bytes(const struct rf_matmul *m, int64_t columns, int64_t matrices) {
    return (uint64_t)(matrices * round_up(columns, COLUMN_GROUP) * m->blocks) * rf_tile_block_bytes(m->path);
}

static uint64_t columns_scales_bytes(const struct rf_matmul *m, int64_t columns, int64_t matrices) {
    uint64_t floats = m->path == RF_PATH_FP32 ? 0 : 3; // a scale and two sums
    return ((uint64_t)(matrices * round_up(columns, COLUMN_GROUP) * m->blocks) * floats + 1) * sizeof(float);
}

uint64_t rf_matmul_panel_bytes(const struct rf_matmul *m, int64_t rows, int64_t matrices) {
    return rf_plan_slice_bytes(panel_values_bytes(m, rows, matrices)) +
           rf_plan_slice_bytes(panel_scales_bytes(m, rows, matrices));
}

uint64_t rf_matmul_columns_bytes(const struct rf_matmul *m, int64_t columns, int64_t matrices) {
    return rf_plan_slice_bytes(columns_values_bytes(m, columns, matrices)) +
           rf_plan_slice_bytes(columns_scales_bytes(m, columns, matrices));
}

// Fetches the pipeline and appends the step; a failing driver takes the device out of use.
static bool append(struct rf_device *device, const struct rf_pipeline_key *key, struct rf_step *step,
                   const uint32_t *push, size_t push_count) {
    VkResult result;
    step->pipeline = rf_pipelines_get(device, key, &result);
    if (step->pipeline == VK_NULL_HANDLE) {
        rf_device_fail(device, "creating a pipeline", result);
        return false;
    }
    step->push_bytes = (uint32_t)(push_count * sizeof *push);
    memcpy(step->push, push, step->push_bytes);
    return rf_plan_step(device, step);
}

bool rf_matmul_columns(struct rf_device *device, const struct rf_matmul *m, const struct rf_operand *source,
                       int64_t count, int64_t matrices, const struct rf_slice *table, struct rf_columns *columns) {
    struct rf_arena *arena = &device->plan->columns;
    uint64_t group_columns = (uint64_t)round_up(count, COLUMN_GROUP);
    bool half = m->product->activations.format == RF_FORMAT_F16;
    uint64_t size = half ? 2 : 4;
    columns->values = rf_plan_take(arena, columns_values_bytes(m, count, matrices));
    columns->scales = rf_plan_take(arena, columns_scales_bytes(m, count, matrices));
    uint64_t scales = group_columns * (uint64_t)m->blocks; // of one matrix
    uint32_t push[] = {
        (uint32_t)count,
        (uint32_t)m->blocks,
        (uint32_t)(source->first_bytes / size),
        (uint32_t)(source->nb[1] / size),
        (uint32_t)(source->nb[2] / size),
        (uint32_t)(source->nb[0] / size),
        (uint32_t)m->product->activations.ne[0],
        (uint32_t)(scales * rf_tile_block_bytes(m->path) / 16),
        (uint32_t)scales,
        (uint32_t)(scales * (uint64_t)matrices),
    };
    struct rf_pipeline_key key = {.kernel = RF_KERNEL_COLUMNS, .spec = {m->path, half, table != NULL}};
    struct rf_step step = {
        .bindings = {source->slice, columns->values, columns->scales},
        .groups = {(uint32_t)ceil_div(count, 16), (uint32_t)ceil_div(m->blocks, 4), (uint32_t)matrices},
        .barrier = source->pending,
        .work = (double)(group_columns * (uint64_t)(m->blocks * BLOCK * matrices)) * WORK_PER_VALUE};
    if (table != NULL)
        step.bindings[3] = *table;
    return append(device, &key, &step, push, sizeof push / sizeof push[0]);
}

bool rf_matmul_panel(struct rf_device *device, const struct rf_matmul *m, const struct rf_operand *source, int64_t rows,
                     int64_t matrices, struct rf_panel *panel) {
    struct rf_arena *arena = &device->plan->panels;
    enum rf_format format = m->product->weights.format;
    bool is_float = rf_format_info(format)->is_float;
    uint64_t group_rows = (uint64_t)round_up(rows, m->tile.tm);
    uint64_t scales = group_rows * (uint64_t)m->blocks * m->granules; // of one matrix
    *panel = (struct rf_panel){.values = rf_plan_take(arena, panel_values_bytes(m, rows, matrices)),
                               .scales = rf_plan_take(arena, panel_scales_bytes(m, rows, matrices)),
                               .values_batch =
                                   (uint32_t)(group_rows * (uint64_t)m->blocks * rf_tile_block_bytes(m->path) / 16),
                               .scales_batch = (uint32_t)scales,
                               .min_offset = (uint32_t)(scales * (uint64_t)matrices),
                               .rows = rows};
    uint64_t size = is_float ? rf_format_info(format)->block_bytes : 1;
    uint32_t push[] = {
        (uint32_t)rows,
        (uint32_t)m->blocks,
        (uint32_t)(source->first_bytes / size),
        (uint32_t)(source->nb[1] / size),
        (uint32_t)(source->nb[2] / size),
        panel->values_batch,
        panel->scales_batch,
        is_float ? (uint32_t)(source->nb[0] / size) : panel->min_offset,
        (uint32_t)m->product->weights.ne[0],
    };
    struct rf_pipeline_key key = {
        .kernel = RF_KERNEL_UNPACK + format,
        .spec = {m->path, m->tile.tm, rf_format_info(format)->granules, rf_format_info(format)->has_min}};
    if (is_float)
        key = (struct rf_pipeline_key){.kernel = RF_KERNEL_UNPACK_FLOAT, .spec = {m->path, m->tile.tm, format}};
    struct rf_step step = {
        .bindings = {source->slice, panel->values, panel->scales},
        .groups = {(uint32_t)ceil_div(m->blocks, 8), (uint32_t)ceil_div((int64_t)group_rows, 8), (uint32_t)matrices},
        .barrier = source->pending,
        .work = (double)(group_rows * (uint64_t)(m->blocks * BLOCK * matrices)) * WORK_PER_VALUE};
    return append(device, &key, &step, push, is_float ? 9 : 8);
}

// One dispatch over row groups [group, group + groups) and columns [first, end).
static bool tile_step(struct rf_device *device, const struct rf_matmul *m, const struct rf_tile_use *use, int64_t group,
                      int64_t groups, int64_t first, int64_t end, bool barrier) {
    const struct rf_panel *panel = use->panel;
    const struct rf_operand *result = &use->result;
    uint64_t scales = (uint64_t)(use->padded_columns * m->blocks); // of one matrix of columns
    uint32_t push[] = {
        (uint32_t)panel->rows,
        (uint32_t)group,
        (uint32_t)first,
        (uint32_t)end,
        (uint32_t)m->blocks,
        (uint32_t)use->ratio,
        panel->values_batch,
        panel->scales_batch,
        panel->min_offset,
        (uint32_t)(scales * rf_tile_block_bytes(m->path) / 16),
        (uint32_t)scales,
        (uint32_t)(scales * (uint64_t)use->matrices),
        (uint32_t)(result->first_bytes / sizeof(float)),
        (uint32_t)(result->nb[1] / sizeof(float)),
        (uint32_t)(result->nb[2] / sizeof(float)),
    };
    struct rf_pipeline_key key = {
        .kernel = RF_KERNEL_TILE_INT8 + m->path,
        .spec = {m->tile.lanes, m->tile.tm, m->tile.tn, m->granules > 1 ? m->granules : 1, m->has_min, use->routed}};
    int64_t span = m->tile.lanes * m->tile.tn;
    struct rf_step step = {
        .bindings = {panel->values, panel->scales, use->columns->values, use->columns->scales, result->slice},
        .groups = {(uint32_t)ceil_div(end - first, span), (uint32_t)groups, (uint32_t)use->matrices},
        .barrier = barrier,
        .work = (double)groups * m->tile.tm * (double)(end - first) * (double)(m->blocks * BLOCK * use->matrices)};
    if (use->routed)
        step.bindings[5] = use->columns->table;
    return append(device, &key, &step, push, sizeof push / sizeof push[0]);
}

bool rf_matmul_tiles(struct rf_device *device, const struct rf_matmul *m, const struct rf_tile_use *use, bool barrier) {
    int64_t span = m->tile.lanes * m->tile.tn;
    int64_t groups = ceil_div(use->panel->rows, m->tile.tm), columns = use->end_column - use->first_column;
    double work_a_group = (double)m->tile.tm * (double)columns * (double)(m->blocks * BLOCK * use->matrices);
    double limit = rf_submit_work_limit(device);
    // Rows are cut first: a cut along the columns reads the panel again.
    int64_t group_step = (int64_t)(limit / work_a_group);
    group_step = group_step < 1 ? 1 : group_step > groups ? groups : group_step;
    int64_t column_step =
        work_a_group > limit ? round_up((int64_t)((double)columns * limit / work_a_group), span) : columns;
    column_step = column_step < span ? span : column_step;
    for (int64_t g = 0; g < groups; g += group_step)
        for (int64_t c = use->first_column; c < use->end_column; c += column_step) {
            int64_t count = groups - g < group_step ? groups - g : group_step;
            int64_t end = use->end_column - c < column_step ? use->end_column : c + column_step;
            if (!tile_step(device, m, use, g, count, c, end, barrier))
                return false;
            barrier = false;
        }
    return true;
}
