// SPDX-License-Identifier: MIT
// Time of one dispatch from the loops of its machine code. Pure.
//
//   slots = sum over loops of trips * own counts, and what no loop contains, for one warp
//   alu   = max(FMA + CVT + SFU, sfu_slots * SFU) / issue_per_clock            clocks of a core
//   ls    = lines / lines_per_clock                                            clocks of a core
//   gpu   = warps / cores * (max(alu, ls) + (1 - overlap) * min(alu, ls)) / hz seconds
//   time  = max(gpu, dram bytes / dram rate) + dispatch
//
// Latency is not modelled: 64 (or 128) warps a core hide it as long as all of them have something to issue.
#pragma once

#include "sm_constants.h"
#include "sm_loops.h"

struct sm_kernel {
    struct sm_loops loops;
    struct sm_local local;
    int64_t registers, spills, fills; // as the driver states them, -1: not stated
};

struct sm_launch {
    double trips[SM_LOOPS_MAX]; // of each loop, each time the loop around it makes a trip
    double groups;              // workgroups
    double dram_bytes;
};

struct sm_slots {                                       // of one warp, all trips
    double fma, cvt, sfu, ls, lines, stack_lines, macs; // macs: of all 16 lanes
};

struct sm_time {
    struct sm_slots slots;
    double warps, alu_s, ls_s, dram_s;
    double raw_s;   // ALU alone
    double total_s; // everything, the dispatch's fixed cost included
};

// Reads a dump (see sm_asm.h). false with a line in `error`.
bool sm_kernel_read(const char *path, struct sm_local local, const struct sm_constants *constants,
                    struct sm_kernel *kernel, char *error, size_t error_bytes);

// The same, and what the dump says; the caller frees both, *program first.
bool sm_kernel_read_text(const char *path, struct sm_local local, const struct sm_constants *constants,
                         struct sm_kernel *kernel, struct sm_asm *program, char **text, char *error,
                         size_t error_bytes);

struct sm_time sm_kernel_time(const struct sm_kernel *kernel, const struct sm_launch *launch,
                              const struct sm_constants *constants);
