// SPDX-License-Identifier: MIT
// The checker's own state, shared by its files: check.c (life of jobs and groups), taint.c (undefined values),
// message.c (memory), nan.c.
#pragma once

#include "../observer.h"
#include "check.h"
#include "finding.h"
#include "kernel.h"
#include "race.h"
#include "range.h"
#include "touched.h"

// Where an undefined value came from; combined, the highest wins.
enum mx_origin { MX_ORIGIN_NONE, MX_ORIGIN_REGISTER, MX_ORIGIN_STACK, MX_ORIGIN_SHARED, MX_ORIGIN_BUFFER };

// Beside a warp's registers.
struct mx_shadow {
    mx_u32 undefined[64];           // bits that nobody wrote
    uint8_t origin[64][MX_LANES];   // enum mx_origin, where undefined
    uint16_t pointer[64][MX_LANES]; // the range (range.h) that the pointer in it may use
    uint64_t tainted, pointers;     // bits: registers that have any of it
};

// What the instruction between `before` and `after` will leave.
struct mx_pending {
    mx_u32 undefined[4];
    uint8_t origin[MX_LANES];
    uint16_t pointer[MX_LANES];
    bool tainted, has_pointer;
    mx_u32 overwritten; // a float operand in the register that the result goes to: NaN origins are looked at afterwards
};

// Undefined bits of memory, a byte for a byte.
struct mx_area {
    uint8_t *undefined;
    uint64_t size_bytes, capacity_bytes; // size 0: the kernel does not use it
};

// One host thread's: nobody else touches it during a job.
struct mx_check_worker {
    struct mx_shadow *shadows; // MX_WARPS_MAX
    struct mx_pending pending;
    struct mx_area stack, shared;
    struct mx_race_map *shared_races;
    struct mx_ranges ranges;
    const struct mx_region *region;   // that the last access lay in; of this job
    uint32_t group_serial;            // workgroups so far: tells workgroup memory's users apart
    uint32_t epoch;                   // barriers of the workgroup so far
    const struct mx_workgroup *group; // looked at; NULL: none
    uint64_t unseen_groups;           // for want of memory, or since another one was open (mx_core_options.interleave)
};

struct mx_check {
    struct mx_observer observer;
    struct mx_findings *findings;
    struct mx_touched *touched; // NULL: not asked
    struct mx_race_map *races;  // of buffers
    struct mx_check_kernel *kernels;
    const struct mx_check_kernel *kernel; // of the running job; NULL: not looked at
    struct mx_check_worker **workers;
    uint32_t worker_count;
    uint64_t unseen_jobs; // for want of memory
};

// The moment that all look at.
struct mx_moment {
    struct mx_check *check;
    struct mx_check_worker *worker;
    const struct mx_workgroup *group;
    const struct mx_warp *warp;
    const struct mx_insn *insn;
    const struct mx_check_insn *known;
    struct mx_shadow *shadow;
};

void mx_moment_report(const struct mx_moment *moment, enum mx_finding_kind kind, uint32_t lanes,
                      const uint64_t *address, const char *text);

// taint.c
void mx_taint_before(const struct mx_moment *moment);
void mx_taint_after(const struct mx_moment *moment);
// Which lanes of these have an undefined bit among `bytes` from the register on.
uint32_t mx_taint_lanes(const struct mx_shadow *shadow, uint32_t first_register, uint32_t bytes, uint32_t lanes);
// Reports lanes whose undefined value decides something, and takes it for defined from then on: one fault, one report.
void mx_taint_report(const struct mx_moment *moment, uint64_t registers, uint32_t lanes, const uint64_t *address,
                     const char *const text[2]); // from a register, from memory

// message.c
void mx_message_check(const struct mx_moment *moment, const struct mx_message *message);
void mx_message_pointer(const struct mx_moment *moment, const struct mx_message *message);

// nan.c
void mx_nan_before(const struct mx_moment *moment);
void mx_nan_after(const struct mx_moment *moment);

// An operand's value in one lane (a pair: 64 bits).
uint64_t mx_operand(const struct mx_moment *moment, uint32_t source, uint32_t lane);
