// SPDX-License-Identifier: MIT
#include "check_test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int passed, failed;
static const char *running;

void test_check(bool good, const char *file, int line, const char *condition) {
    if (good) {
        passed++;
        return;
    }
    failed++;
    fprintf(stderr, "%s: %s:%d: not so: %s\n", running, file, line, condition);
}

void test_check_equal(int64_t value, int64_t wanted, const char *file, int line, const char *expression) {
    if (value == wanted) {
        passed++;
        return;
    }
    failed++;
    fprintf(stderr, "%s: %s:%d: %s is %" PRId64 " (0x%" PRIx64 "), not %" PRId64 " (0x%" PRIx64 ")\n", running, file,
            line, expression, value, (uint64_t)value, wanted, (uint64_t)wanted);
}

static bool fake_new(struct fake *fake) {
    *fake = (struct fake){.memory_fd = memfd_create("check_test", MFD_CLOEXEC)};
    if (fake->memory_fd < 0 || ftruncate(fake->memory_fd, FAKE_BUFFER_BYTES) != 0)
        return false;
    fake->memory = mmap(NULL, FAKE_BUFFER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fake->memory_fd, 0);
    fake->warps = aligned_alloc(64, FAKE_WARPS * sizeof *fake->warps);
    if (fake->memory == MAP_FAILED || fake->warps == NULL)
        return false;
    fake->check = mx_check_new(&(struct mx_check_options){
        .memory_fd = fake->memory_fd, .memory_base = fake->memory, .memory_bytes = FAKE_BUFFER_BYTES});
    if (fake->check == NULL)
        return false;
    fake->observer = mx_check_observer(fake->check);
    return true;
}

static void fake_free(struct fake *fake) {
    mx_check_free(fake->check);
    free(fake->warps);
    if (fake->memory != NULL && fake->memory != MAP_FAILED)
        munmap(fake->memory, FAKE_BUFFER_BYTES);
    close(fake->memory_fd);
}

int main(void) {
    const struct test *const tables[] = {rule_tests, taint_tests, memory_tests, race_tests, coherent_tests};
    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++) {
        for (const struct test *test = tables[t]; test->name != NULL; test++) {
            struct fake fake;
            running = test->name;
            if (fake_new(&fake))
                test->run(&fake);
            else
                test_check(false, __FILE__, __LINE__, "the test has memory");
            fake_free(&fake);
        }
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
