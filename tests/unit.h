// SPDX-License-Identifier: MIT
// rockfill-unit: the library's parts that need no GPU. What its files share.
#ifndef RF_UNIT_H
#define RF_UNIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct unit_test {
    const char *name;
    void (*run)(void);
};

// One table a file, ended by a test without a name.
extern const struct unit_test unit_cachefile_tests[], unit_device_tests[], unit_env_tests[], unit_product_tests[];

// Notes a failure of the running test with its place, as one line; the test goes on.
#define UNIT_CHECK(condition, ...) unit_check((condition), __FILE__, __LINE__, #condition, " " __VA_ARGS__)
void unit_check(bool good, const char *file, int line, const char *condition, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

// Repeatable random numbers.
uint32_t unit_random(void);
uint32_t unit_random_below(uint32_t limit); // limit > 0

// What is written to stderr from here on; unit_stderr_end gives it, valid until the next call, and shows nothing.
void unit_stderr_begin(void);
const char *unit_stderr_end(void);

// Lets the count-th allocation of the library fail, counted from 1; 0: none. True when the last such one did happen.
bool unit_allocation_fail(int count);

// A fresh, empty folder, which unit_folder_remove empties and removes.
void unit_folder_make(char *path, size_t path_bytes);
void unit_folder_remove(const char *path);
int unit_folder_count(const char *path); // of files in it

#endif
