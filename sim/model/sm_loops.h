// SPDX-License-Identifier: MIT
// The loops of a program and what they execute, counted by unit, for one warp and one trip. Pure.
//
// A loop is what a backward branch encloses; loops with the same first instruction are one. Both sides of a branch
// inside a loop are counted: lanes of a warp take both when they disagree, and where they agree the count is an upper
// bound.
#pragma once

#include "sm_lanes.h"

#define SM_LOOPS_MAX 64

struct sm_counts {
    uint32_t instructions, fma, cvt, sfu;
    uint32_t ls;          // messages, those below included
    uint32_t stack;       // messages to the spill stack
    uint32_t shared;      // messages to workgroup memory
    uint32_t bytes;       // all messages, all lanes
    uint32_t lines;       // 64-byte lines that the messages touch, those of the stack included
    uint32_t stack_lines; // those of the stack alone
    uint32_t scattered;   // buffer messages that touch a line a lane
    uint32_t dots;        // four-way byte dots: IDPADD.v4s8, .v4u8
    uint32_t fma_f32, fma_v2f16;
};

struct sm_loop {
    size_t first, last;   // instructions, inclusive
    int parent;           // index of the loop around it, -1 at the top
    int depth;            // 0 at the top
    struct sm_counts own; // without the loops inside
};

struct sm_loops {
    struct sm_loop loops[SM_LOOPS_MAX]; // in the order of their first instruction, outer ones first
    int count;
    struct sm_counts outside; // what no loop contains
    uint32_t stack_bytes;     // of a thread, as far as accesses tell
    bool uses_shared;
};

// false, with a line in `error`, when there are more loops than SM_LOOPS_MAX, loops that overlap without one containing
// the other, or no memory.
bool sm_loops_find(const struct sm_asm *program, struct sm_local local, uint32_t stack_lines, struct sm_loops *loops,
                   char *error, size_t error_bytes);

// The loop in which most dots are executed a trip, or most floating-point multiply-adds when there are none; -1: no
// loop.
int sm_loops_hot(const struct sm_loops *loops);

// Multiply-accumulates of a lane that `counts` stands for: from dots, or from FMAs when there are no dots.
uint32_t sm_loops_macs(const struct sm_counts *counts);
