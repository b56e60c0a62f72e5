// SPDX-License-Identifier: MIT
// Mixture of experts: columns are gathered in the order of the experts, then each expert's panel meets its own.
#include <string.h>

#include "matmul_parts.h"
#include "routing.h"

#define EXPERTS_AT_ONCE 32 // panels between two barriers

// State of one product while its pieces are planned.
struct routed {
    struct rf_device *device;
    const struct rf_matmul *m;
    struct rf_routes routes;
    int64_t first, end;      // range of columns in the arena
    int64_t first_row, rows; // of the weights
    bool placed;             // the arena holds the columns, and the place of the result
    struct rf_columns columns;
    struct rf_operand result;
    bool staged; // result columns lie in the order of the experts and are delivered one by one
};

// Experts whose panels are in the arena at the same time.
struct expert_group {
    int64_t experts[EXPERTS_AT_ONCE];
    struct rf_panel panels[EXPERTS_AT_ONCE];
    int count;
    uint64_t panel_bytes, staging_bytes;
};

static int64_t min64(int64_t a, int64_t b) {
    return a < b ? a : b;
}

// The columns of an expert that lie in the current range, as positions in it.
static bool expert_range(const struct routed *r, int64_t expert, int64_t *first, int64_t *end) {
    int64_t begin = r->routes.begin[expert], stop = begin + r->routes.count[expert];
    *first = begin > r->first ? begin - r->first : 0;
    *end = min64(stop, r->end) - r->first;
    return *first < *end;
}

static struct rf_matrix expert_rows(const struct routed *r, int64_t expert) {
    struct rf_matrix part = r->m->product->weights;
    part.data = (const char *)part.data + (uint64_t)expert * part.nb[2] + (uint64_t)r->first_row * part.nb[1];
    part.ne[1] = r->rows;
    part.ne[2] = 1;
    return part;
}

static struct rf_matrix result_rows(const struct routed *r) {
    struct rf_matrix part = r->m->product->result;
    part.data = (const char *)part.data + (uint64_t)r->first_row * sizeof(float);
    part.ne[0] = r->rows;
    return part;
}

// The table for the current range. Where the result is staged its columns keep the table's own order.
static bool upload_table(struct routed *r) {
    int64_t count = r->end - r->first;
    struct rf_routed_column *columns = r->routes.columns + r->first;
    if (r->staged)
        for (int64_t i = 0; i < count; i++)
            r->routes.order[i] =
                (struct rf_routed_column){columns[i].source, columns[i].result == ~0u ? ~0u : (uint32_t)i};
    return rf_plan_upload(r->device, r->staged ? r->routes.order : columns, (uint64_t)count * sizeof *columns,
                          &r->columns.table);
}

static bool place_result(struct routed *r) {
    struct rf_matrix part = result_rows(r);
    if (!r->staged)
        return rf_plan_output(r->device, &part, &r->result);
    uint64_t column_bytes = (uint64_t)r->rows * sizeof(float);
    r->result = (struct rf_operand){.nb = {sizeof(float), column_bytes}};
    return rf_plan_stage_result(r->device, &part, (uint64_t)(r->end - r->first) * column_bytes, &r->result.slice);
}

// Gathers the columns and makes a place for the result, unless that is done.
static bool place(struct routed *r) {
    if (r->placed)
        return true;
    struct rf_operand source;
    r->placed = upload_table(r) && rf_plan_input(r->device, &r->m->product->activations, false, &source) &&
                rf_matmul_columns(r->device, r->m, &source, r->end - r->first, 1, &r->columns.table, &r->columns) &&
                place_result(r);
    return r->placed;
}

// As many experts from `expert` on as the panel arena holds. Returns the next expert.
static int64_t group_collect(const struct routed *r, int64_t expert, struct expert_group *group) {
    uint64_t panel_bytes = rf_matmul_panel_bytes(r->m, r->rows, 1);
    *group = (struct expert_group){0};
    int64_t first, end;
    for (; expert < r->routes.experts && group->count < EXPERTS_AT_ONCE; expert++) {
        if (!expert_range(r, expert, &first, &end))
            continue;
        struct rf_matrix part = expert_rows(r, expert);
        uint64_t staged = rf_plan_staging_bytes(r->device, &part, r->m->constant);
        if (group->count > 0 &&
            (group->panel_bytes + panel_bytes > RF_PANEL_LIMIT || group->staging_bytes + staged > RF_STAGING_LIMIT / 4))
            break;
        group->panel_bytes += panel_bytes;
        group->staging_bytes += staged;
        group->experts[group->count++] = expert;
    }
    return expert;
}

static bool make_room(struct routed *r, const struct expert_group *group) {
    const struct rf_product *product = r->m->product;
    int64_t columns = r->end - r->first;
    uint64_t staging = group->staging_bytes;
    if (!r->placed) {
        staging += rf_plan_staging_bytes(r->device, &product->activations, false) +
                   rf_plan_slice_bytes((uint64_t)columns * sizeof *r->routes.columns);
        if (r->staged)
            staging += rf_plan_slice_bytes((uint64_t)(columns * r->rows) * sizeof(float));
    }
    bool flushed;
    if (!rf_plan_room(r->device, group->panel_bytes, r->placed ? 0 : rf_matmul_columns_bytes(r->m, columns, 1), staging,
                      &flushed))
        return false;
    if (!flushed || !r->placed)
        return true;
    // What was placed is gone; a second time it fits, since the arena is empty.
    r->placed = false;
    return make_room(r, group);
}

static bool group_panels(struct routed *r, struct expert_group *group) {
    for (int i = 0; i < group->count; i++) {
        struct rf_matrix part = expert_rows(r, group->experts[i]);
        struct rf_operand source;
        if (!rf_plan_input(r->device, &part, r->m->constant, &source) ||
            !rf_matmul_panel(r->device, r->m, &source, r->rows, 1, &group->panels[i]))
            return false;
    }
    return true;
}

// Where the staged columns [first, end) of the range go.
static bool deliver(struct routed *r, int64_t first, int64_t end) {
    struct rf_matrix part = result_rows(r);
    uint64_t column_bytes = r->result.nb[1];
    for (int64_t i = first; i < end; i++) {
        char *to = (char *)(uintptr_t)part.data + r->routes.columns[r->first + i].result * part.nb[1];
        if (!rf_plan_deliver(r->device, &r->result.slice, (uint64_t)i * column_bytes, to, column_bytes))
            return false;
    }
    return true;
}

static bool group_tiles(struct routed *r, const struct expert_group *group) {
    struct rf_tile_use use = {.columns = &r->columns,
                              .padded_columns = r->end - r->first,
                              .matrices = 1,
                              .ratio = 1,
                              .result = r->result,
                              .routed = true};
    for (int i = 0; i < group->count; i++) {
        use.panel = &group->panels[i];
        expert_range(r, group->experts[i], &use.first_column, &use.end_column);
        if (!rf_matmul_tiles(r->device, r->m, &use, i == 0) ||
            (r->staged && !deliver(r, use.first_column, use.end_column)))
            return false;
    }
    return true;
}

// All experts for the current rows and range of columns.
static bool plan_rows(struct routed *r) {
    for (int64_t expert = 0; expert < r->routes.experts;) {
        struct expert_group group;
        expert = group_collect(r, expert, &group);
        if (group.count > 0 &&
            (!make_room(r, &group) || !place(r) || !group_panels(r, &group) || !group_tiles(r, &group)))
            return false;
    }
    return true;
}

static bool plan_range(struct routed *r, const struct rf_split *split) {
    int64_t all_rows = r->m->product->weights.ne[1];
    for (r->first_row = 0; r->first_row < all_rows; r->first_row += split->rows) {
        r->rows = min64(split->rows, all_rows - r->first_row);
        r->placed = false;
        if (!plan_rows(r))
            return false;
    }
    return true;
}

// Elements from a token's slot to the next one, and from token to token, as the columns kernel will see them.
static void source_strides(const struct rf_device *device, const struct rf_matrix *b, uint64_t *slot, uint64_t *token) {
    uint64_t size = rf_format_info(b->format)->block_bytes;
    bool packed = !rf_plan_in_place(device, b, false);
    *slot = packed ? (uint64_t)b->ne[0] : b->nb[1] / size;
    *token = packed ? (uint64_t)(b->ne[0] * b->ne[1]) : b->nb[2] / size;
    if (b->ne[1] == 1)
        *slot = 0;
}

bool rf_matmul_plan_routed(struct rf_device *device, const struct rf_matmul *m, const struct rf_split *split) {
    const struct rf_product *product = m->product;
    struct routed r = {.device = device, .m = m, .staged = !rf_plan_in_place(device, &product->result, false)};
    // The host reads the routing, and may read operands, before the plan runs.
    if (!rf_plan_prepare(device, &product->weights, m->constant) ||
        !rf_plan_prepare(device, &product->activations, false))
        return false;
    uint64_t slot_elems, token_elems;
    source_strides(device, &product->activations, &slot_elems, &token_elems);
    if (!rf_routes_build(&product->routing, product->weights.ne[2], slot_elems, token_elems, &r.routes))
        return false;
    // As many columns at once as the arenas hold, in whole groups of 16.
    int64_t at_once = (int64_t)(RF_COLUMN_LIMIT / m->column_bytes) / 16 * 16;
    int64_t staged_columns = (int64_t)(RF_STAGING_LIMIT / 4 / ((uint64_t)split->rows * sizeof(float))) / 16 * 16;
    if (r.staged)
        at_once = min64(at_once, staged_columns);
    int64_t total = r.routes.begin[r.routes.experts];
    bool good = at_once > 0;
    for (r.first = 0; good && r.first < total; r.first += at_once) {
        r.end = min64(r.first + at_once, total);
        good = plan_range(&r, split);
    }
    rf_routes_free(&r.routes);
    return good;
}
