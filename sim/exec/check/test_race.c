// SPDX-License-Identifier: MIT
#include <pthread.h>
#include <string.h>

#include "check_test.h"
#include "race.h"

static const struct mx_message load_message = {.access = MX_LOAD}, store_message = {.access = MX_STORE};

struct accesses {
    uint32_t load, store, atomic;
};

// r2 is what is stored.
static struct accesses accesses_add(struct fake *fake, uint64_t word) {
    struct accesses accesses;
    struct mx_source pointer = word != 0 ? fake_pointer() : fake_register(60, 2);
    accesses.load = fake_insn(fake, "LOAD.i32", WORD_LOAD_I32 | word, 5, 1, SOURCES(pointer));
    accesses.store = fake_insn(fake, "STORE.i32", word, 0, 0, SOURCES(pointer, fake_register(62, 1)));
    accesses.atomic = fake_insn(fake, "ATOM_RETURN.i32", word, 5, 1, SOURCES(pointer, fake_register(62, 1)));
    fake_job(fake);
    fake->job.preload = 0x7000;
    fake_group(fake, 0);
    return accesses;
}

// Warp w stores w + 1.
static void store(struct fake *fake, uint32_t warp, uint32_t insn, uint64_t address) {
    fake->warps[warp].registers[62] = (mx_u32){0} + (warp + 1);
    fake_message(fake, warp, insn, &store_message, address, 4);
}

static void shared_race(struct fake *fake) {
    struct accesses a = accesses_add(fake, WORD_SHARED);
    store(fake, 0, a.store, FAKE_SHARED);
    fake_message(fake, 0, a.load, &load_message, FAKE_SHARED, 4);
    CHECK_EQUAL(fake_findings(fake, NULL), 0);
    fake_message(fake, 1, a.load, &load_message, FAKE_SHARED + 60, 4); // one word of it
    CHECK_EQUAL(fake_findings(fake, NULL), 1);
    CHECK_EQUAL(fake_occurrences(fake, "race-shared"), 1);
}

static void shared_barrier(struct fake *fake) {
    struct accesses a = accesses_add(fake, WORD_SHARED);
    store(fake, 0, a.store, FAKE_SHARED);
    fake->observer->barrier(fake->observer->context, &fake->group);
    fake_message(fake, 1, a.load, &load_message, FAKE_SHARED, 4);
    fake_message(fake, 2, a.load, &load_message, FAKE_SHARED, 4);
    fake->observer->barrier(fake->observer->context, &fake->group);
    store(fake, 3, a.store, FAKE_SHARED);
    fake_group(fake, 1); // its own memory
    store(fake, 0, a.store, FAKE_SHARED);
    CHECK_EQUAL(fake_findings(fake, NULL), 0);
}

static void read_then_written(struct fake *fake) {
    struct accesses a = accesses_add(fake, 0);
    fake_message(fake, 0, a.load, &load_message, FAKE_BUFFER, 4);
    fake_message(fake, 1, a.load, &load_message, FAKE_BUFFER, 4);
    CHECK_EQUAL(fake_findings(fake, NULL), 0);
    store(fake, 1, a.store, FAKE_BUFFER); // warp 0 has read it
    CHECK_EQUAL(fake_findings(fake, NULL), 1);
    CHECK_EQUAL(fake_occurrences(fake, "race-global"), 16);
}

static void global_groups(struct fake *fake) {
    struct accesses a = accesses_add(fake, 0);
    store(fake, 0, a.store, FAKE_BUFFER);
    fake_group(fake, 1);
    store(fake, 0, a.store, FAKE_BUFFER + 64);
    fake_message(fake, 0, a.load, &load_message, FAKE_BUFFER + 128, 4);
    fake_group(fake, 2);
    fake_message(fake, 0, a.load, &load_message, FAKE_BUFFER + 128, 4);
    CHECK_EQUAL(fake_findings(fake, NULL), 0);
    fake->observer->barrier(fake->observer->context, &fake->group); // orders nothing between workgroups
    fake_message(fake, 0, a.load, &load_message, FAKE_BUFFER, 4);
    CHECK_EQUAL(fake_findings(fake, NULL), 1);
    CHECK_EQUAL(fake_occurrences(fake, "race-global"), 16);
}

// The next job comes after.
static void global_jobs(struct fake *fake) {
    struct accesses a = accesses_add(fake, 0);
    store(fake, 0, a.store, FAKE_BUFFER);
    fake_end(fake);
    fake_job(fake);
    fake->job.preload = 0x7000;
    fake_group(fake, 0);
    fake_message(fake, 0, a.load, &load_message, FAKE_BUFFER, 4);
    CHECK_EQUAL(fake_findings(fake, NULL), 0);
}

static void atomics(struct fake *fake) {
    struct accesses a = accesses_add(fake, 0);
    const struct mx_message atomic = {.access = MX_ATOMIC};
    fake_message(fake, 0, a.atomic, &atomic, FAKE_BUFFER, 0);
    fake_message(fake, 1, a.atomic, &atomic, FAKE_BUFFER, 0);
    fake_group(fake, 1);
    fake_message(fake, 0, a.atomic, &atomic, FAKE_BUFFER, 0);
    CHECK_EQUAL(fake_findings(fake, NULL), 0);
    fake_message(fake, 0, a.load, &load_message, FAKE_BUFFER, 0); // no atomic
    CHECK_EQUAL(fake_findings(fake, NULL), 1);
    CHECK_EQUAL(fake_findings(fake, "race-global"), 1);
}

// What was stored before the barrier is no plain store beside the atomics after it.
static void atomics_after_barrier(struct fake *fake) {
    struct accesses a = accesses_add(fake, WORD_SHARED);
    const struct mx_message atomic = {.access = MX_ATOMIC};
    store(fake, 0, a.store, FAKE_SHARED);
    fake->observer->barrier(fake->observer->context, &fake->group);
    fake_message(fake, 0, a.atomic, &atomic, FAKE_SHARED, 0);
    fake_message(fake, 1, a.atomic, &atomic, FAKE_SHARED, 0);
    CHECK_EQUAL(fake_findings(fake, NULL), 0);
    store(fake, 1, a.store, FAKE_SHARED); // warp 0 is not through with it
    CHECK_EQUAL(fake_findings(fake, "race-shared"), 1);
}

static void same_value(struct fake *fake) {
    struct accesses a = accesses_add(fake, 0);
    uint32_t value = 7;
    for (uint32_t i = 0; i < 16; i++)
        memcpy(fake->memory + 4 * i, &value, sizeof value); // what warp 0 will have stored
    fake->warps[0].registers[62] = fake->warps[1].registers[62] = (mx_u32){0} + value;
    fake_message(fake, 0, a.store, &store_message, FAKE_BUFFER, 4);
    fake_message(fake, 1, a.store, &store_message, FAKE_BUFFER, 4);
    CHECK_EQUAL(fake_findings(fake, NULL), 1);
    CHECK_EQUAL(fake_occurrences(fake, "race-same-value"), 16);
    CHECK_EQUAL(mx_check_errors(fake->check), 0);
    store(fake, 2, a.store, FAKE_BUFFER); // 3
    CHECK_EQUAL(fake_occurrences(fake, "race-global"), 16);
}

static void lanes_of_one_store(struct fake *fake) {
    struct accesses a = accesses_add(fake, 0);
    fake->warps[0].registers[62] = (mx_u32){0} + 9;
    fake_message(fake, 0, a.store, &store_message, FAKE_BUFFER, 0); // all the same value
    CHECK_EQUAL(fake_findings(fake, NULL), 0);
    fake->warps[0].registers[62][3] = 8;
    fake_message(fake, 0, a.store, &store_message, FAKE_BUFFER, 0);
    CHECK_EQUAL(fake_findings(fake, "race-global"), 1);
}

static void neighbours(struct fake *fake) {
    struct accesses a = accesses_add(fake, 0);
    const struct mx_message byte = {.access = MX_STORE, .bytes = 1};
    for (uint32_t warp = 0; warp < 4; warp++)
        fake_message(fake, warp, a.store, &byte, FAKE_BUFFER + warp, 4); // each a byte of every word
    CHECK_EQUAL(fake_findings(fake, NULL), 0);
    fake_message(fake, 1, a.store, &byte, FAKE_BUFFER + 4092, 4); // over the end of a page
    fake_message(fake, 2, a.load, &load_message, FAKE_BUFFER + 4092, 4);
    CHECK_EQUAL(fake_findings(fake, NULL), 1);
}

// Two threads, a thousand workgroups each that store to bytes of their own, and to one byte in common.
struct crowd {
    struct mx_race_map *map;
    uint32_t first;
    int conflicts;
};

static void *crowd_run(void *argument) {
    struct crowd *crowd = argument;
    static const uint8_t data[16] = {1};
    for (uint32_t group = crowd->first; group < 2000; group += 2) {
        struct mx_race_actor actor = {.group = group};
        struct mx_race_cursor cursor = {0};
        uint64_t own = 4096 + 16 * group;
        crowd->conflicts += mx_race_access(crowd->map, &cursor, &actor, MX_STORE, own, 16, data, NULL) != MX_RACE_NONE;
        crowd->conflicts += mx_race_access(crowd->map, &cursor, &actor, MX_STORE, 64, 1, data, NULL) != MX_RACE_NONE;
        mx_race_release(crowd->map, &cursor);
    }
    return NULL;
}

static void threads(struct fake *fake) {
    (void)fake;
    struct mx_race_map *map = mx_race_new(false, 1 << 24);
    struct crowd crowds[2] = {{.map = map, .first = 0}, {.map = map, .first = 1}};
    pthread_t thread;
    CHECK_EQUAL(pthread_create(&thread, NULL, crowd_run, &crowds[1]), 0);
    crowd_run(&crowds[0]);
    pthread_join(thread, NULL);
    CHECK_EQUAL(crowds[0].conflicts + crowds[1].conflicts, 1999); // all but the first: same value, other workgroup
    mx_race_free(map);
}

static void out_of_memory(struct fake *fake) {
    (void)fake;
    struct mx_race_map *map = mx_race_new(false, 20000);
    static const uint8_t data[4];
    struct mx_race_actor actor = {0};
    struct mx_race_cursor cursor = {0};
    for (uint64_t page = 0; page < 10; page++)
        CHECK_EQUAL(mx_race_access(map, &cursor, &actor, MX_STORE, 4096 * page, 4, data, NULL), MX_RACE_NONE);
    mx_race_release(map, &cursor);
    CHECK(mx_race_dropped(map) > 0);
    mx_race_free(map);
}

const struct test race_tests[] = {{"workgroup memory", shared_race},
                                  {"workgroup memory with barriers", shared_barrier},
                                  {"read, then written", read_then_written},
                                  {"workgroups", global_groups},
                                  {"jobs", global_jobs},
                                  {"atomics", atomics},
                                  {"atomics after a barrier", atomics_after_barrier},
                                  {"same value", same_value},
                                  {"lanes of one store", lanes_of_one_store},
                                  {"neighbours", neighbours},
                                  {"threads", threads},
                                  {"out of memory", out_of_memory},
                                  {0}};
