// SPDX-License-Identifier: MIT
#include "warp.h"

#include <stdio.h>

#include "handlers.h"

#define EACH for (unsigned l = 0; l < MX_LANES; l++)

struct run {
    const struct mx_step *steps;
    bool reselect; // after every instruction
    bool yield;    // the warp gives way after every message
    uint64_t limit;
};

void mx_worker_fail(struct mx_worker *w, const struct mx_step *s, enum mx_fault_kind kind, unsigned lane,
                    uint64_t address, const char *what) {
    if (w->fault.kind != MX_FAULT_NONE)
        return;
    char text[96];
    mx_insn_print(&s->insn, text, sizeof text);
    w->fault = (struct mx_fault){.kind = kind,
                                 .job = w->job->number,
                                 .code = w->job->code,
                                 .kernel_hash = mx_program_hash(w->program),
                                 .pc = 8 * (uint64_t)s->insn.index,
                                 .address = address,
                                 .group = {w->group->id[0], w->group->id[1], w->group->id[2]},
                                 .local_index = w->warp->index * MX_LANES + lane};
    snprintf(w->fault.text, sizeof w->fault.text, "%.90s: %.60s", text, what);
}

static void mask_set(struct mx_worker *w, uint32_t active) {
    w->active = w->warp->active = active;
    EACH w->mask[l] = active >> l & 1 ? UINT32_MAX : 0;
}

// The lanes that can run, and of them those with the smallest pc. False: none can.
static bool lanes_select(struct mx_worker *w, uint32_t *pc) {
    const struct mx_warp *warp = w->warp;
    uint32_t ready = warp->live & ~warp->at_barrier, least = UINT32_MAX, active = 0;
    if (ready == 0)
        return false;
    EACH if (ready >> l & 1 && warp->pc[l] < least) least = warp->pc[l];
    EACH active |= (uint32_t)(ready >> l & 1 && warp->pc[l] == least) << l;
    mask_set(w, active);
    *pc = least;
    return true;
}

static void pc_store(struct mx_warp *warp, uint32_t lanes, uint32_t pc) {
    EACH if (lanes >> l & 1) warp->pc[l] = pc;
}

// Active lanes for which the branch is taken.
static uint32_t branch_taken(struct mx_worker *w, const struct mx_step *s) {
    mx_u32 value = mx_raw(w, s, 0);
    uint32_t taken = 0;
    EACH {
        uint32_t v = value[l];
        bool zero;
        switch (s->variant) {
        case 0:
            zero = v == 0;
            break;
        case 1:
            zero = (v & 0xffff) == 0;
            break;
        case 2:
            zero = v >> 16 == 0;
            break;
        case 3:
            zero = v != UINT32_MAX;
            break;
        default:
            zero = (v & 1) == 0;
        }
        taken |= (uint32_t)(zero == (s->saturate != 0)) << l;
    }
    return taken & w->active;
}

// After an instruction that may change which lanes run. Returns false when the warp has to choose anew.
static bool control(struct mx_worker *w, const struct mx_step *s, uint32_t *pc) {
    struct mx_warp *warp = w->warp;
    uint32_t next = *pc + 1, taken;
    bool alone = ((warp->live & ~warp->at_barrier) & ~w->active) == 0;
    switch (s->control) {
    case MX_BRANCH:
        taken = branch_taken(w, s);
        if (alone && (taken == 0 || taken == w->active)) {
            *pc = taken ? (uint32_t)((int32_t)next + s->offset) : next;
            return true;
        }
        pc_store(warp, taken, (uint32_t)((int32_t)next + s->offset));
        pc_store(warp, w->active & ~taken, next);
        return false;
    case MX_END:
        warp->live &= ~w->active;
        return false;
    case MX_BARRIER:
        warp->at_barrier |= w->active;
        pc_store(warp, w->active, next);
        return false;
    default:
        if (alone) {
            *pc = next;
            return true;
        }
        pc_store(warp, w->active, next);
        return false;
    }
}

void mx_run_unknown(struct mx_worker *w, const struct mx_step *s) {
    bool outside = s->insn.index >= mx_program_length(w->program);
    mx_worker_fail(w, s, MX_FAULT_INSTRUCTION, (unsigned)__builtin_ctz(w->active), s->insn.word,
                   outside ? "the program left its code" : "not a known instruction");
}

// Executes the active lanes from *pc on, until the lanes are to be chosen anew. False: the warp stops, for good or to
// give way.
static inline __attribute__((always_inline)) bool lanes_run(struct mx_worker *w, const struct run *run, uint32_t pc,
                                                            uint64_t *count, bool observed) {
    const struct mx_observer *observer = w->observer;
    for (;;) {
        const struct mx_step *s = &run->steps[pc];
        if (observed && observer->before != NULL)
            observer->before(observer->context, w->group, w->warp, &s->insn);
        s->run(w, s);
        ++*count;
        if (observed && observer->after != NULL)
            observer->after(observer->context, w->group, w->warp, &s->insn);
        if (s->control > MX_MESSAGE) {
            if (w->fault.kind != MX_FAULT_NONE)
                return false;
            if (*count > run->limit) {
                mx_worker_fail(w, s, MX_FAULT_ENDLESS, 0, 0, "more instructions than a warp may execute");
                return false;
            }
            if (!control(w, s, &pc))
                return true;
            continue;
        }
        pc++;
        if (s->control == MX_MESSAGE) {
            if (w->fault.kind != MX_FAULT_NONE)
                return false;
            if (observed && run->yield) {
                pc_store(w->warp, w->active, pc);
                return false;
            }
        }
        if (__builtin_expect(run->reselect, 0)) {
            pc_store(w->warp, w->active, pc);
            return true;
        }
    }
}

static inline __attribute__((always_inline)) void warp_run(struct mx_worker *w, const struct run *run, bool observed) {
    uint64_t count = 0;
    uint32_t pc;
    while (lanes_select(w, &pc) && lanes_run(w, run, pc, &count, observed)) {
    }
    w->instructions += count;
}

static void warp_run_plain(struct mx_worker *w, const struct run *run) {
    warp_run(w, run, false);
}

static void warp_run_observed(struct mx_worker *w, const struct run *run) {
    warp_run(w, run, true);
}

// Lane l of warp i is local invocation 16 i + l, x fastest; what the preload mask asks for, as the facts say.
static void warp_start(struct mx_worker *w, struct mx_warp *warp, uint32_t index, uint32_t threads) {
    const struct mx_job *job = w->job;
    const uint32_t *size = job->local_size, *id = w->group->id;
    uint32_t first = index * MX_LANES, lanes = threads - first < MX_LANES ? threads - first : MX_LANES;
    memset(warp, 0, sizeof *warp);
    warp->index = index;
    warp->live = lanes == MX_LANES ? MX_FULL : (1u << lanes) - 1;
    EACH {
        uint32_t t = first + l, x = t % size[0], y = t / size[0] % size[1], z = t / (size[0] * size[1]);
        uint32_t values[8] = {x | y << 16,
                              z,
                              id[0],
                              id[1],
                              id[2],
                              job->offset[0] + id[0] * size[0] + x,
                              job->offset[1] + id[1] * size[1] + y,
                              job->offset[2] + id[2] * size[2] + z};
        for (unsigned i = 0; i < 8; i++)
            if (job->preload >> (7 + i) & 1)
                warp->registers[55 + i][l] = values[i];
    }
}

// What is a warp's own in the pool.
static void warp_enter(struct mx_worker *w, struct mx_warp *warp) {
    w->warp = warp;
    w->registers = warp->registers;
    w->pool[MX_POOL_WARP_ID] = mx_splat(warp->index);
    EACH {
        uint64_t stack = w->group->stack_base + (warp->index * MX_LANES + l) * w->job->stack_bytes;
        w->pool[MX_POOL_STACK][l] = (uint32_t)stack;
        w->pool[MX_POOL_STACK + 1][l] = (uint32_t)(stack >> 32);
    }
}

static void group_enter(struct mx_worker *w, struct mx_workgroup *group) {
    w->group = group;
    w->pool[MX_POOL_SHARED] = mx_splat((uint32_t)group->shared_base);
    w->pool[MX_POOL_SHARED + 1] = mx_splat((uint32_t)(group->shared_base >> 32));
}

static void group_begin(struct mx_worker *w, struct mx_workgroup *group, struct mx_warp *warps) {
    const struct mx_job *job = w->job;
    uint32_t threads = job->local_size[0] * job->local_size[1] * job->local_size[2];
    group->warp_count = (threads + MX_LANES - 1) / MX_LANES;
    group->warps = warps;
    group_enter(w, group);
    for (uint32_t i = 0; i < group->warp_count; i++)
        warp_start(w, &group->warps[i], i, threads);
    if (w->observer != NULL && w->observer->group_begin != NULL)
        w->observer->group_begin(w->observer->context, group);
}

static void group_end(struct mx_worker *w, struct mx_workgroup *group) {
    if (w->observer != NULL && w->observer->group_end != NULL)
        w->observer->group_end(w->observer->context, group);
}

// Each warp once, as far as it goes. Returns whether any of them can go on without a barrier's end.
static bool warps_run(struct mx_worker *w, struct mx_workgroup *group, const struct run *run) {
    bool more = false;
    group_enter(w, group);
    for (uint32_t i = 0; i < group->warp_count && w->fault.kind == MX_FAULT_NONE; i++) {
        struct mx_warp *warp = &group->warps[i];
        if ((warp->live & ~warp->at_barrier) == 0)
            continue;
        warp_enter(w, warp);
        if (w->observer != NULL)
            warp_run_observed(w, run);
        else
            warp_run_plain(w, run);
        more |= (warp->live & ~warp->at_barrier) != 0;
    }
    return more;
}

static void barrier_open(struct mx_worker *w, struct mx_workgroup *group) {
    if (w->observer != NULL && w->observer->barrier != NULL)
        w->observer->barrier(w->observer->context, group);
    for (uint32_t i = 0; i < group->warp_count; i++)
        group->warps[i].at_barrier = 0;
}

static bool group_done(const struct mx_workgroup *group) {
    uint32_t live = 0;
    for (uint32_t i = 0; i < group->warp_count; i++)
        live |= group->warps[i].live;
    return live == 0;
}

bool mx_groups_run(struct mx_worker *w, const struct mx_core_options *options) {
    const struct mx_program *program = w->program;
    struct run run = {.steps = program->steps,
                      .reselect = options->reconvergence == MX_AT_EVERY_INSTRUCTION,
                      .yield = options->interleave,
                      .limit = options->warp_limit ? options->warp_limit : UINT64_C(1) << 32};
    uint32_t open = w->group_count, taken = 0;
    for (uint32_t g = 0; g < w->group_count; g++) {
        group_begin(w, &w->groups[g], w->warps + taken);
        taken += w->groups[g].warp_count;
    }
    while (open > 0 && w->fault.kind == MX_FAULT_NONE) {
        for (uint32_t g = 0; g < w->group_count && w->fault.kind == MX_FAULT_NONE; g++) {
            struct mx_workgroup *group = &w->groups[g];
            if (group->warps == NULL || warps_run(w, group, &run) || w->fault.kind != MX_FAULT_NONE)
                continue;
            if (group_done(group)) {
                group_end(w, group);
                group->warps = NULL;
                open--;
            } else {
                barrier_open(w, group);
            }
        }
    }
    return w->fault.kind == MX_FAULT_NONE;
}
