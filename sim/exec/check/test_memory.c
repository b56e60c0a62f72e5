// SPDX-License-Identifier: MIT
// Uninitialised memory, and bounds.
#include <string.h>

#include "check_test.h"

static const struct mx_message load_message = {.access = MX_LOAD}, store_message = {.access = MX_STORE};

// A load to r5 through that pointer, a branch on it, and a store of r60.
struct accesses {
    uint32_t load, branch, store;
};

static struct accesses accesses_add(struct fake *fake, uint64_t word) {
    struct accesses accesses;
    accesses.load = fake_insn(fake, "LOAD.i32", WORD_LOAD_I32 | word, 5, 1, SOURCES(fake_pointer()));
    accesses.branch = fake_insn(fake, "BRANCHZ", 0, 0, 0, SOURCES(fake_register(5, 1)));
    accesses.store = fake_insn(fake, "STORE.i32", word, 0, 0, SOURCES(fake_pointer(), fake_register(60, 1)));
    return accesses;
}

static void kept_memory(struct fake *fake, uint64_t word, uint64_t address, uint64_t stride) {
    struct accesses a = accesses_add(fake, word);
    fake_job(fake);
    fake_group(fake, 0);
    fake_message(fake, 0, a.store, &store_message, address, stride);
    fake_message(fake, 0, a.load, &load_message, address, stride);
    fake_run(fake, 0, a.branch, 0);
    CHECK_EQUAL(fake_findings(fake, NULL), 0);
    fake_group(fake, 1); // another one: nothing is written again
    fake_message(fake, 0, a.load, &load_message, address, stride);
    CHECK_EQUAL(fake_findings(fake, NULL), 0); // loaded, not yet used
    fake_run(fake, 0, a.branch, 0);
    CHECK_EQUAL(fake_findings(fake, NULL), 1);
    CHECK_EQUAL(fake_occurrences(fake, "uninitialised-memory"), 16);
}

static void shared_memory(struct fake *fake) {
    kept_memory(fake, WORD_SHARED, FAKE_SHARED + 64, 4);
}

static void stack_memory(struct fake *fake) {
    kept_memory(fake, WORD_STACK, FAKE_STACK + 16, 64);
}

// Two bytes of a word are written, all four read.
static void bytes_of_a_word(struct fake *fake) {
    struct accesses a = accesses_add(fake, WORD_SHARED);
    fake_job(fake);
    fake_group(fake, 0);
    fake_message(fake, 0, a.store, &(struct mx_message){.access = MX_STORE, .bytes = 2}, FAKE_SHARED, 4);
    fake_message(fake, 0, a.load, &(struct mx_message){.access = MX_LOAD, .bytes = 2}, FAKE_SHARED, 4);
    fake->program.insns[a.branch].word = UINT64_C(1) << 37; // the half that was read
    fake_run(fake, 0, a.branch, 0);
    CHECK_EQUAL(fake_findings(fake, NULL), 0);
    fake_message(fake, 0, a.load, &load_message, FAKE_SHARED, 4);
    fake->program.insns[a.branch].word = UINT64_C(2) << 37;
    fake_run(fake, 0, a.branch, 0);
    CHECK_EQUAL(fake_findings(fake, "uninitialised-memory"), 1);
}

// An undefined value goes to the stack and comes back.
static void spilled(struct fake *fake) {
    uint32_t spill = fake_insn(fake, "STORE.i32", WORD_STACK, 0, 0, SOURCES(fake_pointer(), fake_register(7, 1)));
    struct accesses a = accesses_add(fake, WORD_STACK);
    fake_job(fake);
    fake_group(fake, 0);
    fake_message(fake, 0, spill, &store_message, FAKE_STACK, 64);
    fake_message(fake, 0, a.load, &load_message, FAKE_STACK, 64);
    CHECK_EQUAL(fake_findings(fake, NULL), 0);
    fake_run(fake, 0, a.branch, 0);
    CHECK_EQUAL(fake_findings(fake, NULL), 1);
}

static void hole(struct fake *fake) {
    uint32_t load = fake_insn(fake, "LD_PKA.i32", WORD_LOAD_I32, 5, 1, SOURCES(fake_register(60, 1), fake_zero()));
    uint32_t branch = fake_insn(fake, "BRANCHZ", 0, 0, 0, SOURCES(fake_register(5, 1)));
    const struct mx_message message = {.access = MX_LOAD, .space = MX_SPACE_BUFFER};
    fake_job(fake);
    fake->memory[4096] = 1; // the CPU wrote one byte of this page
    fake_group(fake, 0);
    fake_message(fake, 0, load, &message, FAKE_BUFFER + 4096, 4);
    fake_run(fake, 0, branch, 0);
    CHECK_EQUAL(fake_findings(fake, NULL), 0);
    fake_message(fake, 0, load, &message, FAKE_BUFFER + 8192, 4);
    (void)*(volatile uint8_t *)(fake->memory + 8192); // the look that fills the hole
    fake_message(fake, 1, load, &message, FAKE_BUFFER + 8192, 4);
    fake_run(fake, 1, branch, 0); // is remembered
    CHECK_EQUAL(fake_findings(fake, NULL), 1);
    CHECK_EQUAL(fake_occurrences(fake, "uninitialised-memory"), 16);
}

static void hole_written_by_gpu(struct fake *fake) {
    uint32_t store = fake_insn(fake, "STORE.i32", 0, 0, 0, SOURCES(fake_register(60, 1), fake_register(60, 1)));
    uint32_t load = fake_insn(fake, "LD_PKA.i32", WORD_LOAD_I32, 5, 1, SOURCES(fake_register(60, 1), fake_zero()));
    uint32_t branch = fake_insn(fake, "BRANCHZ", 0, 0, 0, SOURCES(fake_register(5, 1)));
    fake_job(fake);
    fake_group(fake, 0);
    fake_message(fake, 0, load, &load_message, FAKE_BUFFER + 8192, 4);
    fake_message(fake, 0, store, &store_message, FAKE_BUFFER + 8192, 4);
    fake_message(fake, 0, load, &load_message, FAKE_BUFFER + 8192, 4);
    fake_run(fake, 0, branch, 0);
    CHECK_EQUAL(fake_findings(fake, NULL), 0);
}

static void beyond_descriptor(struct fake *fake) {
    uint32_t load = fake_insn(fake, "LD_PKA.i32", WORD_LOAD_I32, 5, 1, SOURCES(fake_register(60, 1), fake_zero()));
    fake_job(fake);
    fake_group(fake, 0);
    fake_message(fake, 0, load, &(struct mx_message){.space = MX_SPACE_BUFFER}, FAKE_BUFFER, 4);
    CHECK_EQUAL(fake_findings(fake, NULL), 0);
    fake_message(fake, 0, load,
                 &(struct mx_message){.space = MX_SPACE_BUFFER, .lanes = 0x7fff, .out_of_bounds = 0x8000}, FAKE_BUFFER,
                 4);
    CHECK_EQUAL(fake_findings(fake, NULL), 1);
    CHECK_EQUAL(fake_occurrences(fake, "out-of-bounds"), 1);
}

// The pointer is in order, and what is stored through it is not; the buffer has 64 bytes.
static void through_pointer(struct fake *fake) {
    uint32_t lea = fake_insn(fake, "LEA_PKA", 0, 0, 2, SOURCES(fake_register(60, 1), fake_zero()));
    uint32_t move = fake_insn(fake, "IADD.u64", 0, 2, 2, SOURCES(fake_register(0, 2), fake_zero()));
    uint32_t store = fake_insn(fake, "STORE.i32", 0, 0, 0, SOURCES(fake_register(2, 2), fake_register(60, 1)));
    fake_job(fake);
    fake_group(fake, 0);
    fake_address(fake, 0, lea);
    fake_run(fake, 0, move, 0);
    fake_message(fake, 0, store, &store_message, FAKE_BUFFER, 4);
    CHECK_EQUAL(fake_findings(fake, NULL), 0);
    fake_message(fake, 0, store, &store_message, FAKE_BUFFER + 2, 4); // the last lane straddles the end
    CHECK_EQUAL(fake_findings(fake, NULL), 1);
    CHECK_EQUAL(fake_occurrences(fake, "out-of-bounds"), 1);
}

// The register that held the pointer holds something else: no provenance.
static void pointer_overwritten(struct fake *fake) {
    uint32_t lea = fake_insn(fake, "LEA_PKA", 0, 0, 2, SOURCES(fake_register(60, 1), fake_zero()));
    uint32_t other = fake_insn(fake, "LD_PKA.i64", WORD_LOAD_I32, 0, 2, SOURCES(fake_register(60, 1), fake_zero()));
    uint32_t store = fake_insn(fake, "STORE.i32", 0, 0, 0, SOURCES(fake_register(0, 2), fake_register(60, 1)));
    fake_job(fake);
    fake_group(fake, 0);
    fake_address(fake, 0, lea);
    fake_message(fake, 0, other, &(struct mx_message){.bytes = 8}, FAKE_TABLE, 0);
    fake_message(fake, 0, store, &store_message, FAKE_BUFFER + 64, 4);
    CHECK_EQUAL(fake_findings(fake, NULL), 0);
}

static void beyond_stack(struct fake *fake) {
    struct accesses a = accesses_add(fake, WORD_STACK);
    fake_job(fake);
    fake_group(fake, 0);
    fake_message(fake, 1, a.store, &store_message, FAKE_STACK + 16 * 64 + 60, 64);
    CHECK_EQUAL(fake_findings(fake, NULL), 0);
    fake_message(fake, 1, a.store, &store_message, FAKE_STACK + 16 * 64 + 64, 64); // the neighbours'
    CHECK_EQUAL(fake_findings(fake, NULL), 1);
    CHECK_EQUAL(fake_occurrences(fake, "out-of-bounds"), 16);
}

static void beyond_shared(struct fake *fake) {
    struct accesses a = accesses_add(fake, WORD_SHARED);
    fake_job(fake);
    fake_group(fake, 0);
    fake_message(fake, 0, a.store, &store_message, FAKE_SHARED + 1024 - 64, 4);
    CHECK_EQUAL(fake_findings(fake, NULL), 0);
    fake_message(fake, 0, a.store, &store_message, FAKE_SHARED + 1024 - 56, 4);
    CHECK_EQUAL(fake_findings(fake, NULL), 1);
    CHECK_EQUAL(fake_occurrences(fake, "out-of-bounds"), 2);
}

const struct test memory_tests[] = {{"workgroup memory", shared_memory},
                                    {"stack", stack_memory},
                                    {"bytes of a word", bytes_of_a_word},
                                    {"spilled", spilled},
                                    {"hole", hole},
                                    {"hole written by the GPU", hole_written_by_gpu},
                                    {"beyond the descriptor", beyond_descriptor},
                                    {"through a pointer", through_pointer},
                                    {"pointer overwritten", pointer_overwritten},
                                    {"beyond the stack", beyond_stack},
                                    {"beyond workgroup memory", beyond_shared},
                                    {0}};
