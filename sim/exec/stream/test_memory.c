// SPDX-License-Identifier: MIT
// Address spaces.
#include "stream_test.h"

#define PAGE UINT64_C(4096)

static uint8_t host[16 * 4096];

static struct mx_region region(uint64_t first_page, uint64_t pages, uint64_t host_page) {
    return (struct mx_region){
        .begin = first_page * PAGE, .end = (first_page + pages) * PAGE, .host = host + host_page * PAGE};
}

static bool map(struct mx_memory *memory, uint64_t first_page, uint64_t pages, uint64_t host_page) {
    struct mx_region wanted = region(first_page, pages, host_page);
    return mx_memory_map(memory, &wanted);
}

static void check_at(const struct mx_memory *memory, uint64_t page, const void *wanted) {
    CHECK(mx_memory_at(memory, page * PAGE, PAGE) == wanted);
}

static void run_find(void) {
    struct mx_memory *memory = mx_memory_new();
    CHECK(mx_memory_find(memory, 0) == NULL);
    CHECK(map(memory, 10, 2, 0) && map(memory, 4, 1, 2) && map(memory, 12, 1, 3));
    check_at(memory, 10, host);
    check_at(memory, 4, host + 2 * PAGE);
    check_at(memory, 5, NULL);
    CHECK(mx_memory_at(memory, 12 * PAGE - 1, 1) == host + 2 * PAGE - 1);
    CHECK(mx_memory_at(memory, 12 * PAGE - 1, 2) == NULL); // contiguous to the GPU, not to the host
    CHECK(mx_memory_at(memory, 13 * PAGE - 4, 8) == NULL);
    CHECK(mx_memory_at(memory, 4 * PAGE, UINT64_MAX) == NULL);
    CHECK_EQUAL(mx_memory_find(memory, 11 * PAGE)->begin, 10 * PAGE);
    CHECK(mx_memory_find(memory, 13 * PAGE) == NULL);
    mx_memory_free(memory);
}

static void run_cut(void) {
    struct mx_memory *memory = mx_memory_new();
    CHECK(map(memory, 0, 8, 0));
    CHECK(mx_memory_unmap(memory, 2 * PAGE, 3 * PAGE));
    check_at(memory, 1, host + PAGE);
    check_at(memory, 2, NULL);
    check_at(memory, 4, NULL);
    check_at(memory, 5, host + 5 * PAGE);
    CHECK(map(memory, 1, 5, 8)); // over a part of both, and the hole
    check_at(memory, 0, host);
    check_at(memory, 1, host + 8 * PAGE);
    check_at(memory, 5, host + 12 * PAGE);
    check_at(memory, 6, host + 6 * PAGE);
    CHECK(mx_memory_unmap(memory, 0, 100 * PAGE));
    CHECK(mx_memory_find(memory, 0) == NULL && mx_memory_find(memory, 7 * PAGE) == NULL);
    mx_memory_free(memory);
}

static void run_many(void) {
    struct mx_memory *memory = mx_memory_new();
    for (uint64_t i = 0; i < 3000; i++)
        CHECK(map(memory, (i * 1009 % 3000) * 2, 1, i % 16));
    for (uint64_t i = 0; i < 3000; i++)
        check_at(memory, (i * 1009 % 3000) * 2, host + i % 16 * PAGE);
    CHECK(mx_memory_find(memory, PAGE) == NULL);
    mx_memory_free(memory);
    mx_memory_free(NULL);
}

const struct test memory_tests[] = {{"memory: finding", run_find},
                                    {"memory: mappings cut by others", run_cut},
                                    {"memory: many regions", run_many},
                                    {0}};
