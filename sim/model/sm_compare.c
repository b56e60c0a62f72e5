// SPDX-License-Identifier: MIT
#include "sm_compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define BLOCK 32 // k of a trip of a tile's loop

static void entry_describe(const struct sm_entry *entry, char *text, size_t text_bytes) {
    if (entry->role == SM_ROLE_POINT)
        snprintf(text, text_bytes, "point %s %s", entry->name, rf_format_info(entry->format)->name);
    else
        sm_list_describe(entry, text, text_bytes);
}

static const struct sm_entry *entry_find(const struct sm_list *list, const char *wanted) {
    char text[SM_NAME_BYTES * 2];
    for (size_t i = 0; i < list->count; i++) {
        entry_describe(&list->entries[i], text, sizeof text);
        if (strcmp(text, wanted) == 0)
            return &list->entries[i];
    }
    return NULL;
}

static struct sm_launch launch_of(const struct sm_entry *entry, int k) {
    struct sm_launch launch = {.groups = 1};
    for (int i = 0; i < SM_LOOPS_MAX; i++)
        launch.trips[i] = entry->role == SM_ROLE_POINT ? entry->trips[i] : 1;
    int hot = sm_loops_hot(&entry->kernel.loops);
    if (entry->role == SM_ROLE_POINT)
        launch.trips[0] = ceil((double)k / entry->k);
    else if (entry->role == SM_ROLE_TILE && hot >= 0)
        launch.trips[hot] = ceil((double)k / BLOCK);
    return launch;
}

static double alu(double fma, double cvt, double sfu, const struct sm_constants *constants) {
    return fmax(fma + cvt + sfu, constants->sfu_slots * sfu);
}

static struct sm_side text_side(const struct sm_entry *entry, int k, const struct sm_constants *constants) {
    struct sm_launch launch = launch_of(entry, k);
    struct sm_slots s = sm_kernel_time(&entry->kernel, &launch, constants).slots;
    return (struct sm_side){alu(s.fma, s.cvt, s.sfu, constants), s.ls, s.lines, s.stack_lines};
}

static struct sm_side executed_side(const struct sm_dynamic *c, const struct sm_constants *constants) {
    return (struct sm_side){alu(c->fma, c->cvt, c->sfu, constants) / c->warps, c->ls / c->warps, c->lines / c->warps,
                            c->stack_lines / c->warps};
}

static double ratio(double value, double of) {
    return of > 0 ? value / of : 1;
}

struct sm_compared sm_compare(const struct sm_list *list, const struct sm_runs *runs, const struct sm_run *run,
                              const struct sm_constants *constants) {
    struct sm_compared result = {.executed = executed_side(&run->counts, constants)};
    const struct sm_entry *entry = entry_find(list, run->entry);
    if (entry != NULL) {
        result.in_list = true;
        result.text = text_side(entry, run->k, constants);
    }
    struct sm_dynamic scaled;
    if (sm_runs_scale(runs, run->entry, run->m, run->n, run->k, &scaled)) {
        result.scaled = true;
        result.instructions_ratio = ratio(run->counts.instructions, scaled.instructions);
        result.lines_ratio = ratio(run->counts.lines, scaled.lines);
        result.l2_ratio = ratio(run->counts.l2_requests, scaled.l2_requests);
        result.dram_ratio = ratio(run->counts.dram_bytes, scaled.dram_bytes);
    }
    return result;
}
