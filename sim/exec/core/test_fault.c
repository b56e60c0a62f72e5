// SPDX-License-Identifier: MIT
// What stops a job, and what is told about it.
#include "core_test.h"

static void faults(enum mx_fault_kind kind, uint64_t pc, uint64_t address) {
    CHECK(!bench_run());
    CHECK_TEXT(mx_fault_name(bench.fault.kind), mx_fault_name(kind));
    CHECK(mx_fault_code(bench.fault.kind) != 0);
    CHECK_EQUAL(bench.fault.job, 7);
    CHECK_EQUAL(bench.fault.code, bench.job.code);
    CHECK_EQUAL(bench.fault.pc, pc);
    CHECK_EQUAL(bench.fault.address, address);
    CHECK(strlen(bench.fault.text) > 10);
}

// Thread 5 of workgroup 2 alone uses the address in u2-u3; the rest DATA + 4096.
static void one_thread_uses(uint64_t address, uint64_t message) {
    bench.job.fau[2] = (uint32_t)address;
    bench.job.fau[3] = (uint32_t)(address >> 32);
    bench.job.fau_words = 4;
    bench.job.group_count[0] = 4;
    emit(i_add_immediate(0, ZERO, 37));
    emit(i_mov(2, U(0)));
    emit(i_mov(3, U(1)));
    emit(i_add_immediate(2, R(2), 4096));
    emit(i_compare(1, EQ, R(60), R(0)));
    uint32_t others = emit(i_branch(R(1), true));
    emit(i_mov(2, U(2)));
    emit(i_mov(3, U(3)));
    emit_target(others);
    emit(i_mov(4, R(60)));
    emit(message);
    emit(i_store(I32, 4, U(0), 0)); // is not reached
    emit_end();
}

static void where_it_was(void) {
    CHECK_EQUAL(bench.fault.group[0], 2);
    CHECK_EQUAL(bench.fault.local_index, 5);
    CHECK(bench.fault.kernel_hash != 0);
}

static void load_nowhere(void) {
    one_thread_uses(NOWHERE, i_load(I32, 4, R(2), 8));
    faults(MX_FAULT_TRANSLATION, 9 * 8, NOWHERE + 8);
    where_it_was();
}

static void store_nowhere(void) {
    one_thread_uses(NOWHERE, i_store(I64, 4, R(2), -8));
    faults(MX_FAULT_TRANSLATION, 9 * 8, NOWHERE - 8);
    where_it_was();
}

static void across_the_end(void) {
    one_thread_uses(DATA + DATA_BYTES - 8, i_load(I128, 4, R(2), 0));
    faults(MX_FAULT_TRANSLATION, 9 * 8, DATA + DATA_BYTES - 8);
    where_it_was();
}

static void atomic_nowhere(void) {
    one_thread_uses(NOWHERE, i_atomic(2, 1, false, 4, 4, R(2)));
    faults(MX_FAULT_TRANSLATION, 9 * 8, NOWHERE);
    where_it_was();
}

static void store_read_only(void) {
    one_thread_uses(READ_ONLY, i_store(I32, 4, R(2), 0));
    faults(MX_FAULT_PERMISSION, 9 * 8, READ_ONLY);
    where_it_was();
}

static void atomic_read_only(void) {
    one_thread_uses(CODE, i_atomic(14, 2, false, 4, 4, R(2)));
    faults(MX_FAULT_PERMISSION, 9 * 8, CODE);
}

static void misaligned(void) {
    one_thread_uses(DATA + 2, i_load(I32, 4, R(2), 0));
    faults(MX_FAULT_TRANSLATION, 9 * 8, DATA + 2);
    CHECK(strstr(bench.fault.text, "aligned") != NULL);
    where_it_was();
}

static void misaligned_for_all(void) {
    emit(i_load(I64, 4, U(0), 2));
    emit_end();
    faults(MX_FAULT_TRANSLATION, 0, DATA + 2);
}

static void all_nowhere(void) { // the way of a warp that loads one address
    bench.job.fau[0] = (uint32_t)NOWHERE;
    emit(i_mov(0, ZERO));
    emit(i_load(I128, 4, U(0), 0));
    emit_end();
    faults(MX_FAULT_TRANSLATION, 8, NOWHERE);
    CHECK_EQUAL(bench.data[0], 0);
}

static void nothing_after_it(void) {
    one_thread_uses(NOWHERE, i_load(I32, 4, R(2), 8));
    bench.job.group_count[0] = 3;
    bench.data[0] = 77;
    bench.code[10] &= ~(UINT64_C(0xff) << 8); // the store after the load
    CHECK(!bench_run());
    CHECK(bench.data[0] != 37);
}

static void unknown_instruction(void) {
    emit(i_mov(0, ZERO));
    emit(UINT64_C(0x1ff) << 48);
    emit_end();
    faults(MX_FAULT_INSTRUCTION, 8, UINT64_C(0x1ff) << 48);
    CHECK(strstr(bench.fault.text, "0x01ff000000000000") != NULL);
}

static void unknown_but_not_reached(void) {
    uint32_t over = emit(i_branch(ZERO, true));
    emit(UINT64_C(0x1ff) << 48);
    emit_target(over);
    emit_end();
    CHECK(bench_run());
}

static void endless(void) {
    emit_back(i_branch(ZERO, true), 0);
    emit_end();
    bench.options.warp_limit = 1000;
    faults(MX_FAULT_ENDLESS, 0, 0);
    CHECK(bench.stats.warp_instructions >= 1000 && bench.stats.warp_instructions < 2000);
}

static void branch_out(void) {
    emit_back(i_branch(ZERO, true), (uint32_t)-100);
    emit_end();
    faults(MX_FAULT_INSTRUCTION, 16, 0);
    CHECK(strstr(bench.fault.text, "left its code") != NULL);
}

static void code_nowhere(void) {
    bench.job.code = NOWHERE;
    faults(MX_FAULT_TRANSLATION, 0, NOWHERE);
}

static void code_not_executable(void) {
    bench.job.code = DATA;
    faults(MX_FAULT_PERMISSION, 0, DATA);
}

static void code_without_end(void) { // zeros up to the end of the region
    faults(MX_FAULT_INSTRUCTION, 0, CODE);
}

static void no_resource_table(void) {
    emit(i_ld_pka(I32, 4, ZERO, K(4))); // handle 0x01000000
    emit_end();
    faults(MX_FAULT_DESCRIPTOR, 0, 0x01000000);
}

static void not_a_buffer(void) {
    bench.tables[2] = TABLES + 0x100;
    bench.tables[3] = 32;
    bench.tables[32] = 1; // a sampler
    bench.job.resources = TABLES;
    bench.job.resource_count = 4;
    emit(i_ld_pka(I32, 4, ZERO, K(4)));
    emit_end();
    faults(MX_FAULT_DESCRIPTOR, 0, 0x01000000);
}

static void too_many_threads(void) {
    emit_end();
    bench.job.local_size[0] = bench.job.local_size[1] = 64;
    CHECK(!bench_run());
    CHECK_TEXT(mx_fault_name(bench.fault.kind), "descriptor");
}

// Several threads: the job stops, and the core executes the next one.
static void next_job(void) {
    one_thread_uses(NOWHERE, i_load(I32, 4, R(2), 8));
    bench.job.group_count[0] = 1000;
    bench.options.threads = 3;
    struct mx_core *core = mx_core_new(&bench.options);
    struct mx_fault fault;
    CHECK(!mx_core_run(core, &bench.job, &fault));
    CHECK(fault.kind == MX_FAULT_TRANSLATION);
    bench.job.group_count[0] = 2;
    CHECK(mx_core_run(core, &bench.job, &fault));
    CHECK(fault.kind == MX_FAULT_NONE);
    mx_core_free(core);
}

const struct test fault_tests[] = {{"fault: load from nowhere", load_nowhere},
                                   {"fault: store to nowhere", store_nowhere},
                                   {"fault: across the end of memory", across_the_end},
                                   {"fault: atomic nowhere", atomic_nowhere},
                                   {"fault: store to read-only memory", store_read_only},
                                   {"fault: atomic on read-only memory", atomic_read_only},
                                   {"fault: misaligned", misaligned},
                                   {"fault: misaligned for all lanes", misaligned_for_all},
                                   {"fault: all lanes load from nowhere", all_nowhere},
                                   {"fault: nothing is executed after it", nothing_after_it},
                                   {"fault: unknown instruction", unknown_instruction},
                                   {"fault: unknown instruction that is not reached", unknown_but_not_reached},
                                   {"fault: endless loop", endless},
                                   {"fault: branch out of the code", branch_out},
                                   {"fault: code nowhere", code_nowhere},
                                   {"fault: code that is not executable", code_not_executable},
                                   {"fault: code without an end", code_without_end},
                                   {"fault: no resource table", no_resource_table},
                                   {"fault: not a buffer", not_a_buffer},
                                   {"fault: too many threads", too_many_threads},
                                   {"fault: the next job", next_job},
                                   {NULL, NULL}};
