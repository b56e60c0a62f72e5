// SPDX-License-Identifier: MIT
// Time of dispatches from what was counted while the simulated Mali executed them (mali-exec --count:
// sim/exec/count/README.md). Pure.
//
//   alu     = max(FMA + CVT + SFU, sfu_slots * SFU) / issue_per_clock               clocks of all warps
//   ls      = lines / lines_per_clock
//   l2      = l2_requests * 64 / l2_bytes_per_clock
//   latency = (waits at L1's, L2's, DRAM's latency) / warps that a core holds: a warp has one message in flight
//   gpu     = max(alu, ls, l2, latency) / gpu_cores / gpu_hz seconds, with `overlap` as in sm_kernel.h
//   time    = max(gpu, dram_bytes / dram_bytes_per_s) + dispatches * dispatch_s
#pragma once

#include <jansson.h>

#include "sm_constants.h"

// What is counted, summed over dispatches: X(field, name in the report, object in the report or NULL).
#define SM_DYNAMIC_FIELDS(X)                                                                                           \
    X(dispatches, "dispatches", NULL)                                                                                  \
    X(groups, "groups", NULL)                                                                                          \
    X(warps, "warps", NULL)                                                                                            \
    X(instructions, "warp_instructions", NULL)                                                                         \
    X(fma, "fma", "slots")                                                                                             \
    X(cvt, "cvt", "slots")                                                                                             \
    X(sfu, "sfu", "slots")                                                                                             \
    X(ls, "ls", "slots")                                                                                               \
    X(lines, "lines", NULL)                                                                                            \
    X(beats, "beats", NULL)                                                                                            \
    X(stack_lines, "stack_lines", NULL)                                                                                \
    X(l1_hits, "l1_hits", NULL)                                                                                        \
    X(l2_requests, "l2_requests", NULL)                                                                                \
    X(l2_hits, "l2_hits", NULL)                                                                                        \
    X(waits, "waits", NULL)                                                                                            \
    X(waits_missed, "waits_missed", NULL)                                                                              \
    X(dram_read_bytes, "dram_read_bytes", NULL)                                                                        \
    X(dram_bytes, "dram_bytes", NULL)

struct sm_dynamic {
#define SM_DYNAMIC_FIELD(field, name, object) double field;
    SM_DYNAMIC_FIELDS(SM_DYNAMIC_FIELD)
#undef SM_DYNAMIC_FIELD
    double resident_warps; // that a core holds at most
};

struct sm_dynamic_time { // seconds
    double alu_s, ls_s, l2_s, latency_s, dram_s, total_s;
};

// A kernel of the report. *missing: the first field that is not there, when false.
bool sm_dynamic_read(const json_t *kernel, struct sm_dynamic *counts, const char **missing);

// a + share * (b - a), everything times `times`. What a core holds is taken from a.
struct sm_dynamic sm_dynamic_between(const struct sm_dynamic *a, const struct sm_dynamic *b, double share,
                                     double times);

struct sm_dynamic_time sm_dynamic_time(const struct sm_dynamic *counts, const struct sm_constants *constants);
