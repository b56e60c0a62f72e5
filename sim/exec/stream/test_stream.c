// SPDX-License-Identifier: MIT
// Every instruction of command streams, those that are not known, and what a stream may not do.
#include "stream_test.h"

#include <string.h>

#include "stream.h"

#define CODE UINT64_C(0x10000) // GPU address of the streams
#define DATA UINT64_C(0x7fff00000000)
#define WORDS 512

static uint64_t code[WORDS];
static uint32_t data[WORDS];
static struct mx_memory *memory;
static struct mx_stream_world world;
static struct mx_queue queue;
static struct mx_fault fault;
static bool progress;

static void reset(void) {
    memset(code, 0, sizeof code);
    memset(data, 0, sizeof data);
    queue = (struct mx_queue){0};
    world = (struct mx_stream_world){.core = mx_core_new(NULL), .instruction_limit = 10000};
}

static enum mx_stream_state go_on(void) {
    progress = false;
    fault = (struct mx_fault){0};
    return mx_stream_run(&world, &queue, memory, &progress, &fault);
}

// Runs the instructions, up to a 0-terminated list's end: a NOP cannot be written so.
static enum mx_stream_state run(const uint64_t *instructions) {
    size_t count = 0;
    while (instructions[count] != 0)
        count++;
    memcpy(code, instructions, count * 8);
    mx_stream_begin(&queue, CODE, count * 8, 0);
    return go_on();
}
#define RUN(...) run((const uint64_t[]){__VA_ARGS__, 0})

static uint64_t pair(unsigned r) {
    return (uint64_t)queue.registers[r + 1] << 32 | queue.registers[r];
}

static void with_memory(void (*test)(void)) {
    struct mx_region regions[2] = {
        {.begin = CODE, .end = CODE + sizeof code, .host = (uint8_t *)code},
        {.begin = DATA, .end = DATA + sizeof data, .host = (uint8_t *)data},
    };
    memory = mx_memory_new();
    CHECK(mx_memory_map(memory, &regions[0]) && mx_memory_map(memory, &regions[1]));
    reset();
    test();
    mx_memory_free(memory);
}

static void check_fault(enum mx_stream_state state, enum mx_fault_kind kind) {
    CHECK_EQUAL(state, MX_STREAM_FAULT);
    CHECK_EQUAL(fault.kind, kind);
    CHECK(strlen(fault.text) > 0);
    CHECK_EQUAL(queue.depth, 0);
}

static void moves(void) {
    CHECK_EQUAL(RUN(i_move48(4, 0x123456789abc), i_move32(6, 0xdeadbeef), i_move32(95, 7), i_any(16, 8, 6, 0, 0x11),
                    i_any(17, 10, 4, 0, (uint32_t)-0xbc), i_any(18, 12, 6, 8, 0), i_any(18, 13, 8, 6, 0)),
                MX_STREAM_DONE);
    CHECK_EQUAL(pair(4), UINT64_C(0x123456789abc));
    CHECK_EQUAL(queue.registers[95], 7);
    CHECK_EQUAL(queue.registers[8], 0xdeadbf00);
    CHECK_EQUAL(pair(10), UINT64_C(0x123456789a00));
    CHECK_EQUAL(queue.registers[12], 0xdeadbeef);
    CHECK_EQUAL(queue.registers[13], 0xdeadbeef);
    // They persist.
    CHECK_EQUAL(RUN(i_any(16, 20, 6, 0, 1)), MX_STREAM_DONE);
    CHECK_EQUAL(queue.registers[20], 0xdeadbef0);
    CHECK_EQUAL(world.stats.streams, 2);
    CHECK_EQUAL(world.stats.instructions, 8);
    CHECK(progress);
}

static void words(void) {
    data[3] = 30;
    data[4] = 40;
    data[6] = 60;
    CHECK_EQUAL(RUN(i_move48(2, DATA + 16), i_words(true, 10, 2, 0xb, -4), i_words(false, 10, 2, 0x9, 256),
                    i_words(true, 10, 2, 0, 0)),
                MX_STREAM_DONE);
    CHECK_EQUAL(queue.registers[10], 30);
    CHECK_EQUAL(queue.registers[11], 40);
    CHECK_EQUAL(queue.registers[12], 0); // holes skip both sides
    CHECK_EQUAL(queue.registers[13], 60);
    CHECK_EQUAL(data[68], 30);
    CHECK_EQUAL(data[69], 0);
    CHECK_EQUAL(data[71], 60);
    check_fault(RUN(i_move48(2, DATA), i_words(true, 90, 2, 0xffff, 0)), MX_FAULT_STREAM);
    check_fault(RUN(i_move48(2, DATA), i_words(true, 10, 2, 1, -4)), MX_FAULT_TRANSLATION);
    CHECK_EQUAL(fault.address, DATA - 4);
    CHECK_EQUAL(fault.pc, CODE + 8);
}

// r2 counts down from `start` while the condition holds, r4 counts up.
static uint32_t loop(unsigned condition, int32_t start, int32_t step) {
    CHECK_EQUAL(RUN(i_move32(4, 0), i_move32(2, (uint32_t)start), i_any(16, 4, 4, 0, 1),
                    i_any(16, 2, 2, 0, (uint32_t)step), i_branch(condition, 2, -3)),
                MX_STREAM_DONE);
    return queue.registers[4];
}

static void branches(void) {
    CHECK_EQUAL(loop(0, -5, 1), 6); // <= 0
    CHECK_EQUAL(loop(1, 5, -1), 5); // > 0
    CHECK_EQUAL(loop(2, 1, -1), 2); // == 0
    CHECK_EQUAL(loop(3, 5, -1), 5); // != 0
    CHECK_EQUAL(loop(4, -5, 1), 5); // < 0
    CHECK_EQUAL(loop(5, 5, -1), 6); // >= 0
    CHECK_EQUAL(RUN(i_move32(4, 1), i_branch(6, 0, 1), i_move32(4, 2), i_move32(5, 3)), MX_STREAM_DONE);
    CHECK_EQUAL(queue.registers[4], 1);
    CHECK_EQUAL(queue.registers[5], 3);
    check_fault(RUN(i_branch(7, 0, 1)), MX_FAULT_STREAM);
    check_fault(RUN(i_move32(4, 1), i_branch(6, 0, -2)), MX_FAULT_ENDLESS);
    CHECK_EQUAL(fault.pc, CODE + 0);
}

#define OTHER (CODE + 256 * 8)

static void calls(void) {
    code[256] = i_any(16, 4, 4, 0, 1); // the callee
    code[257] = i_any(16, 4, 4, 0, 1);
    CHECK_EQUAL(RUN(i_move48(2, OTHER), i_move32(6, 16), i_any(CALL, 0, 2, 6, 0), i_any(CALL, 0, 2, 6, 0),
                    i_any(16, 4, 4, 0, 100)),
                MX_STREAM_DONE);
    CHECK_EQUAL(queue.registers[4], 104);
    queue.registers[4] = 0;
    CHECK_EQUAL(RUN(i_move48(2, OTHER), i_move32(6, 16), i_any(JUMP, 0, 2, 6, 0), i_any(16, 4, 4, 0, 100)),
                MX_STREAM_DONE);
    CHECK_EQUAL(queue.registers[4], 2); // a jump does not come back
    // A callee that calls itself: eight levels, not nine.
    code[256] = i_any(16, 4, 4, 0, (uint32_t)-1);
    code[257] = i_branch(0, 4, 1);
    code[258] = i_any(CALL, 0, 2, 6, 0);
    CHECK_EQUAL(RUN(i_move48(2, OTHER), i_move32(6, 24), i_move32(4, 8), i_any(CALL, 0, 2, 6, 0)), MX_STREAM_DONE);
    CHECK_EQUAL(queue.registers[4], 0);
    check_fault(RUN(i_move48(2, OTHER), i_move32(6, 24), i_move32(4, 9), i_any(CALL, 0, 2, 6, 0)), MX_FAULT_STREAM);
    check_fault(RUN(i_move48(2, OTHER), i_move32(6, 12), i_any(CALL, 0, 2, 6, 0)), MX_FAULT_STREAM);
    check_fault(RUN(i_move48(2, OTHER + 4096), i_move32(6, 16), i_any(JUMP, 0, 2, 6, 0)), MX_FAULT_TRANSLATION);
}

static void syncs(void) {
    data[0] = data[4] = 5;
    CHECK_EQUAL(RUN(i_move48(2, DATA), i_move48(4, UINT64_C(0x100000001)), i_any(ADD32, 0, 2, 4, 0x00010001)),
                MX_STREAM_DONE);
    CHECK_EQUAL(data[0], 6);
    CHECK_EQUAL(data[1], 0);
    CHECK_EQUAL(RUN(i_any(SET32, 0, 2, 4, 0)), MX_STREAM_DONE);
    CHECK_EQUAL(data[0], 1);
    CHECK_EQUAL(RUN(i_move48(2, DATA + 16), i_any(ADD64, 1, 2, 4, 4)), MX_STREAM_DONE);
    CHECK_EQUAL(data[4], 6);
    CHECK_EQUAL(data[5], 1);
    CHECK_EQUAL(queue.error_word, DATA + 24);
    CHECK_EQUAL(RUN(i_any(SET64, 0, 2, 4, 0)), MX_STREAM_DONE);
    CHECK_EQUAL(data[4], 1);
    check_fault(RUN(i_move48(2, DATA - 8), i_any(SET64, 0, 2, 4, 0)), MX_FAULT_TRANSLATION);
}

static void check_blocks(unsigned opcode, uint32_t condition, uint32_t value, bool blocks) {
    memset(data, 0, sizeof data);
    data[0] = value;
    CHECK_EQUAL(RUN(i_move48(2, DATA), i_move48(4, 7), i_any(opcode, 0, 2, 4, condition), i_move32(8, 1)),
                blocks ? MX_STREAM_BLOCKED : MX_STREAM_DONE);
}

static void waits(void) {
    for (unsigned opcode = WAIT32; opcode <= WAIT64; opcode += WAIT64 - WAIT32) {
        check_blocks(opcode, 0, 7, false);
        check_blocks(opcode, 0, 8, true);
        check_blocks(opcode, ABOVE, 8, false);
        check_blocks(opcode, ABOVE | 1, 7, true);
        queue.registers[8] = 0;
        CHECK_EQUAL(go_on(), MX_STREAM_BLOCKED);
        CHECK(!progress);
        data[0] = 8;
        CHECK_EQUAL(go_on(), MX_STREAM_DONE);
        CHECK(progress);
        CHECK_EQUAL(queue.registers[8], 1);
    }
    check_fault(RUN(i_move48(2, DATA), i_any(WAIT32, 0, 2, 4, UINT32_C(2) << 28)), MX_FAULT_STREAM);
    check_fault(RUN(i_move48(2, 0), i_any(WAIT64, 0, 2, 4, ABOVE)), MX_FAULT_TRANSLATION);
    // Signed numbers are not meant.
    check_blocks(WAIT32, ABOVE, UINT32_MAX, false);
}

static void states(void) {
    uint64_t values[2];
    CHECK_EQUAL(RUN(i_move48(2, DATA), i_any(40, 0, 2, 0, 8), i_any(40, 0, 2, 1, 16), i_any(40, 0, 2, 3, 24)),
                MX_STREAM_DONE);
    memcpy(values, data + 2, sizeof values);
    CHECK(values[0] > 0 && values[1] / values[0] == 41); // 24 MHz against 1 GHz
    CHECK_EQUAL(data[6], 0);
}

// Instructions without an effect here, with all the bits that they may have.
static void without_effect(void) {
    struct mx_queue before;
    code[0] = 0;
    mx_stream_begin(&queue, CODE, 8, 0);
    CHECK_EQUAL(go_on(), MX_STREAM_DONE); // NOP
    before = queue;
    CHECK_EQUAL(RUN(i_any(3, 0, 0, 0, 0xff0000), i_any(23, 0, 0, 0, 0x03), i_any(34, 0, 0, 0, 1),
                    i_any(36, 0, 92, 0, 0x00ff0233), i_any(47, 0, 0, 0, 0), i_any(48, 0, 92, 0, 0),
                    i_any(49, 0, 0, 0, 0x10000), i_any(25, 0, 4, 6, 0)),
                MX_STREAM_DONE);
    CHECK_EQUAL(memcmp(before.registers, queue.registers, 92 * 4), 0);
}

static void unknown(void) {
    const uint64_t bad[] = {
        UINT64_C(0x05) << 56,            // protected mode
        UINT64_C(0xff) << 56 | 1,        // none
        i_any(50, 0, 0, 0, 0),           // tracing
        i_any(3, 0, 0, 0, 0x01000001),   // WAIT with a bit too many
        i_any(16, 4, 4, 1, 0),           // ADD_IMM32 likewise
        i_any(CALL, 0, 2, 6, 1),         // CALL
        i_any(4, 0, 0, 0, 1u << 16),     // RUN_COMPUTE
        i_any(34, 0, 0, 0, 0x10),        // REQ_RESOURCE
        i_move48(95, 1),                 // half of the pair is not there
        i_move32(96, 1),                 // nor is this
        i_any(16, 4, 96, 0, 0),          // as a source
        i_any(17, 4, 95, 0, 0),          //
        i_any(ADD64, 0, 2, 95, 0),       //
        i_any(CALL, 0, 95, 6, 0),        //
        i_branch(1, 200, 1),             //
        i_words(true, 4, 95, 1, 0),      //
        i_any(WAIT32, 0, 120, 4, ABOVE), //
        i_any(18, 4, 4, 97, 0),          //
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        reset();
        check_fault(RUN(bad[i]), MX_FAULT_STREAM);
        CHECK_EQUAL(fault.pc, CODE);
    }
}

static void error_words(void) {
    queue.registers[90] = (uint32_t)DATA;
    queue.registers[91] = DATA >> 32;
    queue.error_word = 77;
    memcpy(data, &(uint64_t){DATA + 64}, 8);
    CHECK_EQUAL(mx_stream_error_word(&queue, memory, 2), DATA + 64 + 32 + 8);
    memcpy(data, &(uint64_t){DATA + 4}, 8);
    CHECK_EQUAL(mx_stream_error_word(&queue, memory, 2), 77);
    queue.registers[90] = 0;
    CHECK_EQUAL(mx_stream_error_word(&queue, memory, 0), 77);
}

static void stops(void) {
    world.stop = true;
    CHECK_EQUAL(RUN(i_move32(4, 1)), MX_STREAM_BLOCKED);
    CHECK_EQUAL(queue.registers[4], 0);
}

#define TEST(name)                                                                                                     \
    static void run_##name(void) {                                                                                     \
        with_memory(name);                                                                                             \
    }
TEST(moves)
TEST(words)
TEST(branches)
TEST(calls)
TEST(syncs)
TEST(waits)
TEST(states)
TEST(without_effect)
TEST(unknown)
TEST(error_words)
TEST(stops)

const struct test stream_tests[] = {{"stream: moves and sums", run_moves},
                                    {"stream: loads and stores", run_words},
                                    {"stream: branches, an endless loop", run_branches},
                                    {"stream: calls and jumps", run_calls},
                                    {"stream: synchronisation objects", run_syncs},
                                    {"stream: waits", run_waits},
                                    {"stream: timestamps", run_states},
                                    {"stream: without effect", run_without_effect},
                                    {"stream: unknown", run_unknown},
                                    {"stream: where faults are written", run_error_words},
                                    {"stream: stopped", run_stops},
                                    {0}};
