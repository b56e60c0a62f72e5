// SPDX-License-Identifier: MIT
// Mixture of experts: columns are gathered in the order of the experts, then each expert's panel meets its own.
#include <string.h>

#include "matmul_parts.h"
#include "routing.h"

// State of one product while its pieces are planned.
struct routed {
    struct rf_device *device;
    const struct rf_matmul *m;
    struct rf_routes routes;
    int64_t first, end; // range of columns in the arena
    bool have_columns;
    struct rf_columns columns;
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

static struct rf_matrix expert_rows(const struct rf_matmul *m, int64_t expert, int64_t first_row, int64_t rows) {
    struct rf_matrix part = m->product->weights;
    part.data = (const char *)part.data + (uint64_t)expert * part.nb[2] + (uint64_t)first_row * part.nb[1];
    part.ne[1] = rows;
    part.ne[2] = 1;
    return part;
}

// Uploads the table and gathers the columns, unless they are in the arena already.
static bool ensure_columns(struct routed *r) {
    if (r->have_columns)
        return true;
    const struct rf_matrix *activations = &r->m->product->activations;
    int64_t count = r->end - r->first;
    bool barrier = rf_plan_pending(r->device, activations);
    struct rf_operand source;
    r->have_columns = rf_plan_upload(r->device, r->routes.columns + r->first,
                                     (uint64_t)count * sizeof *r->routes.columns, &r->columns.table) &&
                      rf_plan_input(r->device, activations, false, &source) &&
                      rf_matmul_columns(r->device, r->m, &source, count, 1, &r->columns.table, barrier, &r->columns);
    return r->have_columns;
}

// Rows of as many experts from `expert` on as the panel arena holds; returns the next expert, or -1.
static int64_t plan_experts(struct routed *r, int64_t expert, int64_t first_row, int64_t rows) {
    enum { AT_ONCE = 32 };
    struct rf_panel panels[AT_ONCE];
    int64_t experts[AT_ONCE];
    int count = 0;
    uint64_t panel_bytes = rf_matmul_panel_bytes(r->m, rows, 1);
    uint64_t all_panels = 0, staging = 0;
    int64_t first, end;
    for (; expert < r->routes.experts && count < AT_ONCE; expert++) {
        if (!expert_range(r, expert, &first, &end))
            continue;
        struct rf_matrix part = expert_rows(r->m, expert, first_row, rows);
        uint64_t staged = rf_plan_staging_bytes(r->device, &part, r->m->constant);
        if (count > 0 && (all_panels + panel_bytes > RF_PANEL_LIMIT || staging + staged > RF_STAGING_LIMIT / 4))
            break;
        all_panels += panel_bytes;
        staging += staged;
        experts[count++] = expert;
    }
    if (count == 0)
        return expert;

    const struct rf_product *product = r->m->product;
    struct rf_matrix result = product->result;
    result.data = (const char *)result.data + (uint64_t)first_row * sizeof(float);
    result.ne[0] = rows;
    int64_t columns = r->end - r->first;
    bool flushed;
    if (!rf_plan_prepare(r->device, &product->weights, r->m->constant) ||
        !rf_plan_prepare(r->device, &product->activations, false) ||
        !rf_plan_room(r->device, all_panels, rf_matmul_columns_bytes(r->m, columns, 1),
                      staging + rf_plan_staging_bytes(r->device, &product->activations, false) +
                          rf_plan_staging_bytes(r->device, &result, false) +
                          rf_plan_slice_bytes((uint64_t)columns * sizeof *r->routes.columns),
                      &flushed))
        return -1;
    // Preparing may have run the plan, too: only an arena that still holds the columns' end has them.
    struct rf_plan *plan = r->device->plan;
    if (flushed || plan->columns.used < r->columns.scales.offset + r->columns.scales.bytes || plan->step_count == 0)
        r->have_columns = false;
    if (!ensure_columns(r))
        return -1;
    bool barrier = rf_plan_pending(r->device, &product->weights);
    for (int i = 0; i < count; i++) {
        struct rf_matrix part = expert_rows(r->m, experts[i], first_row, rows);
        struct rf_operand source;
        if (!rf_plan_input(r->device, &part, r->m->constant, &source) ||
            !rf_matmul_panel(r->device, r->m, &source, rows, 1, barrier, &panels[i]))
            return -1;
    }
    struct rf_tile_use use = {
        .columns = &r->columns, .padded_columns = columns, .matrices = 1, .ratio = 1, .routed = true};
    if (!rf_plan_output(r->device, &result, &use.result))
        return -1;
    for (int i = 0; i < count; i++) {
        use.panel = &panels[i];
        expert_range(r, experts[i], &use.first_column, &use.end_column);
        if (!rf_matmul_tiles(r->device, r->m, &use, i == 0))
            return -1;
    }
    return expert;
}

static bool plan_range(struct routed *r, const struct rf_split *split) {
    int64_t all_rows = r->m->product->weights.ne[1];
    for (int64_t row = 0; row < all_rows; row += split->rows)
        for (int64_t expert = 0; expert < r->routes.experts;) {
            expert = plan_experts(r, expert, row, min64(split->rows, all_rows - row));
            if (expert < 0)
                return false;
        }
    return true;
}

bool rf_matmul_plan_routed(struct rf_device *device, const struct rf_matmul *m, const struct rf_split *split) {
    const struct rf_product *product = m->product;
    const struct rf_matrix *b = &product->activations;
    uint64_t size = b->format == RF_FORMAT_F16 ? 2 : 4;
    bool packed = !rf_plan_in_place(device, b, false);
    uint64_t slot_bytes = packed ? (uint64_t)b->ne[0] * size : b->nb[1];
    uint64_t token_bytes = packed ? slot_bytes * (uint64_t)b->ne[1] : b->nb[2];
    struct routed r = {.device = device, .m = m};
    if (!rf_routes_build(&product->routing, product->weights.ne[2], b->ne[1] == 1 ? 0 : slot_bytes / size,
                         token_bytes / size, &r.routes))
        return false;
    // As many columns at once as the arena holds, in whole groups of 16.
    int64_t at_once = (int64_t)(RF_COLUMN_LIMIT / m->column_bytes) / 16 * 16;
    int64_t total = r.routes.begin[r.routes.experts];
    bool good = at_once > 0;
    for (r.first = 0; good && r.first < total; r.first += at_once) {
        r.end = min64(r.first + at_once, total);
        r.have_columns = false;
        good = plan_range(&r, split);
    }
    rf_routes_free(&r.routes);
    return good;
}
