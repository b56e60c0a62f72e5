// SPDX-License-Identifier: MIT
// What a host thread holds while it executes workgroups, and how handlers read operands and write results.
#pragma once

#include <string.h>

#include "../core.h"
#include "program.h"
#include "step.h"

#define MX_REGION_CACHE 16
#define MX_BUFFER_CACHE 16

struct mx_buffer {
    uint32_t handle;
    bool known;
    uint64_t address;
    uint64_t size; // bytes
};

struct mx_worker {
    mx_u32 *registers; // of the warp that runs
    mx_u32 pool[MX_POOL_MAX + 2];
    mx_u32 mask;     // all ones where the lane is active
    uint32_t active; // bits
    struct mx_warp *warp;
    struct mx_workgroup *group;               // of the warp that runs
    struct mx_workgroup groups[MX_WARPS_MAX]; // that run side by side: one, unless messages are interleaved
    uint32_t group_count;
    const struct mx_job *job;
    const struct mx_program *program;
    const struct mx_observer *observer;
    struct mx_region regions[MX_REGION_CACHE]; // by address bits; end 0: none
    struct mx_buffer buffers[MX_BUFFER_CACHE]; // by handle
    struct mx_fault fault;
    uint32_t number;
    uint64_t instructions; // of all jobs
    struct mx_warp *warps;
};

#define MX_FULL 0xffffu

static inline mx_u32 mx_splat(uint32_t value) {
    return value - (mx_u32){0};
}

static inline mx_u32 mx_raw(const struct mx_worker *w, const struct mx_step *s, unsigned i) {
    const struct mx_operand *o = &s->operand[i];
    return (o->pooled ? w->pool : w->registers)[o->place];
}

static inline mx_u32 mx_high(const struct mx_worker *w, const struct mx_step *s, unsigned i) {
    const struct mx_operand *o = &s->operand[i];
    return (o->pooled ? w->pool : w->registers)[o->place + 1];
}

static inline mx_u32 mx_fetch(const struct mx_worker *w, const struct mx_step *s, unsigned i) {
    const struct mx_operand *o = &s->operand[i];
    mx_u32 value = (o->pooled ? w->pool : w->registers)[o->place];
    if (__builtin_expect(o->modified, 0))
        return mx_operand_apply(o, value);
    return value;
}

static inline mx_u32 mx_blend(mx_u32 mask, mx_u32 yes, mx_u32 no) {
    return (yes & mask) | (no & ~mask);
}

static inline void mx_write(struct mx_worker *w, unsigned r, mx_u32 value) {
    if (__builtin_expect(w->active == MX_FULL, 1))
        w->registers[r] = value;
    else
        w->registers[r] = mx_blend(w->mask, value, w->registers[r]);
}

// Of a result whose low half alone is written the value has it in the low half.
static inline void mx_put(struct mx_worker *w, const struct mx_step *s, mx_u32 value) {
    if (__builtin_expect(s->half != 0, 0)) {
        mx_u32 old = w->registers[s->written];
        value = s->half == 1 ? (old & 0xffff0000u) | (value & 0xffffu) : (old & 0xffffu) | (value << 16);
    }
    mx_write(w, s->written, value);
}

// Stops the job. lane: the first one concerned.
void mx_worker_fail(struct mx_worker *w, const struct mx_step *s, enum mx_fault_kind kind, unsigned lane,
                    uint64_t address, const char *what);
