// SPDX-License-Identifier: MIT
// What the unit tests of several parts share: checks that note their place, tables of tests, and the run of them.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Notes a failure with its place; the test goes on.
#define CHECK(condition) test_check((condition), __FILE__, __LINE__, #condition)
#define CHECK_EQUAL(value, wanted) test_check_equal((uint64_t)(value), (uint64_t)(wanted), __FILE__, __LINE__, #value)
#define CHECK_TEXT(text, wanted) test_check_text((text), (wanted), __FILE__, __LINE__)
void test_check(bool good, const char *file, int line, const char *condition);
void test_check_equal(uint64_t value, uint64_t wanted, const char *file, int line, const char *expression);
void test_check_text(const char *text, const char *wanted, const char *file, int line);

struct test {
    const char *name;
    void (*run)(void);
};

// Runs the tests of the tables, each ended by a test without a name; `before` comes before each. argv[1] is a part of
// the names of those to run. Prints "N passed, N failed"; returns main's status.
int test_main(int argc, char **argv, const struct test *const *tables, size_t count, void (*before)(void));
