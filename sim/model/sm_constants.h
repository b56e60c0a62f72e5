// SPDX-License-Identifier: MIT
// Every number that the model takes from outside, with its origin. docs/speed-model.md prints this table by
// `sim-model constants`. Pure.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// The table is X(name, default, unit, origin); each name is a field of struct sm_constants.
#define SM_CONSTANTS(X)                                                                                                \
    X(gpu_cores, 4, "", "Mali-G610 MC4 of the RK3588; shader_present 0x50005 has four bits")                           \
    X(gpu_hz, 1e9, "Hz", "RK3588's rated clock; some mainline device trees stop at 850 MHz")                           \
    X(issue_per_clock, 4, "warps/clock/core",                                                                          \
      "Mali-G610: 64 FMA lanes a core and clock, 16 lanes a warp; FMA, CVT, SFU share the slots")                      \
    X(sfu_slots, 4, "slots", "Arm, The Valhall Shader Core (as public notes cite it): the SFU is a quarter as wide")   \
    X(lines_per_clock, 1, "lines/clock/core", "same: one cycle when all lanes of a warp hit one 64-byte line")         \
    X(stack_lines, 16, "lines", "assumed: a line a lane; of 16, 8 and 4 only 16 fits both points with integer tiles")  \
    X(overlap, 1, "0..1", "assumed: share of the shorter of ALU and load/store that hides; 1 fits both points best")   \
    X(threads, 1024, "threads/core", "Valhall: 2048 a core with up to 32 registers, half with up to 64")               \
    X(l2_bytes, 1048576, "B", "Mali-G610 of the RK3588: 1 MiB, four slices of 256 KiB (l2_features 0x7120306)")        \
    X(l2_bytes_per_clock, 16, "B/clock/core",                                                                          \
      "Arm's HWCPipe: bytes read from the L2 are beats x 16; assumed: a beat a clock, for write-backs too. Dynamic "   \
      "counts only")                                                                                                   \
    X(l1_latency, 32, "clocks", "assumed, no figure is published. Dynamic counts only")                                \
    X(l2_latency, 100, "clocks", "assumed, no figure is published. Dynamic counts only")                               \
    X(dram_latency, 256, "clocks",                                                                                     \
      "Arm's profiling guide: reads above 256 clocks tell of overload. Dynamic counts only")                           \
    X(dram_bytes_per_s, 27e9, "B/s", "published clpeak result on the RK3588's GPU")                                    \
    X(dispatch_s, 10e-6, "s", "assumed: barrier, cache flush and start of a job on the command stream")                \
    X(submit_s, 200e-6, "s", "assumed: ioctl, scheduling group, interrupt, wake-up of the waiting thread")             \
    X(split_s, 50e-6, "s", "assumed: ggml's scheduler between two splits, its thread pool's start and end")            \
    X(maintain_bytes_per_s, 8e9, "B/s", "assumed: cleaning CPU cache lines of non-coherent memory, one core")          \
    X(cpu_cores, 4, "", "Cortex-A76 of the RK3588")                                                                    \
    X(cpu_hz, 2.3e9, "Hz", "RK3588: 2.2 to 2.4 GHz by speed bin")                                                      \
    X(cpu_macs_per_clock, 8, "MAC/clock/core", "Cortex-A76: two 128-bit floating-point pipes, an fp32 FMLA each")      \
    X(cpu_efficiency, 0.25, "0..1",                                                                                    \
      "published CPU prefill of a 3B model, 22 and 40 t/s: 21 and 38 % of four cores' SDOT peak")                      \
    X(cpu_bytes_per_s, 17e9, "B/s",                                                                                    \
      "published for an RK3588 module (Turing RK1): 17 to 22 GB/s sequential; the lower end")                          \
    X(cpu_exp_clocks, 2, "clocks/value", "estimate: about 16 NEON operations for four values, two a clock")            \
    X(cpu_sincos_clocks, 100, "clocks/pair", "estimate: scalar sinf and cosf of libm, about 50 clocks each")           \
    X(derate, 1, "0..1", "published/modelled of a point: --derate-by NAME sets it, 1 at most")

struct sm_constants {
#define SM_CONSTANT_FIELD(name, value, unit, origin) double name;
    SM_CONSTANTS(SM_CONSTANT_FIELD)
#undef SM_CONSTANT_FIELD
};

struct sm_constant {
    const char *name, *unit, *origin;
    double value;
    size_t offset; // of the field in struct sm_constants
};

extern const struct sm_constant sm_constants_table[];
extern const size_t sm_constants_count;

struct sm_constants sm_constants_default(void);

// "name=value"; false when there is no such constant or the value is no positive number (zero is a value for overlap
// and the fixed costs).
bool sm_constants_set(struct sm_constants *constants, const char *assignment);
