// SPDX-License-Identifier: MIT
// core_test: what its files share. Programs are assembled by hand into an address space of a few regions, run, and what
// they leave in memory is looked at.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "../core.h"
#include "../unit.h"

// One table a file, ended by a test without a name.
extern const struct test decode_tests[], flow_tests[], message_tests[], fault_tests[], job_tests[];

// ---- the address space

#define CODE UINT64_C(0x10000)       // executable, read-only
#define DATA UINT64_C(0x100000)      // what programs work on
#define TABLES UINT64_C(0x200000)    // resource tables and descriptors
#define READ_ONLY UINT64_C(0x300000) // not executable
#define STACK UINT64_C(0x1000000)    // 64 bytes a thread, four workers
#define SHARED UINT64_C(0x2000000)
#define NOWHERE UINT64_C(0x3000000)
#define DATA_BYTES 65536
#define STACK_THREAD_BYTES 64
#define SHARED_BYTES 4096
#define WORKERS 4

struct bench {
    struct mx_memory *memory;
    uint64_t *code;
    uint32_t *data;
    uint64_t *tables;
    uint32_t words; // of the code so far
    struct mx_job job;
    struct mx_core_options options;
    struct mx_fault fault;
    struct mx_core_stats stats;
};
extern struct bench
    bench; // anew for every test: a job of 16 x 1 x 1 threads, all preloads, u0-u1 = DATA, one host thread

void bench_renew(void);
bool bench_run(void); // in a core of its own

// ---- the assembler

// Source bytes.
#define R(n) ((uint64_t)(n))
#define U(n) ((uint64_t)(n) | 0x80)
#define K(n) ((uint64_t)(n) | 0xc0)
#define ZERO K(0)
#define ONES K(1)
#define SPECIAL(entry) ((uint64_t)(entry)*2 | 0xe0)
#define PAGE(n) ((uint64_t)(n) << 57)
#define STACK_POINTER SPECIAL(1) // with PAGE(1)
#define SHARED_POINTER SPECIAL(3)
#define LANE_ID SPECIAL(1) // with PAGE(3)

enum { EQ, GT, GE, NE, LT, LE };
enum { I8, I16, I24, I32, I48, I64, I96, I128 };
#define RECONVERGE (UINT64_C(10) << 59)
#define END (UINT64_C(15) << 59)

uint32_t emit(uint64_t word);               // returns its index
void emit_target(uint32_t branch);          // the next instruction is the branch's target
void emit_back(uint64_t word, uint32_t to); // a branch to an instruction that is there already
void emit_store(unsigned value);            // r[value] goes to word r60 (global id x) of DATA; uses r48-r51
void emit_end(void);

static inline uint64_t i_alu(unsigned opcode, unsigned d, uint64_t a, uint64_t b, uint64_t c) {
    return (uint64_t)opcode << 48 | UINT64_C(3) << 46 | (uint64_t)d << 40 | c << 16 | b << 8 | a;
}
static inline uint64_t i_mov(unsigned d, uint64_t a) {
    return i_alu(0x91, d, a, 0, 0);
}
static inline uint64_t i_add(unsigned d, uint64_t a, uint64_t b) {
    return i_alu(0xa8, d, a, b, 0);
}
static inline uint64_t i_sub(unsigned d, uint64_t a, uint64_t b) {
    return i_alu(0xa8, d, a, b, 1);
}
static inline uint64_t i_mul(unsigned d, uint64_t a, uint64_t b) {
    return i_alu(0xa0, d, a, b, 10);
}
static inline uint64_t i_add_immediate(unsigned d, uint64_t a, uint32_t immediate) {
    return i_alu(0x110, d, a, 0, 0) | (uint64_t)immediate << 8;
}
// The amount is byte 0 of the source.
static inline uint64_t i_shift_left(unsigned d, uint64_t a, uint64_t amount) {
    return i_alu(0xb4, d, a, amount, ZERO) | UINT64_C(0x101) << 24 | UINT64_C(4) << 26;
}
static inline uint64_t i_and(unsigned d, uint64_t a, uint64_t b) {
    return i_alu(0xb4, d, a, ZERO, b) | UINT64_C(0x100) << 24 | UINT64_C(4) << 26;
}
// -1 where the unsigned comparison is true, else 0.
static inline uint64_t i_compare(unsigned d, unsigned condition, uint64_t a, uint64_t b) {
    return i_alu(0xf0, d, a, b, ZERO) | (uint64_t)condition << 32 | UINT64_C(2) << 30;
}
static inline uint64_t i_add64(unsigned d, uint64_t a, uint64_t b) {
    return i_alu(0x1ab, d, a, b, 7);
}
// Jumps where the source is (not) zero; the target is told afterwards.
static inline uint64_t i_branch(uint64_t a, bool when_zero) {
    return UINT64_C(0x1f) << 48 | UINT64_C(3) << 46 | (uint64_t)when_zero << 36 | RECONVERGE | a;
}
static inline uint64_t i_barrier(void) {
    return UINT64_C(0x45) << 48 | UINT64_C(3) << 46 | UINT64_C(7) << 30 | UINT64_C(9) << 59;
}
static inline uint64_t i_message(unsigned opcode, unsigned width, unsigned first, unsigned count) {
    return (uint64_t)opcode << 48 | (uint64_t)first << 40 | (uint64_t)count << 33 | (uint64_t)width << 27;
}
// Zero-extends into the lowest place that the width has.
static inline uint64_t i_load(unsigned width, unsigned first, uint64_t address, int16_t offset) {
    static const uint8_t count[8] = {1, 1, 1, 1, 2, 2, 3, 4}, lane[8] = {0, 0, 0, 0, 4, 7, 6, 7};
    return i_message(0x60, width, first, count[width]) | UINT64_C(2) << 46 | UINT64_C(1) << 39 |
           (uint64_t)lane[width] << 36 | (uint64_t)(uint16_t)offset << 8 | address;
}
static inline uint64_t i_store(unsigned width, unsigned first, uint64_t address, int16_t offset) {
    static const uint8_t count[8] = {1, 1, 1, 1, 2, 2, 3, 4};
    return i_message(0x61, width, first, count[width]) | UINT64_C(1) << 46 | (uint64_t)(uint16_t)offset << 8 | address;
}
static inline uint64_t i_ld_pka(unsigned width, unsigned first, uint64_t offset, uint64_t handle) {
    static const uint8_t count[8] = {1, 1, 1, 1, 2, 2, 3, 4}, lane[8] = {0, 0, 0, 0, 4, 7, 6, 7};
    return i_message(0x6a, width, first, count[width]) | UINT64_C(2) << 46 | UINT64_C(1) << 39 |
           (uint64_t)lane[width] << 36 | handle << 8 | offset;
}
static inline uint64_t i_lea_pka(unsigned first, uint64_t offset, uint64_t handle) {
    return i_message(0x6b, 0, first, 2) | UINT64_C(2) << 46 | handle << 8 | offset;
}
// Reads from r[from] on, returns the old value in r[d]; words: 1 or 2. With compare: new value, then what is expected.
static inline uint64_t i_atomic(unsigned operation, unsigned words, bool compare, unsigned d, unsigned from,
                                uint64_t address) {
    return i_message(0x120, words == 2 ? I64 : I32, from, compare ? 2 * words : words) | UINT64_C(3) << 46 |
           (uint64_t)(words - 1) << 36 | (uint64_t)compare << 26 | (uint64_t)operation << 22 | (uint64_t)d << 16 |
           address;
}
