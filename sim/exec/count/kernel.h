// SPDX-License-Identifier: MIT
// What is counted of one kernel.
#pragma once

#include "../observer.h"
#include "traffic.h"

#define MX_LINES_MAX (2 * MX_LANES)                     // of a message: each lane's bytes may lie in two
enum { MX_ACCESSES = 3, MX_SPACES = 4, MX_WIDTHS = 5 }; // widths: up to 8, 16, 32, 64, 128 bits a lane

struct mx_kernel {
    struct mx_kernel *next;
    uint64_t hash;
    uint32_t length;
    struct mx_insn *insns; // a copy: the program may be forgotten
    uint64_t *executed;    // of each instruction, by warps
    uint64_t lanes;        // that were active, of all instructions
    uint64_t dispatches, groups, warps;
    // Of the last dispatch.
    uint32_t registers, threads, resident_threads;
    uint64_t stack_bytes, shared_bytes;
    uint64_t messages[MX_ACCESSES][MX_SPACES][MX_WIDTHS]; // with at least one lane in bounds
    uint64_t addresses;                                   // LEA_PKA
    uint64_t touched[MX_LINES_MAX + 1];                   // messages by the lines that they touch
    uint64_t lines[MX_SPACES];
    uint64_t stack_lines_apart; // of stack messages, if each lane's stack were in one piece
    uint64_t beats; // of a message: its lines, or the lanes' registers in pieces of 64 bytes, whichever are more
    uint64_t bytes[MX_SPACES];    // that lanes moved
    uint64_t waits, waits_missed; // loads and atomics; those of which a line was not in the L1
    struct mx_traffic_counts traffic;
};

// The kernel of this program in the list, made anew when it is not there. NULL: no memory.
struct mx_kernel *mx_kernel_get(struct mx_kernel **list, const struct mx_program *program);
void mx_kernel_free(struct mx_kernel *kernel);

// Notes a dispatch's registers, workgroup and occupancy.
void mx_kernel_dispatch(struct mx_kernel *kernel, const struct mx_job *job);

// Issue slots that one execution takes of its unit: an instruction with a 64-bit result takes two.
uint32_t mx_kernel_slots(const struct mx_insn *insn);
