// SPDX-License-Identifier: MIT
#include "sm_runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sm_shape.h"

#define POINT_COLUMNS 512

static bool run_read(const json_t *json, struct sm_run *run, char *error, size_t error_bytes) {
    const char *entry = json_string_value(json_object_get(json, "entry")), *missing = "entry, m, n or k";
    *run = (struct sm_run){.m = (int)json_integer_value(json_object_get(json, "m")),
                           .n = (int)json_integer_value(json_object_get(json, "n")),
                           .k = (int)json_integer_value(json_object_get(json, "k"))};
    if (entry != NULL && run->m > 0 && run->n > 0 && run->k > 0 &&
        sm_dynamic_read(json_object_get(json, "kernel"), &run->counts, &missing)) {
        snprintf(run->entry, sizeof run->entry, "%s", entry);
        return true;
    }
    snprintf(error, error_bytes, "the run of \"%s\" has no field %s", entry != NULL ? entry : "?", missing);
    return false;
}

bool sm_runs_read(const char *path, struct sm_runs *runs, char *error, size_t error_bytes) {
    json_error_t why;
    json_t *file = json_load_file(path, 0, &why), *list = json_object_get(file, "runs");
    *runs = (struct sm_runs){.runs = calloc(json_array_size(list) + 1, sizeof *runs->runs)};
    bool good = json_is_array(list) && runs->runs != NULL;
    if (!good)
        snprintf(error, error_bytes, "%s: %s", path, file == NULL ? why.text : "no array \"runs\" in it");
    for (size_t i = 0; good && i < json_array_size(list); i++)
        good = run_read(json_array_get(list, i), &runs->runs[runs->count++], error, error_bytes);
    json_decref(file);
    if (!good)
        sm_runs_free(runs);
    return good;
}

void sm_runs_free(struct sm_runs *runs) {
    free(runs->runs);
    *runs = (struct sm_runs){0};
}

// The first run of the entry, and the first one after it that differs in k alone.
static bool pair_find(const struct sm_runs *runs, const char *entry, const struct sm_run **a, const struct sm_run **b) {
    *a = NULL;
    for (size_t i = 0; i < runs->count; i++) {
        const struct sm_run *run = &runs->runs[i];
        if (strcmp(run->entry, entry) != 0)
            continue;
        *b = run;
        if (*a == NULL)
            *a = run;
        else if ((*a)->m == run->m && (*a)->n == run->n && (*a)->k != run->k)
            return true;
    }
    return false;
}

bool sm_runs_scale(const struct sm_runs *runs, const char *entry, int m, int n, int k, struct sm_dynamic *counts) {
    const struct sm_run *a, *b;
    if (!pair_find(runs, entry, &a, &b))
        return false;
    double share = (double)(k - a->k) / (b->k - a->k), times = (double)m * n / ((double)a->m * a->n);
    *counts = sm_dynamic_between(&a->counts, &b->counts, share, times);
    counts->dispatches = 1;
    return true;
}

static bool product_scale(const char *name, const struct sm_runs *runs, const struct sm_product *product,
                          struct sm_dynamic *counts) {
    char entry[SM_NAME_BYTES * 2];
    snprintf(entry, sizeof entry, "point %s %s", name, rf_format_info(product->format)->name);
    if (sm_runs_scale(runs, entry, product->rows, POINT_COLUMNS, product->k, counts))
        return true;
    // As sm_graph_point: a kind without a kernel of its own for the format takes the main one's.
    snprintf(entry, sizeof entry, "point %s %s", name, rf_format_info(RF_FORMAT_Q4_K)->name);
    return sm_runs_scale(runs, entry, product->rows, POINT_COLUMNS, product->k, counts);
}

static bool point_times(const char *name, const struct sm_runs *runs, const struct sm_constants *constants,
                        struct sm_dynamic_time *sum) {
    const struct sm_shape *shape = sm_shape_find("3b");
    *sum = (struct sm_dynamic_time){0};
    for (int layer = 0; layer < shape->layers; layer++) {
        struct sm_product products[SM_PRODUCTS_A_LAYER];
        sm_shape_products(shape, layer, products);
        for (int i = 0; i < SM_PRODUCTS_A_LAYER; i++) {
            struct sm_dynamic counts;
            if (!product_scale(name, runs, &products[i], &counts))
                return false;
            struct sm_dynamic_time t = sm_dynamic_time(&counts, constants);
            sum->alu_s += t.alu_s;
            sum->ls_s += t.ls_s;
            sum->l2_s += t.l2_s;
            sum->latency_s += t.latency_s;
            sum->dram_s += t.dram_s;
            sum->total_s += t.total_s;
        }
    }
    return true;
}

double sm_runs_point(const char *name, const struct sm_runs *runs, const struct sm_constants *constants) {
    struct sm_dynamic_time sum;
    return point_times(name, runs, constants, &sum) ? POINT_COLUMNS / sum.total_s : 0;
}

struct sm_runs_bounds sm_runs_point_bounds(const char *name, const struct sm_runs *runs,
                                           const struct sm_constants *constants) {
    struct sm_dynamic_time sum;
    if (!point_times(name, runs, constants, &sum))
        return (struct sm_runs_bounds){0};
    return (struct sm_runs_bounds){.alu_tps = POINT_COLUMNS / sum.alu_s,
                                   .ls_tps = POINT_COLUMNS / sum.ls_s,
                                   .l2_tps = POINT_COLUMNS / sum.l2_s,
                                   .latency_tps = POINT_COLUMNS / sum.latency_s,
                                   .dram_tps = POINT_COLUMNS / sum.dram_s};
}
