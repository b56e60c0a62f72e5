// SPDX-License-Identifier: MIT
// stream_test: what its files share. Streams are written by hand, and a mock core (mock_core.c) only notes the jobs.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "../core.h"
#include "../unit.h"

// One table a file, ended by a test without a name.
extern const struct test memory_tests[], stream_tests[], job_tests[], machine_tests[];

// ---- the mock core

#define MOCK_JOBS 16
#define MOCK_FAULTY UINT64_C(0xbad000) // code at which it faults
#define MOCK_SLOW UINT64_C(0x510000)   // code at which it runs until mock_slow_end is set
struct mock {
    uint32_t count;
    struct mx_job jobs[MOCK_JOBS];
    bool slow_runs, slow_end; // atomic
};
extern struct mock mock;

// ---- instructions

static inline uint64_t i_move48(unsigned d, uint64_t value) {
    return UINT64_C(1) << 56 | (uint64_t)d << 48 | value;
}
static inline uint64_t i_move32(unsigned d, uint32_t value) {
    return UINT64_C(2) << 56 | (uint64_t)d << 48 | value;
}
// Operands at D (55:48), A (47:40) and S (39:32), and the low word.
static inline uint64_t i_any(unsigned opcode, unsigned d, unsigned a, unsigned s, uint32_t low) {
    return (uint64_t)opcode << 56 | (uint64_t)d << 48 | (uint64_t)a << 40 | (uint64_t)s << 32 | low;
}
static inline uint64_t i_branch(unsigned condition, unsigned a, int16_t offset) {
    return i_any(22, 0, a, 0, condition << 28 | (uint16_t)offset);
}
static inline uint64_t i_words(bool load, unsigned d, unsigned a, uint16_t mask, int16_t offset) {
    return i_any(load ? 20 : 21, d, a, 0, (uint32_t)mask << 16 | (uint16_t)offset);
}
enum { CALL = 32, JUMP = 33, ADD32 = 37, SET32 = 38, WAIT32 = 39, ADD64 = 51, SET64 = 52, WAIT64 = 53 };
#define ABOVE (UINT32_C(1) << 28) // the condition of a wait: memory > register; 0: memory <= register
