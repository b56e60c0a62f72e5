// SPDX-License-Identifier: MIT
#include "unit.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct unit_test *const tables[] = {unit_env_tests, unit_product_tests, unit_device_tests,
                                                 unit_cachefile_tests};

static const char *running;
static int failures; // of the running test
static uint64_t random_state;

void unit_check(bool good, const char *file, int line, const char *condition, const char *format, ...) {
    if (good) {
        return;
    }
    failures++;
    if (failures > 10) {
        return; // one wrong line of a table often fails all that follow
    }
    va_list arguments;
    va_start(arguments, format);
    printf("%s:%d: %s: %s;", file, line, running, condition);
    vprintf(format, arguments);
    putchar('\n');
    va_end(arguments);
}

uint32_t unit_random(void) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u; // Knuth's MMIX
    return (uint32_t)(random_state >> 32);
}

uint32_t unit_random_below(uint32_t limit) {
    return (uint32_t)((uint64_t)unit_random() * limit >> 32);
}

static int stderr_saved = -1;
static FILE *stderr_file;

void unit_stderr_begin(void) {
    fflush(stderr);
    stderr_saved = dup(STDERR_FILENO);
    stderr_file = tmpfile();
    if (stderr_saved < 0 || stderr_file == NULL || dup2(fileno(stderr_file), STDERR_FILENO) < 0) {
        abort();
    }
}

const char *unit_stderr_end(void) {
    static char text[65536];
    fflush(stderr);
    dup2(stderr_saved, STDERR_FILENO);
    close(stderr_saved);
    rewind(stderr_file);
    text[fread(text, 1, sizeof text - 1, stderr_file)] = '\0';
    fclose(stderr_file);
    return text;
}

// The linker sends the library's allocations here (--wrap).
void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);

static int allocations_left; // until the one that fails; 0: none does
static bool allocation_failed;

static bool allocation_fails(void) {
    bool fails = allocations_left > 0 && --allocations_left == 0;
    allocation_failed = allocation_failed || fails;
    return fails;
}

void *__wrap_malloc(size_t bytes) {
    return allocation_fails() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes) {
    return allocation_fails() ? NULL : __real_calloc(count, bytes);
}

bool unit_allocation_fail(int count) {
    bool failed = allocation_failed;
    allocation_failed = false;
    allocations_left = count;
    return failed;
}

void unit_folder_make(char *path, size_t path_bytes) {
    const char *base = getenv("TMPDIR");
    int length = snprintf(path, path_bytes, "%s/rockfill-unit-XXXXXX", base != NULL && *base != '\0' ? base : P_tmpdir);
    if (length < 0 || (size_t)length >= path_bytes || mkdtemp(path) == NULL) {
        perror("no temporary folder");
        exit(3);
    }
}

static bool entry_is_real(const struct dirent *entry) {
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

int unit_folder_count(const char *path) {
    DIR *folder = opendir(path);
    int count = 0;
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        count += entry_is_real(entry);
    }
    if (folder != NULL) {
        closedir(folder);
    }
    return count;
}

void unit_folder_remove(const char *path) {
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        char name[4096];
        int length = snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        if (entry_is_real(entry) && length > 0 && (size_t)length < sizeof name && unlink(name) != 0) {
            unit_folder_remove(name); // a folder
        }
    }
    if (folder != NULL) {
        closedir(folder);
    }
    rmdir(path);
}

static bool test_run(const struct unit_test *test) {
    running = test->name;
    failures = 0;
    random_state = 1;
    test->run();
    if (failures > 10) {
        printf("%s: %d more failures\n", running, failures - 10);
    }
    return failures == 0;
}

static int usage(const char *program) {
    fprintf(stderr, "usage: %s [--list] [--filter TEXT]\n", program);
    return 3;
}

int main(int argc, char **argv) {
    const char *filter = "";
    bool list = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--list") == 0) {
            list = true;
        } else if (strcmp(argv[i], "--filter") == 0 && i + 1 < argc) {
            filter = argv[++i];
        } else {
            return usage(argv[0]);
        }
    }
    alarm(300); // a loop without end is a failure, too
    int passed = 0, failed = 0;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        for (const struct unit_test *test = tables[i]; test->name != NULL; test++) {
            if (strstr(test->name, filter) == NULL) {
                continue;
            }
            if (list) {
                puts(test->name);
            } else {
                bool good = test_run(test);
                passed += good;
                failed += !good;
            }
        }
    }
    if (list) {
        return 0;
    }
    if (passed + failed == 0) {
        fprintf(stderr, "error: no test has \"%s\" in its name\n", filter);
        return 3;
    }
    printf("unit: %d passed, %d failed\n", passed, failed);
    return failed == 0 ? 0 : 1;
}
