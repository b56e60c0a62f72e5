// SPDX-License-Identifier: MIT
// The environment variables PANTHOR_SIM_*: what the simulated machine is like, and what goes wrong on it.
#pragma once

#include <stdint.h>

struct ps_gpu;

struct ps_knobs {
    const struct ps_gpu *gpu;
    const char *exec;         // the program that executes what is submitted; NULL: nothing is executed
    const char *exec_options; // its options, between blanks; NULL: none
    const char *report;       // file, in which %p stands for the process id; NULL: none
    uint64_t minor;           // of the driver's version 1.minor
    uint64_t ram_mib;         // what sysinfo tells
    uint64_t bo_limit_mib;    // of all buffer objects; 0: none
    uint64_t heap_limit_mib;  // of the mappings below 4 GiB in one address space; 0: none
    uint64_t lose_at;         // the submission, from 1, from which on each one faults; 0: none
    uint64_t hang_at;         // the submission that never ends; 0: none
    uint64_t job_timeout_ms;  // until the kernel gives a hung job up; 0: never
    uint64_t flushes;         // 1: the driver's cache maintenance is seen (cache.h)
    uint64_t log;             // PS_LOG_*
};

// Read at the first call. A value that makes no sense ends the process with status 2 after one line: a simulation with
// a misread knob would prove something else than it says.
const struct ps_knobs *ps_knobs(void);
