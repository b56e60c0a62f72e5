// SPDX-License-Identifier: MIT
// Runs the tests. An argument is a part of the names of those to run. Ends in "N passed, N failed".
#include "core_test.h"

#include <stdlib.h>

struct bench bench;

// ---- the address space

static uint8_t code[4096], data[DATA_BYTES], tables[4096], read_only[4096], shared[WORKERS * SHARED_BYTES];
static uint8_t stack[WORKERS * 2048 * STACK_THREAD_BYTES];

static void region_add(uint64_t begin, void *host, uint64_t bytes, bool is_read_only, bool executable) {
    memset(host, 0, bytes);
    struct mx_region region = {begin, begin + bytes, host, is_read_only, executable, 0};
    if (!mx_memory_map(bench.memory, &region))
        exit(2);
}

void bench_renew(void) {
    mx_memory_free(bench.memory);
    bench = (struct bench){.memory = mx_memory_new(),
                           .code = (uint64_t *)(void *)code,
                           .data = (uint32_t *)(void *)data,
                           .tables = (uint64_t *)(void *)tables,
                           .options = {.threads = 1}};
    if (bench.memory == NULL)
        exit(2);
    region_add(CODE, code, sizeof code, true, true);
    region_add(DATA, data, sizeof data, false, false);
    region_add(TABLES, tables, sizeof tables, false, false);
    region_add(READ_ONLY, read_only, sizeof read_only, true, false);
    region_add(STACK, stack, sizeof stack, false, false);
    region_add(SHARED, shared, sizeof shared, false, false);
    bench.job = (struct mx_job){.memory = bench.memory,
                                .code = CODE,
                                .preload = 0x7f80,
                                .fau = {(uint32_t)DATA, (uint32_t)(DATA >> 32)},
                                .fau_words = 2,
                                .local_size = {16, 1, 1},
                                .group_count = {1, 1, 1},
                                .stack_base = STACK,
                                .stack_bytes = STACK_THREAD_BYTES,
                                .shared_base = SHARED,
                                .shared_bytes = SHARED_BYTES,
                                .shared_instances = 1,
                                .number = 7};
}

bool bench_run(void) {
    struct mx_core *core = mx_core_new(&bench.options);
    if (core == NULL)
        exit(2);
    bool finished = mx_core_run(core, &bench.job, &bench.fault);
    bench.stats = *mx_core_stats(core);
    mx_core_free(core);
    return finished;
}

// ---- the assembler

uint32_t emit(uint64_t word) {
    if (bench.words == sizeof code / 8)
        exit(2);
    bench.code[bench.words] = word;
    return bench.words++;
}

static uint64_t offset_field(uint32_t from, uint32_t to) {
    return (uint64_t)((to - from - 1) & 0x7ffffff) << 8;
}

void emit_target(uint32_t branch) {
    bench.code[branch] |= offset_field(branch, bench.words);
}

void emit_back(uint64_t word, uint32_t to) {
    emit(word | offset_field(bench.words, to));
}

void emit_store(unsigned value) {
    emit(i_add_immediate(50, ZERO, 2));
    emit(i_shift_left(48, R(60), R(50)));
    emit(i_mov(49, ZERO));
    emit(i_add64(50, U(0), R(48)));
    emit(i_store(I32, value, R(50), 0));
}

void emit_end(void) {
    emit(END);
}

int main(int argc, char **argv) {
    static const struct test *const all[] = {decode_tests, flow_tests, message_tests, fault_tests, job_tests};
    int status = test_main(argc, argv, all, sizeof all / sizeof all[0], bench_renew);
    mx_memory_free(bench.memory);
    return status;
}
