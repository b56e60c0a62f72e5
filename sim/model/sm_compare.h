// SPDX-License-Identifier: MIT
// The static model beside what was counted: the same dispatch by the loops of its assembly, and as executed. Pure.
#pragma once

#include "sm_runs.h"

struct sm_side {
    double alu, ls, lines, stack_lines; // slots, messages and lines of a warp
};

struct sm_compared {
    struct sm_side text, executed; // text: zeros when the list has no such entry
    bool in_list;
    // This run's own counts over those scaled from the entry's other runs (sm_runs_scale), 1 for those themselves.
    bool scaled;
    double instructions_ratio, lines_ratio, l2_ratio, dram_ratio;
};

struct sm_compared sm_compare(const struct sm_list *list, const struct sm_runs *runs, const struct sm_run *run,
                              const struct sm_constants *constants);
