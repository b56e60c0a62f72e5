// SPDX-License-Identifier: MIT
// What may look on while a job executes: the counters (count.h) and the checker (check.h). Without an observer the core
// takes a faster way that has no such calls.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "insn.h"
#include "job.h"
#include "lanes.h"

#define MX_WARPS_MAX 128 // of a workgroup: 2048 threads

// One warp's state. Only the core changes it, apart from the checker's poison at thread start.
struct mx_warp {
    mx_u32 registers[64];
    uint32_t pc[MX_LANES]; // index of the next instruction; meaningful for waiting lanes only while others run
    uint32_t live;         // bits: lanes that have not ended
    uint32_t active;       // bits: lanes that execute the current instruction
    uint32_t at_barrier;   // bits: lanes that wait there
    uint32_t index;        // in the workgroup: lane l is local invocation 16 index + l
};

struct mx_workgroup {
    const struct mx_job *job;
    const struct mx_program *program;
    uint32_t id[3];
    uint32_t linear; // its number in the natural order
    uint32_t warp_count;
    struct mx_warp *warps;
    uint64_t stack_base; // of lane 0 of warp 0; thread t has stack_base + t * job->stack_bytes
    uint64_t shared_base;
    uint32_t worker; // host thread that executes it, from 0; groups of one worker overlap only when interleaved
    uint32_t core;   // the modelled shader core: its number in the natural order, modulo MX_MODELLED_CORES
};

enum mx_access { MX_LOAD, MX_STORE, MX_ATOMIC };

// How an address came about.
enum mx_space { MX_SPACE_POINTER, MX_SPACE_BUFFER, MX_SPACE_STACK, MX_SPACE_SHARED };

struct mx_message {
    enum mx_access access;
    enum mx_space space;
    uint32_t lanes;             // bits: that take part and are in bounds
    uint32_t out_of_bounds;     // bits: beyond the descriptor's size, or through a pointer made so: reads 0, dropped
    uint32_t bytes;             // a lane
    uint64_t address[MX_LANES]; // of the lanes that take part
    uint32_t handle[MX_LANES];  // MX_SPACE_BUFFER
};

// Calls come from the worker that executes the workgroup. Any may be NULL. A job is over when job_end has returned.
struct mx_observer {
    void *context;
    void (*job_begin)(void *context, const struct mx_job *job, const struct mx_program *program, uint32_t workers);
    void (*group_begin)(void *context, const struct mx_workgroup *group);
    // Before the instruction takes effect (what: its sources) and after it (its destination).
    void (*before)(void *context, const struct mx_workgroup *group, const struct mx_warp *warp,
                   const struct mx_insn *insn);
    void (*after)(void *context, const struct mx_workgroup *group, const struct mx_warp *warp,
                  const struct mx_insn *insn);
    // A LOAD, STORE, LD_PKA or atomic; before memory changes.
    void (*message)(void *context, const struct mx_workgroup *group, const struct mx_warp *warp,
                    const struct mx_insn *insn, const struct mx_message *message);
    // LEA_PKA: which buffer a later STORE's or atomic's pointer is of.
    void (*address)(void *context, const struct mx_workgroup *group, const struct mx_warp *warp,
                    const struct mx_insn *insn, const struct mx_message *message);
    void (*barrier)(void *context, const struct mx_workgroup *group); // all live threads have arrived
    void (*group_end)(void *context, const struct mx_workgroup *group);
    // A recognised copy kernel, done without executing it.
    void (*copy)(void *context, const struct mx_job *job, uint64_t source, uint64_t destination, uint64_t bytes);
    void (*job_end)(void *context, const struct mx_job *job, bool finished);
};
