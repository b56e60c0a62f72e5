// SPDX-License-Identifier: MIT
// A file of runs (counts.py writes it): kernels executed on the simulated Mali on products of known size, from which
// larger products are scaled. Pure.
//
// Scaled how: from two runs that differ in k alone everything is taken as linear in k, and as proportional to the
// workgroups. The runs are at least one full wave of workgroups, so that caches are shared as in the whole. A third
// run, of more workgroups, tells how far off that is.
#pragma once

#include "sm_dynamic.h"
#include "sm_list.h"

struct sm_run {
    char entry[SM_NAME_BYTES * 2]; // "point NAME FORMAT", or a line of the list without its dump
    int m, n, k;
    struct sm_dynamic counts;
};

struct sm_runs {
    struct sm_run *runs;
    size_t count;
};

bool sm_runs_read(const char *path, struct sm_runs *runs, char *error, size_t error_bytes);
void sm_runs_free(struct sm_runs *runs);

// Counts of one product of this entry, m rows, n columns, k deep. False: fewer than two runs of the entry that differ
// in k alone.
bool sm_runs_scale(const struct sm_runs *runs, const char *entry, int m, int n, int k, struct sm_dynamic *counts);

// Tokens a second of Qwen2.5-3B with all products in this point's tiles, as sm_graph_point, from runs; 0: they lack it.
double sm_runs_point(const char *name, const struct sm_runs *runs, const struct sm_constants *constants);

// The time of the same products by each of its terms alone, in t/s: which one bounds.
struct sm_runs_bounds {
    double alu_tps, ls_tps, l2_tps, latency_tps, dram_tps;
};
struct sm_runs_bounds sm_runs_point_bounds(const char *name, const struct sm_runs *runs,
                                           const struct sm_constants *constants);
