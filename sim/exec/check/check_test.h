// SPDX-License-Identifier: MIT
// check_test: the checker in front of a core that is played by hand: each test calls the observer as a core would, and
// asks for the report. What its files share. Names of operations, programs and memory are the test's own (fake.c).
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "../observer.h"
#include "check.h"

#define FAKE_INSNS_MAX 16
#define FAKE_WARPS 4
#define FAKE_STACK 0x10000000u
#define FAKE_SHARED 0x20000000u
#define FAKE_BUFFER 0x30000000u
#define FAKE_BUFFER_BYTES 65536u
#define FAKE_TABLE (FAKE_BUFFER + 0x8000) // resource table, and descriptors after it

struct mx_program {
    uint32_t count;
    struct mx_insn insns[FAKE_INSNS_MAX];
};

// A job of workgroups of four full warps, 64 bytes of stack a thread, 1024 bytes of workgroup memory, and a buffer.
struct fake {
    struct mx_check *check;
    const struct mx_observer *observer;
    struct mx_program program;
    struct mx_job job;
    struct mx_workgroup group;
    struct mx_warp *warps;
    uint8_t *memory; // behind FAKE_BUFFER
    int memory_fd;
};

struct test {
    const char *name;
    void (*run)(struct fake *fake);
};

// One table a file, ended by a test without a name.
extern const struct test rule_tests[], taint_tests[], memory_tests[], race_tests[], coherent_tests[];

#define CHECK(condition) test_check((condition), __FILE__, __LINE__, #condition)
#define CHECK_EQUAL(value, wanted) test_check_equal((int64_t)(value), (int64_t)(wanted), __FILE__, __LINE__, #value)
void test_check(bool good, const char *file, int line, const char *condition);
void test_check_equal(int64_t value, int64_t wanted, const char *file, int line, const char *expression);

// Operands.
struct mx_source fake_register(uint8_t index, uint8_t words);
struct mx_source fake_zero(void);
struct mx_source fake_pointer(void); // to the stack or workgroup memory: which, the word says

#define WORD_STACK (UINT64_C(1) << 57 | 0xe2)
#define WORD_SHARED (UINT64_C(1) << 57 | 0xe6)
#define WORD_LOAD_I32 (UINT64_C(1) << 39)

// Adds an instruction; returns its index. Sources end at one with words 0.
uint32_t fake_insn(struct fake *fake, const char *name, uint64_t word, uint8_t written, uint8_t written_count,
                   const struct mx_source sources[4]);
#define SOURCES(...) ((const struct mx_source[4]){__VA_ARGS__})

// The checker sees: the job begins; one workgroup after the other; the job ends.
void fake_job(struct fake *fake);
void fake_group(struct fake *fake, uint32_t number); // ends the one before, but when it is the first, 0
void fake_end(struct fake *fake);

// One instruction of a warp, all lanes of which get that value in all registers it writes.
void fake_run(struct fake *fake, uint32_t warp, uint32_t insn, uint32_t value);

// A message: lane l accesses address + l * stride. Memory is changed by the test.
void fake_message(struct fake *fake, uint32_t warp, uint32_t insn, const struct mx_message *message, uint64_t address,
                  uint64_t stride);
// A LEA_PKA of the buffer's first descriptor (64 bytes at FAKE_BUFFER) to r0:r1.
void fake_address(struct fake *fake, uint32_t warp, uint32_t insn);

// How many findings of that kind the report has; -1: any kind. And the first one's occurrences.
int fake_findings(struct fake *fake, const char *kind);
int fake_occurrences(struct fake *fake, const char *kind);
