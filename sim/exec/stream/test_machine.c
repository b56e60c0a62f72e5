// SPDX-License-Identifier: MIT
// Queues, groups and the thread that runs them.
#include "stream_test.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#include "machine.h"

#define CODE UINT64_C(0x10000)
#define DATA UINT64_C(0x20000)
#define STREAM_WORDS 32 // a stream's place
#define ENDS_MAX 64

static uint64_t code[32 * STREAM_WORDS];
static uint32_t data[1024]; // as 16-byte sync objects at first, then descriptors
static struct mx_machine *machine;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct {
    uint32_t count;
    uint64_t numbers[ENDS_MAX];
    uint32_t codes[ENDS_MAX];
    uint32_t fatal_group, fatal_queue, fatals;
} ends;

static void on_done(void *context, uint64_t number, uint32_t code_of_it) {
    (void)context;
    pthread_mutex_lock(&mutex);
    ends.numbers[ends.count] = number;
    ends.codes[ends.count++] = code_of_it;
    pthread_mutex_unlock(&mutex);
}

static void on_fatal(void *context, uint32_t group, uint32_t queue, uint32_t code_of_it) {
    (void)context;
    (void)code_of_it;
    pthread_mutex_lock(&mutex);
    ends.fatal_group = group;
    ends.fatal_queue = queue;
    ends.fatals++;
    pthread_mutex_unlock(&mutex);
}

static void pause_ms(long ms) {
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

static uint32_t count_now(void) {
    pthread_mutex_lock(&mutex);
    uint32_t count = ends.count;
    pthread_mutex_unlock(&mutex);
    return count;
}

// Until so many jobs have ended, five seconds at most; no more may end.
static void check_ends(uint32_t count) {
    for (int i = 0; i < 1000 && count_now() < count; i++)
        pause_ms(5);
    pause_ms(10);
    CHECK_EQUAL(count_now(), count);
}

static void check_end(uint32_t at, uint64_t number, uint32_t code_of_it) {
    CHECK_EQUAL(ends.numbers[at], number);
    CHECK_EQUAL(ends.codes[at], code_of_it);
}

static void map(uint64_t address, void *host, uint64_t bytes) {
    struct mx_region region = {.begin = address, .end = address + bytes, .host = host};
    CHECK(mx_machine_map(machine, 1, &region));
}

static void with_machine(void (*test)(void)) {
    static const struct mx_machine_listener listener = {NULL, on_done, on_fatal};
    struct mx_machine_options options = {.listener = &listener, .stream_limit = 1000};
    memset(&ends, 0, sizeof ends);
    memset(data, 0, sizeof data);
    machine = mx_machine_new(&options);
    CHECK(machine != NULL);
    map(CODE, code, sizeof code);
    map(DATA, data, sizeof data);
    CHECK(mx_machine_group(machine, 1, 1, 3) && mx_machine_group(machine, 2, 1, 3));
    test();
    mx_machine_free(machine);
}

// Writes a stream into its place, submits it. The list ends with 0.
static void submit_list(uint32_t group, uint32_t queue, uint64_t number, const uint64_t *instructions) {
    size_t count = 0, at = number * STREAM_WORDS;
    for (; instructions[count] != 0; count++)
        code[at + count] = instructions[count];
    CHECK(mx_machine_submit(machine, group, queue, number, CODE + 8 * at, 8 * count, 0));
}
#define SUBMIT(group, queue, number, ...) submit_list(group, queue, number, (const uint64_t[]){__VA_ARGS__, 0})

// Instructions that wait until object i is above the value, and that add one to it.
#define AWAIT(i, value) i_move48(2, DATA + 16 * (i)), i_move48(4, value), i_any(WAIT64, 0, 2, 4, ABOVE)
#define ADD(i) i_move48(2, DATA + 16 * (i)), i_move48(4, 1), i_any(ADD64, 0, 2, 4, 0)

static uint32_t word(uint32_t i) {
    return __atomic_load_n(&data[i], __ATOMIC_SEQ_CST);
}

static void order(void) {
    SUBMIT(1, 0, 1, AWAIT(0, 0), ADD(1));
    CHECK(mx_machine_submit(machine, 1, 0, 2, 0, 0, 0));
    SUBMIT(1, 1, 3, ADD(2));
    check_ends(1);
    check_end(0, 3, 0);
    SUBMIT(2, 2, 4, AWAIT(2, 0), ADD(0)); // of another group
    check_ends(4);
    CHECK(word(4) == 1 && word(0) == 1 && word(8) == 1);
    for (uint32_t i = 1, last = 0; i < 4; i++)
        if (ends.numbers[i] < 3) {
            CHECK(ends.numbers[i] == last + 1);
            last++;
        }
}

// To and fro between two queues.
static void ping_pong(void) {
    SUBMIT(1, 0, 1, AWAIT(0, 0), ADD(1), AWAIT(0, 1), ADD(1), AWAIT(0, 2), ADD(1));
    SUBMIT(1, 2, 2, ADD(0), AWAIT(1, 0), ADD(0), AWAIT(1, 1), ADD(0), AWAIT(1, 2));
    check_ends(2);
    CHECK(word(0) == 3 && word(4) == 3);
}

static void host_writes(void) {
    SUBMIT(1, 0, 1, AWAIT(0, 0));
    check_ends(0);
    __atomic_store_n(&data[0], 1, __ATOMIC_SEQ_CST);
    check_ends(1);
}

// The queue's own object gets the code, all the group's jobs end, new ones are refused; other groups go on.
static void fault(void) {
    memcpy(&data[100], &(uint64_t){DATA + 16 * 40}, 8); // the context: the queues' objects
    SUBMIT(1, 0, 1, AWAIT(0, 0));
    SUBMIT(1, 0, 2, ADD(1));
    CHECK(mx_machine_submit(machine, 1, 0, 3, 0, 0, 0));
    SUBMIT(2, 0, 4, AWAIT(0, 0), ADD(2));
    check_ends(0);
    SUBMIT(1, 2, 5, i_move48(90, DATA + 400), ADD(3), UINT64_C(0xff) << 56, ADD(3));
    check_ends(4);
    for (uint32_t i = 0; i < 4; i++)
        CHECK_EQUAL(ends.codes[i], 0x49);
    CHECK(word(12) == 1 && word(4) == 0);
    CHECK_EQUAL(word((40 + 2) * 4 + 2), 0x49);
    CHECK(ends.fatals == 1 && ends.fatal_group == 1 && ends.fatal_queue == 2);
    CHECK(!mx_machine_submit(machine, 1, 1, 6, 0, 0, 0));
    __atomic_store_n(&data[0], 1, __ATOMIC_SEQ_CST);
    check_ends(5);
    CHECK_EQUAL(ends.codes[4], 0);
    CHECK_EQUAL(word(8), 1);
    json_t *report = json_object();
    CHECK(mx_machine_report(machine, report));
    const json_t *first = json_array_get(json_object_get(report, "faults"), 0);
    CHECK_EQUAL(json_array_size(json_object_get(report, "faults")), 1);
    CHECK(first != NULL && strcmp(json_string_value(json_object_get(first, "kind")), "stream") == 0);
    CHECK_EQUAL(json_integer_value(json_object_get(first, "code")), 0x49);
    json_decref(report);
}

static void endless(void) {
    SUBMIT(1, 0, 1, i_branch(6, 0, -1));
    check_ends(1);
    CHECK(ends.codes[0] != 0);
}

static void gone(void) {
    SUBMIT(1, 0, 1, AWAIT(0, 0), ADD(1));
    CHECK(mx_machine_submit(machine, 1, 0, 2, 0, 0, 0));
    check_ends(0);
    mx_machine_group_gone(machine, 1);
    check_ends(2);
    CHECK(word(4) == 0);
    CHECK(!mx_machine_submit(machine, 1, 0, 3, 0, 0, 0));
    CHECK(!mx_machine_submit(machine, 2, 3, 3, 0, 0, 0)); // a queue that it lacks
    CHECK(mx_machine_group(machine, 1, 1, 1));
    SUBMIT(1, 0, 4, ADD(1));
    check_ends(3);
}

// A job's program and storage descriptors, at data + 512 words.
static void submit_job(uint64_t number, uint64_t shader) {
    uint32_t *program = &data[512], *storage = &data[528];
    memset(program, 0, 128);
    program[0] = 0x80000018;
    memcpy(&program[2], &shader, 8);
    storage[1] = 0x1f;
    SUBMIT(1, 2, number, i_move48(16, DATA + 2048), i_move48(24, DATA + 2112), i_move32(37, 1), i_move32(38, 1),
           i_move32(39, 1), i_any(4, 0, 0, 0, 1), ADD(1));
}

static void *unmap_later(void *argument) {
    (void)argument;
    CHECK(mx_machine_unmap(machine, 1, CODE, 4096));
    __atomic_store_n(&data[0], 1, __ATOMIC_SEQ_CST);
    return NULL;
}

static void slow_job_start(void) {
    submit_job(1, MOCK_SLOW);
    while (!__atomic_load_n(&mock.slow_runs, __ATOMIC_SEQ_CST))
        pause_ms(1);
}

// A change of an address space waits for the job, submissions do not.
static void changes(void) {
    pthread_t thread;
    slow_job_start();
    SUBMIT(2, 0, 2, ADD(2));
    CHECK_EQUAL(pthread_create(&thread, NULL, unmap_later, NULL), 0);
    pause_ms(30);
    CHECK_EQUAL(word(0), 0);
    __atomic_store_n(&mock.slow_end, true, __ATOMIC_SEQ_CST);
    pthread_join(thread, NULL);
    CHECK_EQUAL(word(0), 1);
    check_ends(2);
}

static void job_fault(void) {
    submit_job(1, MOCK_FAULTY);
    check_ends(1);
    check_end(0, 1, 0xc0);
    CHECK_EQUAL(word(4), 0);
}

static void stops(void) {
    slow_job_start();
    CHECK(!mx_machine_stop(machine, 0));
    __atomic_store_n(&mock.slow_end, true, __ATOMIC_SEQ_CST);
    CHECK(mx_machine_stop(machine, 5));
    CHECK_EQUAL(word(4), 0); // the stream went no further
    CHECK_EQUAL(count_now(), 0);
}

#define TEST(name)                                                                                                     \
    static void run_##name(void) {                                                                                     \
        with_machine(name);                                                                                            \
    }
TEST(order)
TEST(ping_pong)
TEST(host_writes)
TEST(fault)
TEST(endless)
TEST(gone)
TEST(changes)
TEST(job_fault)
TEST(stops)

const struct test machine_tests[] = {{"machine: order", run_order},
                                     {"machine: two queues that wait for each other", run_ping_pong},
                                     {"machine: a word that the host writes", run_host_writes},
                                     {"machine: fault", run_fault},
                                     {"machine: endless stream", run_endless},
                                     {"machine: group gone", run_gone},
                                     {"machine: address spaces change between jobs", run_changes},
                                     {"machine: a job's fault", run_job_fault},
                                     {"machine: stopped", run_stops},
                                     {0}};
