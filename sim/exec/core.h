// SPDX-License-Identifier: MIT
// The shader core: executes jobs, on several host threads. Results do not depend on their number, nor on the order of
// workgroups, nor on the reconvergence rule, unless the program has a race.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "job.h"
#include "observer.h"

// When the set of lanes that run together is chosen anew (the live ones with the smallest pc): valhall-isa.md, 4.
enum mx_reconvergence { MX_AT_BRANCHES, MX_AT_EVERY_INSTRUCTION };

#define MX_MODELLED_CORES 4 // of the Mali-G610 MC4

struct mx_core_options {
    uint32_t threads; // host threads; 0: as many as the machine has
    uint64_t shuffle; // seed of a random order of workgroups; 0: x fastest, then y, z
    enum mx_reconvergence reconvergence;
    uint64_t warp_limit; // instructions that one warp may execute in one job; 0: 2^32. Beyond it: MX_FAULT_ENDLESS
    // For counting: one host thread, and the warps that a modelled core holds at once give way to each other after
    // every message, so that what they share in its caches is found there. Needs an observer.
    bool interleave;
    bool no_shortcuts;                  // the driver's copy kernels are executed, too
    const struct mx_observer *observer; // NULL: none. Must live as long as the core
};

struct mx_core;

struct mx_core *mx_core_new(const struct mx_core_options *options); // NULL: no memory, or no threads
void mx_core_free(struct mx_core *core);

// Executes all of it, then returns. False: *fault says why, and the job is unfinished. One call at a time.
bool mx_core_run(struct mx_core *core, const struct mx_job *job, struct mx_fault *fault);

// Forgets decoded programs whose code lies there: to be called when memory is unmapped or mapped anew. Programs are
// compared with memory anyway at the start of a job.
void mx_core_forget(struct mx_core *core, uint64_t begin, uint64_t size_bytes);

struct mx_core_stats {
    uint64_t jobs, copies; // copies: jobs that were recognised as the driver's and done as such
    uint64_t warp_instructions;
    uint64_t busy_ns; // inside mx_core_run, wall clock
};
const struct mx_core_stats *mx_core_stats(const struct mx_core *core);
