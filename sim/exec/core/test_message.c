// SPDX-License-Identifier: MIT
// Loads, stores, buffers by handle, atomics, stack and workgroup memory.
#include "core_test.h"

// r2-r3 becomes DATA + 64 x the global id.
static void row_address(void) {
    emit(i_add_immediate(0, ZERO, 6));
    emit(i_shift_left(0, R(60), R(0)));
    emit(i_mov(1, ZERO));
    emit(i_add64(2, U(0), R(0)));
}

static void data_fill(void) {
    uint8_t *bytes = (uint8_t *)bench.data;
    for (uint32_t i = 0; i < DATA_BYTES; i++)
        bytes[i] = (uint8_t)(i * 7 + (i >> 8) + 0x81);
}

// Every width: what is loaded from a row's start is stored 32 bytes further on, with all its registers 16 bytes on.
static void widths(void) {
    static const uint8_t bytes[8] = {1, 2, 3, 4, 6, 8, 12, 16};
    for (unsigned width = I8; width <= I128; width++) {
        bench_renew();
        data_fill();
        row_address();
        emit(i_load(width, 4, R(2), 0));
        emit(i_store(width, 4, R(2), 32));
        emit_end();
        uint8_t before[1024], *after = (uint8_t *)bench.data;
        memcpy(before, after, sizeof before);
        CHECK(bench_run());
        for (unsigned t = 0; t < 16; t++) {
            CHECK(memcmp(after + 64 * t, before + 64 * t, 32) == 0);
            CHECK(memcmp(after + 64 * t + 32, before + 64 * t, bytes[width]) == 0);
            CHECK(memcmp(after + 64 * t + 32 + bytes[width], before + 64 * t + 32 + bytes[width], 32u - bytes[width]) ==
                  0);
        }
    }
}

// Where a narrow load goes, by lane, and how it is extended: what r4-r5 hold, having held 0x44444444 and 0x55555555.
static void load_lanes(void) {
    static const struct {
        unsigned width, lane, registers;
        bool zero_extends;
        uint32_t memory, low, high;
    } rows[] = {
        {I8, 0, 1, true, 0xf1, 0x444444f1, 0x55555555},     {I8, 1, 1, true, 0xf1, 0x4444f144, 0x55555555},
        {I8, 2, 1, true, 0xf1, 0x44f14444, 0x55555555},     {I8, 3, 1, true, 0xf1, 0xf1444444, 0x55555555},
        {I8, 4, 1, true, 0xf1, 0x444400f1, 0x55555555},     {I8, 5, 1, false, 0xf1, 0xfff14444, 0x55555555},
        {I8, 6, 1, false, 0xf1, 0xfffffff1, 0x55555555},    {I8, 6, 1, true, 0xf1, 0xf1, 0x55555555},
        {I8, 7, 2, false, 0xf1, 0xfffffff1, 0xffffffff},    {I8, 7, 2, false, 0x71, 0x71, 0},
        {I16, 0, 1, true, 0xf123, 0x4444f123, 0x55555555},  {I16, 1, 1, true, 0xf123, 0xf1234444, 0x55555555},
        {I16, 2, 1, false, 0xf123, 0xfffff123, 0x55555555}, {I16, 3, 2, true, 0xf123, 0xf123, 0},
        {I24, 0, 1, true, 0xf12345, 0xf12345, 0x55555555},  {I24, 0, 1, false, 0xf12345, 0xfff12345, 0x55555555}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench_renew();
        bench.data[100] = rows[i].memory;
        emit(i_add_immediate(4, ZERO, 0x44444444));
        emit(i_add_immediate(5, ZERO, 0x55555555));
        emit(i_message(0x60, rows[i].width, 4, rows[i].registers) | UINT64_C(2) << 46 |
             (uint64_t)rows[i].zero_extends << 39 | (uint64_t)rows[i].lane << 36 | UINT64_C(400) << 8 | U(0));
        emit_store(4);
        emit(i_store(I32, 5, R(50), 256));
        emit_end();
        CHECK(bench_run());
        CHECK_EQUAL(bench.data[5], rows[i].low);
        CHECK_EQUAL(bench.data[5 + 64], rows[i].high);
    }
}

// Same address, neighbours, far apart; all lanes or even ones: the fast ways and the slow one agree. What thread t
// loads goes to the words t, 16 + t, ...
static void pattern(unsigned width, unsigned words, uint32_t factor, bool even_only) {
    bench_renew();
    data_fill();
    memset(bench.data, 0, 1024);
    emit(i_add_immediate(0, ZERO, factor));
    emit(i_mul(0, R(60), R(0)));
    emit(i_mov(1, ZERO));
    emit(i_add64(2, U(0), R(0)));
    emit(i_add_immediate(6, ZERO, even_only));
    emit(i_and(6, R(60), R(6)));
    for (unsigned i = 0; i < 4; i++)
        emit(i_mov(8 + i, ZERO));
    uint32_t odd = emit(i_branch(R(6), false));
    emit(i_load(width, 8, R(2), 4096));
    emit_target(odd);
    emit_store(8);
    for (unsigned i = 1; i < words; i++)
        emit(i_store(I32, 8 + i, R(50), (int16_t)(64 * i)));
    emit_end();
    CHECK(bench_run());
    for (unsigned t = 0; t < 16; t++)
        for (unsigned i = 0; i < words; i++)
            CHECK_EQUAL(bench.data[16 * i + t], even_only && t & 1 ? 0 : bench.data[1024 + t * factor / 4 + i]);
}

static void patterns(void) {
    static const uint32_t factor[] = {0, 4, 16, 272, 3000};
    for (size_t i = 0; i < sizeof factor / sizeof factor[0]; i++)
        for (unsigned even_only = 0; even_only < 2; even_only++) {
            pattern(I32, 1, factor[i], even_only);
            pattern(I64, 2, factor[i], even_only);
            pattern(I96, 3, factor[i], even_only);
            pattern(I128, 4, factor[i], even_only);
        }
}

// ---- buffers: table 1 has a buffer of 40 bytes at DATA, a null descriptor, and one that is no buffer's

static void tables_make(void) {
    uint64_t *t = bench.tables;
    t[2] = (TABLES + 0x100) | UINT64_C(1) << 56;
    t[3] = 4 * 32; // bytes of table 1
    t[32] = 0x19 | UINT64_C(40) << 32;
    t[33] = DATA;
    t[40] = 0x1; // a sampler
    t[44] = 0x19 | UINT64_C(64) << 32;
    t[45] = UINT64_C(1) << 63;
    bench.job.resources = TABLES;
    bench.job.resource_count = 4;
    bench.job.fau[2] = 0x01000000;
    bench.job.fau_words = 4;
}

// r0 = 4 x id; what is loaded through the handle in u2 is stored at 128 + 4 x id.
static void pka_program(unsigned width) {
    emit(i_add_immediate(1, ZERO, 2));
    emit(i_shift_left(0, R(60), R(1)));
    emit(i_add_immediate(4, ZERO, 0x77777777));
    emit(i_ld_pka(width, 4, R(0), U(2)));
    emit(i_mov(1, ZERO));
    emit(i_add64(2, U(0), R(0)));
    emit(i_store(I32, 4, R(2), 128));
    emit_end();
}

static void buffers(void) {
    tables_make();
    data_fill();
    pka_program(I32);
    CHECK(bench_run());
    for (unsigned t = 0; t < 16; t++)
        CHECK_EQUAL(bench.data[32 + t], t < 10 ? bench.data[t] : 0);
}

static void buffers_straddled(void) { // the last eight bytes in bounds begin at 32
    tables_make();
    data_fill();
    pka_program(I64);
    CHECK(bench_run());
    for (unsigned t = 0; t < 16; t++)
        CHECK_EQUAL(bench.data[32 + t], t <= 8 ? bench.data[t] : 0);
}

static void buffers_of_nothing(void) {
    static const uint32_t handles[] = {0x01000001, 0x01000003, 0x01000004, 0x01ffffff};
    for (size_t i = 0; i < sizeof handles / sizeof handles[0]; i++) {
        bench_renew();
        tables_make();
        data_fill();
        bench.job.fau[2] = handles[i];
        pka_program(I32);
        CHECK(bench_run());
        for (unsigned t = 0; t < 16; t++)
            CHECK_EQUAL(bench.data[32 + t], 0);
    }
}

static void descriptors_read(void) { // table 62: the memory of a table
    tables_make();
    bench.job.fau[2] = 0x3e000001;
    pka_program(I32);
    CHECK(bench_run());
    CHECK_EQUAL(bench.data[32], 0x19);
    CHECK_EQUAL(bench.data[33], 40);
    CHECK_EQUAL(bench.data[34], (uint32_t)DATA);
}

// Stores and atomics through pointers beyond a buffer are dropped, loads give 0.
static void pointers_beyond(void) {
    tables_make();
    emit(i_add_immediate(1, ZERO, 2));
    emit(i_shift_left(0, R(60), R(1)));
    emit(i_lea_pka(2, R(0), U(2)));
    emit(i_add_immediate(4, R(60), 1));
    emit(i_store(I32, 4, R(2), 0));
    emit(i_add_immediate(5, ZERO, 0x77777777));
    emit(i_load(I32, 5, R(2), 0));
    emit(i_add_immediate(6, ZERO, 1000));
    emit(i_atomic(2, 1, false, 6, 6, R(2)));
    emit(i_mov(1, ZERO));
    emit(i_add64(2, U(0), R(0)));
    emit(i_store(I32, 5, R(2), 128));
    emit(i_store(I32, 6, R(2), 256));
    emit_end();
    CHECK(bench_run());
    for (unsigned t = 0; t < 16; t++) {
        CHECK_EQUAL(bench.data[t], t < 10 ? t + 1001 : 0);
        CHECK_EQUAL(bench.data[32 + t], t < 10 ? t + 1 : 0);
        CHECK_EQUAL(bench.data[64 + t], t < 10 ? t + 1 : 0);
    }
}

// ---- atomics

// What operation makes of the words that the threads 0..15 bring, one after the other, from the start value.
static uint64_t combined(unsigned operation, unsigned words, uint64_t start) {
    uint64_t all = start;
    for (uint64_t t = 0; t < 16; t++) {
        uint64_t v = t * UINT64_C(0x9e3779b97f4a7c15);
        if (words == 1) {
            uint32_t a = (uint32_t)all, b = (uint32_t)v;
            int32_t sa = (int32_t)a, sb = (int32_t)b;
            all = operation == 2    ? a + b
                  : operation == 8  ? (uint32_t)(sa < sb ? sa : sb)
                  : operation == 9  ? (uint32_t)(sa > sb ? sa : sb)
                  : operation == 10 ? (a < b ? a : b)
                  : operation == 11 ? (a > b ? a : b)
                  : operation == 12 ? (a & b)
                  : operation == 13 ? (a | b)
                  : operation == 14 ? (a ^ b)
                                    : b;
        } else {
            int64_t sa = (int64_t)all, sb = (int64_t)v;
            all = operation == 2    ? all + v
                  : operation == 8  ? (uint64_t)(sa < sb ? sa : sb)
                  : operation == 9  ? (uint64_t)(sa > sb ? sa : sb)
                  : operation == 10 ? (all < v ? all : v)
                  : operation == 11 ? (all > v ? all : v)
                  : operation == 12 ? (all & v)
                  : operation == 13 ? (all | v)
                  : operation == 14 ? (all ^ v)
                                    : v;
        }
    }
    return all;
}

static void atomics(void) {
    static const uint8_t operations[] = {2, 8, 9, 10, 11, 12, 13, 14, 15};
    for (unsigned words = 1; words <= 2; words++)
        for (size_t i = 0; i < sizeof operations; i++) {
            uint64_t start = UINT64_C(0x123456789abcdef0);
            bench_renew();
            memcpy(bench.data, &start, 8);
            for (uint64_t t = 0; t < 16; t++) {
                uint64_t v = t * UINT64_C(0x9e3779b97f4a7c15);
                memcpy(bench.data + 256 + 16 * t, &v, 8);
            }
            row_address();
            emit(i_load(I64, 4, R(2), 1024));
            emit(i_atomic(operations[i], words, false, 6, 4, U(0)));
            emit_end();
            uint64_t result = 0;
            CHECK(bench_run());
            memcpy(&result, bench.data, 4 * words);
            CHECK_EQUAL(result, combined(operations[i], words, words == 1 ? (uint32_t)start : start));
        }
}

// Each thread of every workgroup adds one, and notes what was there: every number once.
static void atomics_of_all(void) {
    emit(i_message(0x69, I32, 4, 1) | UINT64_C(2) << 46 | U(0)); // + 1
    emit(i_add_immediate(0, ZERO, 2));
    emit(i_shift_left(0, R(4), R(0)));
    emit(i_mov(1, ZERO));
    emit(i_add64(2, U(0), R(0)));
    emit(i_add_immediate(5, ZERO, 1));
    emit(i_atomic(2, 1, false, 6, 5, R(2)) | 64 << 8);
    emit_end();
    bench.job.local_size[0] = 100;
    bench.job.group_count[0] = 40;
    bench.options.threads = 3;
    CHECK(bench_run());
    CHECK_EQUAL(bench.data[0], 4000);
    for (unsigned i = 0; i < 4000; i++)
        CHECK_EQUAL(bench.data[16 + i], 1);
}

// Exchange where memory is as expected: of 16 threads that expect 5 the first one finds it.
static void compare_exchange(void) {
    bench.data[0] = 5;
    emit(i_add_immediate(4, R(60), 100));
    emit(i_add_immediate(5, ZERO, 5));
    emit(i_atomic(15, 1, true, 6, 4, U(0)));
    emit_store(6);
    emit_end();
    CHECK(bench_run());
    CHECK_EQUAL(bench.data[0], 5); // overwritten by thread 0's note of what it found
    for (unsigned t = 1; t < 16; t++)
        CHECK_EQUAL(bench.data[t], 100);
}

// ---- the thread's and the workgroup's own memory

// Each thread has 64 bytes of its own, also while others run; low words are added to.
static void stacks(void) {
    emit(i_add_immediate(4, R(60), 1));
    emit(i_store(I32, 4, STACK_POINTER, 60) | PAGE(1));
    emit(i_barrier());
    emit(i_mov(2, STACK_POINTER) | PAGE(1));
    emit(i_mov(3, STACK_POINTER + 1) | PAGE(1));
    emit(i_add_immediate(2, R(2), 60));
    emit(i_load(I32, 5, R(2), 0));
    emit_store(5);
    emit_end();
    bench.job.local_size[0] = 2048;
    bench.job.group_count[0] = 6;
    bench.options.threads = WORKERS;
    CHECK(bench_run());
    for (unsigned t = 0; t < 6 * 2048; t++)
        CHECK_EQUAL(bench.data[t], t + 1);
}

// Workgroups that run side by side do not share it, and all threads of one do.
static void shared_memory(void) {
    emit(i_add_immediate(4, ZERO, 1));
    emit(i_store(I32, 57, SHARED_POINTER, 0) | PAGE(1));
    emit(i_barrier());
    emit(i_load(I32, 5, SHARED_POINTER, 0) | PAGE(1));
    emit_store(5);
    emit_end();
    bench.job.local_size[0] = 64;
    bench.job.group_count[0] = 100;
    bench.options.threads = WORKERS;
    CHECK(bench_run());
    for (unsigned t = 0; t < 6400; t++)
        CHECK_EQUAL(bench.data[t], t / 64);
}

static void lane_ids(void) {
    emit(i_mov(5, LANE_ID) | PAGE(3));
    emit_store(5);
    emit_end();
    bench.job.local_size[0] = 24;
    CHECK(bench_run());
    for (unsigned t = 0; t < 24; t++)
        CHECK_EQUAL(bench.data[t], t & 15);
}

const struct test message_tests[] = {{"message: widths", widths},
                                     {"message: where a load goes", load_lanes},
                                     {"message: addresses of a warp", patterns},
                                     {"message: a buffer's bounds", buffers},
                                     {"message: across a buffer's end", buffers_straddled},
                                     {"message: null descriptors", buffers_of_nothing},
                                     {"message: descriptors as memory", descriptors_read},
                                     {"message: pointers beyond a buffer", pointers_beyond},
                                     {"message: atomics", atomics},
                                     {"message: atomics of all threads", atomics_of_all},
                                     {"message: compare and exchange", compare_exchange},
                                     {"message: stacks", stacks},
                                     {"message: workgroup memory", shared_memory},
                                     {"message: lane_id", lane_ids},
                                     {NULL, NULL}};
