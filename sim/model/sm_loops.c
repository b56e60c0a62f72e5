// SPDX-License-Identifier: MIT
#include "sm_loops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void count(const struct sm_instruction *instruction, const struct sm_access *access, struct sm_counts *c) {
    c->instructions++;
    c->fma += instruction->unit == SM_UNIT_FMA;
    c->cvt += instruction->unit == SM_UNIT_CVT;
    c->sfu += instruction->unit == SM_UNIT_SFU;
    c->ls += instruction->unit == SM_UNIT_LS;
    c->stack += access->space == SM_SPACE_STACK;
    c->shared += access->space == SM_SPACE_SHARED;
    c->bytes += access->bytes;
    c->lines += access->lines;
    c->stack_lines += access->space == SM_SPACE_STACK ? access->lines : 0;
    c->scattered += access->space == SM_SPACE_BUFFER && access->lines >= SM_WARP;
    c->dots += strcmp(instruction->name, "IDPADD") == 0;
    if (strcmp(instruction->name, "FMA") == 0) {
        c->fma_f32 += strncmp(instruction->modifiers, ".f32", 4) == 0;
        c->fma_v2f16 += strncmp(instruction->modifiers, ".v2f16", 6) == 0;
    }
}

static bool add_loop(struct sm_loops *loops, size_t first, size_t last) {
    for (int i = 0; i < loops->count; i++)
        if (loops->loops[i].first == first) {
            loops->loops[i].last = last > loops->loops[i].last ? last : loops->loops[i].last;
            return true;
        }
    if (loops->count == SM_LOOPS_MAX)
        return false;
    loops->loops[loops->count++] = (struct sm_loop){.first = first, .last = last, .parent = -1};
    return true;
}

static int by_first(const void *left, const void *right) {
    size_t a = ((const struct sm_loop *)left)->first, b = ((const struct sm_loop *)right)->first;
    return a < b ? -1 : a > b;
}

// Loops are sorted by their first instruction, which no two share: the parent is the last one before that contains it.
static bool nest(struct sm_loops *loops) {
    for (int i = 0; i < loops->count; i++)
        for (int j = i - 1; j >= 0; j--) {
            struct sm_loop *inner = &loops->loops[i], *outer = &loops->loops[j];
            if (outer->last < inner->first)
                continue;
            if (outer->last < inner->last)
                return false;
            inner->parent = j;
            inner->depth = outer->depth + 1;
            break;
        }
    return true;
}

static int innermost(const struct sm_loops *loops, size_t instruction) {
    for (int i = loops->count - 1; i >= 0; i--)
        if (loops->loops[i].first <= instruction && instruction <= loops->loops[i].last)
            return i;
    return -1;
}

static void count_all(const struct sm_asm *program, const struct sm_access *accesses, struct sm_loops *loops) {
    for (size_t i = 0; i < program->count; i++) {
        int loop = innermost(loops, i);
        count(&program->instructions[i], &accesses[i], loop < 0 ? &loops->outside : &loops->loops[loop].own);
        if (accesses[i].space == SM_SPACE_STACK && accesses[i].last_byte > loops->stack_bytes)
            loops->stack_bytes = accesses[i].last_byte;
        loops->uses_shared |= accesses[i].space == SM_SPACE_SHARED;
    }
}

bool sm_loops_find(const struct sm_asm *program, struct sm_local local, uint32_t stack_lines, struct sm_loops *loops,
                   char *error, size_t error_bytes) {
    *loops = (struct sm_loops){0};
    for (size_t i = 0; i < program->count; i++) {
        int64_t branch = program->instructions[i].branch;
        if (branch < 0 && !add_loop(loops, (size_t)((int64_t)i + 1 + branch), i)) {
            snprintf(error, error_bytes, "more than %d loops", SM_LOOPS_MAX);
            return false;
        }
    }
    qsort(loops->loops, (size_t)loops->count, sizeof loops->loops[0], by_first);
    if (!nest(loops)) {
        snprintf(error, error_bytes, "its loops overlap: not what a structured kernel compiles to");
        return false;
    }
    struct sm_access *accesses = calloc(program->count, sizeof *accesses);
    if (accesses == NULL) {
        snprintf(error, error_bytes, "out of memory");
        return false;
    }
    sm_lanes_run(program, local, stack_lines, accesses);
    count_all(program, accesses, loops);
    free(accesses);
    return true;
}

uint32_t sm_loops_macs(const struct sm_counts *counts) {
    return counts->dots > 0 ? 4 * counts->dots : counts->fma_f32 + 2 * counts->fma_v2f16;
}

int sm_loops_hot(const struct sm_loops *loops) {
    int hot = -1;
    bool dots = false;
    for (int i = 0; i < loops->count; i++)
        dots |= loops->loops[i].own.dots > 0;
    for (int i = 0; i < loops->count; i++) {
        const struct sm_counts *own = &loops->loops[i].own;
        if (dots && own->dots == 0)
            continue;
        if (hot < 0 || sm_loops_macs(own) > sm_loops_macs(&loops->loops[hot].own))
            hot = i;
    }
    return hot;
}
