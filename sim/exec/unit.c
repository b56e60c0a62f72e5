// SPDX-License-Identifier: MIT
#include "unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int failures; // of this test

void test_check(bool good, const char *file, int line, const char *condition) {
    if (good)
        return;
    failures++;
    fprintf(stderr, "%s:%d: not so: %s\n", file, line, condition);
}

void test_check_equal(uint64_t value, uint64_t wanted, const char *file, int line, const char *expression) {
    if (value == wanted)
        return;
    failures++;
    fprintf(stderr, "%s:%d: %s is 0x%" PRIx64 ", not 0x%" PRIx64 "\n", file, line, expression, value, wanted);
}

void test_check_text(const char *text, const char *wanted, const char *file, int line) {
    if (strcmp(text, wanted) == 0)
        return;
    failures++;
    fprintf(stderr, "%s:%d: '%s', not '%s'\n", file, line, text, wanted);
}

int test_main(int argc, char **argv, const struct test *const *tables, size_t count, void (*before)(void)) {
    int passed = 0, failed = 0;
    for (size_t i = 0; i < count; i++)
        for (const struct test *test = tables[i]; test->name != NULL; test++) {
            if (argc > 1 && strstr(test->name, argv[1]) == NULL)
                continue;
            failures = 0;
            before();
            test->run();
            passed += failures == 0;
            failed += failures > 0;
            if (failures > 0)
                printf("failed: %s\n", test->name);
        }
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0 || passed == 0;
}
