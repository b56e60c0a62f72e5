// SPDX-License-Identifier: MIT
#include "sm_dynamic.h"

#include <math.h>
#include <stddef.h>

#define LINE_BYTES 64
#define WARPS_A_CORE 128 // at full occupancy: 2048 threads

static const struct {
    const char *name, *object;
    size_t offset;
} fields[] = {
#define ROW(field, name, object) {name, object, offsetof(struct sm_dynamic, field)},
    SM_DYNAMIC_FIELDS(ROW)
#undef ROW
};

#define FIELD_COUNT (sizeof fields / sizeof fields[0])

static double *field_of(struct sm_dynamic *counts, size_t i) {
    return (double *)((char *)counts + fields[i].offset);
}

bool sm_dynamic_read(const json_t *kernel, struct sm_dynamic *counts, const char **missing) {
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        const json_t *object = fields[i].object != NULL ? json_object_get(kernel, fields[i].object) : kernel;
        const json_t *value = json_object_get(object, fields[i].name);
        *missing = fields[i].name;
        if (!json_is_number(value))
            return false;
        *field_of(counts, i) = json_number_value(value);
    }
    const json_t *occupancy = json_object_get(kernel, "occupancy");
    *missing = "occupancy";
    counts->resident_warps = json_number_value(occupancy) * WARPS_A_CORE;
    return counts->resident_warps > 0;
}

struct sm_dynamic sm_dynamic_between(const struct sm_dynamic *a, const struct sm_dynamic *b, double share,
                                     double times) {
    struct sm_dynamic from = *a, to = *b, result = *a;
    for (size_t i = 0; i < FIELD_COUNT; i++)
        *field_of(&result, i) = times * (*field_of(&from, i) + share * (*field_of(&to, i) - *field_of(&from, i)));
    return result;
}

// Clocks that warps wait, all of them summed. A message waits for the slowest of its lines; DRAM's share is not counted
// by message, so each line from there counts as one that waits, as far as there are messages that missed the L1.
static double waiting(const struct sm_dynamic *c, const struct sm_constants *constants) {
    double from_dram = fmin(c->waits_missed, c->dram_read_bytes / LINE_BYTES);
    return (c->waits - c->waits_missed) * constants->l1_latency +
           (c->waits_missed - from_dram) * constants->l2_latency + from_dram * constants->dram_latency;
}

struct sm_dynamic_time sm_dynamic_time(const struct sm_dynamic *c, const struct sm_constants *constants) {
    double clock = 1 / constants->gpu_cores / constants->gpu_hz, dispatches = fmax(c->dispatches, 1);
    double held = fmin(c->resident_warps, fmax(c->warps / dispatches / constants->gpu_cores, 1));
    double slots = fmax(c->fma + c->cvt + c->sfu, constants->sfu_slots * c->sfu);
    struct sm_dynamic_time t = {.alu_s = clock * slots / constants->issue_per_clock,
                                .ls_s = clock * c->lines / constants->lines_per_clock,
                                .l2_s = clock * c->l2_requests * LINE_BYTES / constants->l2_bytes_per_clock,
                                .latency_s = clock * waiting(c, constants) / held,
                                .dram_s = c->dram_bytes / constants->dram_bytes_per_s};
    double gpu = fmax(t.alu_s, t.ls_s) + (1 - constants->overlap) * fmin(t.alu_s, t.ls_s);
    t.total_s = fmax(fmax(gpu, t.l2_s), fmax(t.latency_s, t.dram_s)) + dispatches * constants->dispatch_s;
    return t;
}
