// SPDX-License-Identifier: MIT
// How the 16 lanes of a warp address memory: a symbolic run of a program for the first warp of a workgroup that finds,
// for each message, how many 64-byte lines it touches. Pure.
//
// A register holds, for each lane, its distance from a base that all lanes share and that is taken as aligned
// (workgroup ids, push constants and what is loaded from a uniform address have distance 0). Unknown uniform factors
// count as large: rows of a matrix lie in different lines. What cannot be followed (loaded indices) scatters: a line a
// lane.
#pragma once

#include "sm_asm.h"

#define SM_WARP 16
#define SM_LINE_BYTES 64

// The shape of a workgroup, which decides the local ids of a warp's lanes (x fastest).
struct sm_local {
    uint32_t x, y, z;
};

struct sm_access {
    enum sm_space space;
    uint32_t lines;     // 64-byte lines that a warp touches
    uint32_t bytes;     // of all lanes together
    uint32_t last_byte; // stack only: where the access ends in the thread's own area
};

// accesses[i] describes program->instructions[i]; of those without memory access, space is SM_SPACE_NONE. `accesses`
// has program->count elements. A stack access counts `stack_lines` lines, whatever its width.
void sm_lanes_run(const struct sm_asm *program, struct sm_local local, uint32_t stack_lines,
                  struct sm_access *accesses);
