// SPDX-License-Identifier: MIT
// RUN_COMPUTE: from registers and descriptors to a job.
#include "stream_test.h"

#include <string.h>

#include "descriptor.h"
#include "stream.h"

#define BASE UINT64_C(0x1000)

// Behind BASE; the offsets are those of the parts.
static struct {
    uint64_t code[64];
    uint32_t program[8]; // +512
    uint32_t pad[8];
    uint32_t storage[8]; // +576
    uint32_t pad2[8];
    uint64_t fau[64]; // +640
} place;
#define PROGRAM (BASE + 512)
#define STORAGE (BASE + 576)
#define FAU (BASE + 640)
#define TABLE UINT64_C(0x7fffffff0040)

static struct mx_memory *memory;
static uint32_t r[MX_STREAM_REGISTERS];

static void pair_set(unsigned at, uint64_t value) {
    r[at] = (uint32_t)value;
    r[at + 1] = (uint32_t)(value >> 32);
}

// A whole job in the registers of selectors s.
static void fill(unsigned s) {
    static const uint32_t program[8] = {0x80000018, 0x0280, 0x00bad080, 0x1};
    static const uint32_t storage[8] = {3, 0x0905, 0xfce000, 0x10000000, 0x5000, 0x2};
    memset(r, 0xff, sizeof r);
    memcpy(place.program, program, sizeof program);
    memcpy(place.storage, storage, sizeof storage);
    for (unsigned i = 0; i < 64; i++)
        place.fau[i] = UINT64_C(0x100000000) * (2 * i + 1) + 2 * i;
    pair_set(0 + 2 * s, TABLE | 4);
    pair_set(8 + 2 * s, FAU | UINT64_C(3) << 56);
    pair_set(16 + 2 * s, PROGRAM);
    pair_set(24 + 2 * s, STORAGE);
    r[32] = 0;
    r[33] = 31 | 7 << 10 | 1 << 20;
    for (unsigned i = 0; i < 3; i++) {
        r[34 + i] = 10 * i;
        r[37 + i] = 3 + i;
    }
}

static void with_memory(void (*test)(void)) {
    struct mx_region region = {.begin = BASE, .end = BASE + sizeof place, .host = (uint8_t *)&place};
    memory = mx_memory_new();
    CHECK(mx_memory_map(memory, &region));
    test();
    mx_memory_free(memory);
}

static void all(void) {
    fill(0);
    struct mx_job job = {.memory = memory};
    CHECK(mx_descriptor_read(&job, r, 0) == NULL);
    CHECK_EQUAL(job.code, UINT64_C(0x100bad080));
    CHECK_EQUAL(job.program_word, 0x80000018);
    CHECK_EQUAL(job.preload, 0x280);
    CHECK_EQUAL(job.fau_words, 6);
    CHECK_EQUAL(job.fau[5], 5);
    CHECK_EQUAL(job.resources, TABLE);
    CHECK_EQUAL(job.resource_count, 4);
    CHECK(job.local_size[0] == 32 && job.local_size[1] == 8 && job.local_size[2] == 2);
    CHECK(job.offset[0] == 0 && job.offset[1] == 10 && job.offset[2] == 20);
    CHECK(job.group_count[0] == 3 && job.group_count[1] == 4 && job.group_count[2] == 5);
    CHECK_EQUAL(job.stack_bytes, 128);
    CHECK_EQUAL(job.stack_base, UINT64_C(0xfce00000)); // a 256th of it, without the address mode
    CHECK_EQUAL(job.shared_bytes, 256);
    CHECK_EQUAL(job.shared_instances, 32);
    CHECK_EQUAL(job.shared_base, UINT64_C(0x200005000));
}

static void selects(void) {
    for (unsigned s = 0; s < 4; s++) {
        struct mx_job job = {.memory = memory};
        fill(s);
        CHECK(mx_descriptor_read(&job, r, s * 0x55) == NULL);
        CHECK_EQUAL(job.code, UINT64_C(0x100bad080));
        CHECK_EQUAL(job.resources, TABLE);
    }
}

static void none(void) {
    struct mx_job job = {.memory = memory};
    fill(0);
    pair_set(0, 0);
    pair_set(8, 0);
    memset(place.storage, 0, sizeof place.storage);
    place.storage[1] = 0x1f; // no workgroup memory
    CHECK(mx_descriptor_read(&job, r, 0) == NULL);
    CHECK(job.resources == 0 && job.resource_count == 0 && job.fau_words == 0);
    CHECK(job.stack_bytes == 0 && job.shared_bytes == 0);
}

static void check_bad(void) {
    struct mx_job job = {.memory = memory};
    CHECK(mx_descriptor_read(&job, r, 0) != NULL);
}

static void bad(void) {
    fill(0);
    place.program[0] = 0x80000028; // a fragment shader
    check_bad();
    fill(0);
    place.program[0] = 0x80000019; // no shader program
    check_bad();
    fill(0);
    pair_set(16, BASE - 16);
    check_bad();
    fill(0);
    pair_set(24, BASE + sizeof place - 16);
    check_bad();
    fill(0);
    pair_set(8, FAU | UINT64_C(65) << 56);
    check_bad();
    fill(0);
    pair_set(8, (BASE + sizeof place - 8) | UINT64_C(2) << 56);
    check_bad();
}

// In a stream: the order, the numbers, a patched FAU word is read when the job runs, a fault ends the stream.
static void runs(void) {
    struct mx_stream_world world = {.core = mx_core_new(NULL)};
    struct mx_queue queue = {0};
    struct mx_fault fault = {0};
    bool progress = false;
    fill(0);
    const uint64_t stream[] = {i_any(4, 0, 0, 0, 0x4001), i_move48(40, FAU), i_move32(42, 99),
                               i_words(false, 42, 40, 1, 0), i_any(44, 0, 0, 0, 1)};
    memcpy(place.code, stream, sizeof stream);
    memcpy(queue.registers, r, sizeof r);
    mx_stream_begin(&queue, BASE, sizeof stream, 0);
    CHECK_EQUAL(mx_stream_run(&world, &queue, memory, &progress, &fault), MX_STREAM_DONE);
    CHECK_EQUAL(mock.count, 2);
    CHECK(mock.jobs[0].number == 1 && mock.jobs[1].number == 2);
    CHECK(mock.jobs[0].fau[0] == 0 && mock.jobs[1].fau[0] == 99);
    place.program[2] = MOCK_FAULTY;
    place.program[3] = 0;
    mx_stream_begin(&queue, BASE, sizeof stream, 0);
    CHECK_EQUAL(mx_stream_run(&world, &queue, memory, &progress, &fault), MX_STREAM_FAULT);
    CHECK_EQUAL(mock.count, 3);
    CHECK_EQUAL(fault.job, 3);
    place.program[0] = 0;
    mx_stream_begin(&queue, BASE, sizeof stream, 0);
    CHECK_EQUAL(mx_stream_run(&world, &queue, memory, &progress, &fault), MX_STREAM_FAULT);
    CHECK_EQUAL(fault.kind, MX_FAULT_DESCRIPTOR);
    CHECK_EQUAL(mock.count, 3);
}

#define TEST(name)                                                                                                     \
    static void run_##name(void) {                                                                                     \
        with_memory(name);                                                                                             \
    }
TEST(all)
TEST(selects)
TEST(none)
TEST(bad)
TEST(runs)

const struct test job_tests[] = {{"job: every field", run_all},
                                 {"job: register selectors", run_selects},
                                 {"job: without tables and storage", run_none},
                                 {"job: bad descriptors", run_bad},
                                 {"job: in a stream", run_runs},
                                 {0}};
