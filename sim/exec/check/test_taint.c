// SPDX-License-Identifier: MIT
// Uninitialised registers, and where NaNs come from.
#include "check_test.h"

static void branch_on_unwritten(struct fake *fake) {
    uint32_t branch = fake_insn(fake, "BRANCHZ", 0, 0, 0, SOURCES(fake_register(5, 1)));
    fake_job(fake);
    fake_group(fake, 0);
    fake->warps[1].active = 7;
    fake_run(fake, 1, branch, 0);
    fake_run(fake, 1, branch, 0); // reported: taken for defined
    CHECK_EQUAL(fake_findings(fake, NULL), 1);
    CHECK_EQUAL(fake_occurrences(fake, "uninitialised-register"), 3);
    CHECK_EQUAL(mx_check_errors(fake->check), 1);
}

static void branch_on_written(struct fake *fake) {
    uint32_t move = fake_insn(fake, "MOV.i32", 0, 5, 1, SOURCES(fake_register(60, 1))); // preloaded
    uint32_t branch = fake_insn(fake, "BRANCHZ", 0, 0, 0, SOURCES(fake_register(5, 1)));
    fake_job(fake);
    fake_group(fake, 0);
    fake_run(fake, 0, move, 1);
    fake_run(fake, 0, branch, 0);
    CHECK_EQUAL(fake_findings(fake, NULL), 0);
}

// Only some lanes have written it, and only the others decide.
static void divergent(struct fake *fake) {
    uint32_t move = fake_insn(fake, "MOV.i32", 0, 5, 1, SOURCES(fake_register(60, 1)));
    uint32_t branch = fake_insn(fake, "BRANCHZ", 0, 0, 0, SOURCES(fake_register(5, 1)));
    fake_job(fake);
    fake_group(fake, 0);
    fake->warps[0].active = 0xff;
    fake_run(fake, 0, move, 1);
    fake_run(fake, 0, branch, 0);
    CHECK_EQUAL(fake_findings(fake, NULL), 0);
    fake->warps[0].active = 0xff00;
    fake_run(fake, 0, branch, 0);
    CHECK_EQUAL(fake_occurrences(fake, "uninitialised-register"), 8);
}

// Through copies and sums; but what is masked away does not count.
static void propagation(struct fake *fake) {
    uint32_t sum = fake_insn(fake, "IADD.u32", 0, 6, 1, SOURCES(fake_register(5, 1), fake_register(60, 1)));
    uint32_t move = fake_insn(fake, "MOV.i32", 0, 7, 1, SOURCES(fake_register(6, 1)));
    uint32_t mask = fake_insn(fake, "RSHIFT_AND.i32", 0, 8, 1, SOURCES(fake_register(7, 1), fake_zero(), fake_zero()));
    uint32_t masked = fake_insn(fake, "BRANCHZ", 0, 0, 0, SOURCES(fake_register(8, 1)));
    uint32_t branch = fake_insn(fake, "BRANCHZ", 0, 0, 0, SOURCES(fake_register(7, 1)));
    fake_job(fake);
    fake_group(fake, 0);
    fake_run(fake, 0, sum, 0);
    fake_run(fake, 0, move, 0);
    fake_run(fake, 0, mask, 0);
    fake_run(fake, 0, masked, 0);
    CHECK_EQUAL(fake_findings(fake, NULL), 0);
    fake_run(fake, 0, branch, 0);
    CHECK_EQUAL(fake_findings(fake, "uninitialised-register"), 1);
}

static void half_written(struct fake *fake) {
    uint32_t narrow = fake_insn(fake, "FADD.f32", 0, 6, 1, SOURCES(fake_register(60, 1), fake_zero()));
    uint32_t low = fake_insn(fake, "BRANCHZ", UINT64_C(1) << 37, 0, 0, SOURCES(fake_register(6, 1)));
    uint32_t high = fake_insn(fake, "BRANCHZ", UINT64_C(2) << 37, 0, 0, SOURCES(fake_register(6, 1)));
    fake->program.insns[narrow].written_half = 1;
    fake_job(fake);
    fake_group(fake, 0);
    fake_run(fake, 0, narrow, 0);
    fake_run(fake, 0, low, 0);
    CHECK_EQUAL(fake_findings(fake, NULL), 0);
    fake_run(fake, 0, high, 0);
    CHECK_EQUAL(fake_findings(fake, "uninitialised-register"), 1);
}

// Lane 3's value is not written: it counts where another lane takes it, and in its bit of a ballot.
static void across_lanes(struct fake *fake) {
    uint32_t move = fake_insn(fake, "MOV.i32", 0, 5, 1, SOURCES(fake_register(60, 1)));
    uint32_t permute =
        fake_insn(fake, "CLPER.i32", UINT64_C(3) << 36 | 4 << 26, 6, 1, SOURCES(fake_register(5, 1), fake_zero()));
    uint32_t ballot = fake_insn(fake, "WMASK", UINT64_C(3) << 36, 7, 1, SOURCES(fake_register(5, 1)));
    uint32_t on_permuted = fake_insn(fake, "BRANCHZ", 0, 0, 0, SOURCES(fake_register(6, 1)));
    uint32_t on_ballot = fake_insn(fake, "BRANCHZ", 0, 0, 0, SOURCES(fake_register(7, 1)));
    fake_job(fake);
    fake_group(fake, 0);
    fake->warps[0].active = 0xfff7;
    fake_run(fake, 0, move, 0);
    fake->warps[0].active = 0xffff;
    fake_run(fake, 0, permute, 0); // lane 0's, for all
    fake_run(fake, 0, on_permuted, 0);
    CHECK_EQUAL(fake_findings(fake, NULL), 0);
    fake_run(fake, 0, ballot, 0);
    fake_run(fake, 0, on_ballot, 0);
    CHECK_EQUAL(fake_occurrences(fake, "uninitialised-register"), 16);
}

static void address_unwritten(struct fake *fake) {
    uint32_t load = fake_insn(fake, "LOAD.i32", WORD_LOAD_I32, 2, 1, SOURCES(fake_register(0, 2)));
    fake_job(fake);
    fake_group(fake, 0);
    fake_message(fake, 0, load, &(struct mx_message){.access = MX_LOAD}, FAKE_TABLE, 4);
    CHECK_EQUAL(fake_findings(fake, NULL), 1);
    CHECK_EQUAL(fake_occurrences(fake, "uninitialised-register"), 16);
}

// A byte of an unwritten register is stored; then one that was written.
static void data_unwritten(struct fake *fake) {
    uint32_t move = fake_insn(fake, "MOV.i32", 0, 2, 1, SOURCES(fake_register(60, 1)));
    uint32_t store = fake_insn(fake, "STORE.i8", 0, 0, 0, SOURCES(fake_register(60, 2), fake_register(2, 1)));
    fake_job(fake);
    fake->job.preload = 0x3000;
    fake_group(fake, 0);
    fake_run(fake, 0, move, 0);
    fake_message(fake, 0, store, &(struct mx_message){.access = MX_STORE, .bytes = 1}, FAKE_BUFFER, 1);
    CHECK_EQUAL(fake_findings(fake, NULL), 0);
    fake_message(fake, 1, store, &(struct mx_message){.access = MX_STORE, .bytes = 1}, FAKE_BUFFER + 64, 1);
    CHECK_EQUAL(fake_findings(fake, NULL), 1);
    CHECK_EQUAL(fake_occurrences(fake, "uninitialised-register"), 16);
}

// Infinity times zero, once from clean operands, once with a NaN among them.
static void nan_origin(struct fake *fake) {
    uint32_t product =
        fake_insn(fake, "FMA.f32", 0, 5, 1, SOURCES(fake_register(60, 1), fake_register(60, 1), fake_zero()));
    fake_job(fake);
    fake_group(fake, 0);
    fake_run(fake, 0, product, 0x3f800000);
    CHECK_EQUAL(fake_findings(fake, NULL), 0);
    fake->warps[0].active = 3;
    fake_run(fake, 0, product, 0x7fc00000);
    CHECK_EQUAL(fake_findings(fake, NULL), 1);
    CHECK_EQUAL(fake_occurrences(fake, "nan"), 2);
    CHECK_EQUAL(mx_check_errors(fake->check), 0);
    fake->warps[0].registers[60] = (mx_u32){0} + 0x7fc00001;
    fake_run(fake, 0, product, 0x7fc00000);
    CHECK_EQUAL(fake_occurrences(fake, "nan"), 2);
}

static void nan_halves(struct fake *fake) {
    uint32_t sum = fake_insn(fake, "FADD.v2f16", UINT64_C(2) << 28 | 2 << 26, 5, 1,
                             SOURCES(fake_register(60, 1), fake_register(60, 1)));
    uint32_t widening = fake_insn(fake, "FADD.f32", UINT64_C(1) << 28 | 1 << 26, 6, 1,
                                  SOURCES(fake_register(60, 1), fake_register(60, 1)));
    fake_job(fake);
    fake_group(fake, 0);
    fake_run(fake, 0, sum, 0x7c00fc00); // infinities are none
    CHECK_EQUAL(fake_findings(fake, NULL), 0);
    fake->warps[0].registers[60] = (mx_u32){0} + 0x00007e00; // a NaN in the half that is taken
    fake_run(fake, 0, widening, 0x7fc00000);
    CHECK_EQUAL(fake_findings(fake, NULL), 0);
    fake->warps[0].registers[60] = (mx_u32){0} + 0x7e000000; // in the one that is not
    fake_run(fake, 0, widening, 0x7fc00000);
    CHECK_EQUAL(fake_findings(fake, "nan"), 1);
}

const struct test taint_tests[] = {{"branch on unwritten", branch_on_unwritten},
                                   {"branch on written", branch_on_written},
                                   {"divergent", divergent},
                                   {"propagation", propagation},
                                   {"half written", half_written},
                                   {"across lanes", across_lanes},
                                   {"address unwritten", address_unwritten},
                                   {"data unwritten", data_unwritten},
                                   {"NaN origin", nan_origin},
                                   {"NaN halves", nan_halves},
                                   {0}};
