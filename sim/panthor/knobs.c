// SPDX-License-Identifier: MIT
#include "knobs.h"

#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu.h"

#define PREFIX "PANTHOR_SIM_"
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct number {
    const char *name;
    size_t offset;
    uint64_t fallback, min, max;
} numbers[] = {
    {"MINOR", offsetof(struct ps_knobs, minor), 7, 0, 9},
    {"RAM_MIB", offsetof(struct ps_knobs, ram_mib), 16384, 64, 1 << 24},
    {"BO_LIMIT_MIB", offsetof(struct ps_knobs, bo_limit_mib), 0, 0, 1 << 24},
    {"HEAP_LIMIT_MIB", offsetof(struct ps_knobs, heap_limit_mib), 0, 0, 4096},
    {"LOSE_AT", offsetof(struct ps_knobs, lose_at), 0, 0, UINT32_MAX},
    {"HANG_AT", offsetof(struct ps_knobs, hang_at), 0, 0, UINT32_MAX},
    // The kernel's: JOB_TIMEOUT_MS in panthor_sched.c.
    {"JOB_TIMEOUT_MS", offsetof(struct ps_knobs, job_timeout_ms), 5000, 0, 86400000},
    {"FLUSHES", offsetof(struct ps_knobs, flushes), 0, 0, 1},
    {"LOG", offsetof(struct ps_knobs, log), 0, 0, 2},
};
static const char *const texts[] = {"GPU", "REPORT", "EXEC", "EXEC_OPTIONS"};

static struct ps_knobs knobs;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static _Noreturn void give_up(const char *name, const char *wanted) {
    dprintf(STDERR_FILENO, "[panthor-sim] %s=%s makes no sense: %s\n", name, getenv(name), wanted);
    _exit(2);
}

static void read_number(const struct number *row) {
    char name[48], wanted[96], *end = NULL;
    snprintf(name, sizeof name, PREFIX "%s", row->name);
    const char *text = getenv(name);
    unsigned long long value = row->fallback;
    if (text != NULL && *text != '\0') {
        errno = 0;
        value = strtoull(text, &end, 10);
        snprintf(wanted, sizeof wanted, "give a whole number from %llu to %llu", (unsigned long long)row->min,
                 (unsigned long long)row->max);
        if (errno != 0 || !isdigit((unsigned char)*text) || *end != '\0' || value < row->min || value > row->max)
            give_up(name, wanted);
    }
    *(uint64_t *)((char *)&knobs + row->offset) = value;
}

static bool is_known(const char *name, size_t length) {
    for (size_t i = 0; i < COUNT(numbers); i++)
        if (strlen(numbers[i].name) == length && strncmp(numbers[i].name, name, length) == 0)
            return true;
    for (size_t i = 0; i < COUNT(texts); i++)
        if (strlen(texts[i]) == length && strncmp(texts[i], name, length) == 0)
            return true;
    return false;
}

static void check_names(void) {
    extern char **environ;
    for (char **entry = environ; *entry != NULL; entry++) {
        if (strncmp(*entry, PREFIX, strlen(PREFIX)) != 0)
            continue;
        size_t length = strcspn(*entry, "=");
        if (is_known(*entry + strlen(PREFIX), length - strlen(PREFIX)))
            continue;
        dprintf(STDERR_FILENO, "[panthor-sim] %.*s is not a knob; the knobs are in sim/panthor/README.md\n",
                (int)length, *entry);
        _exit(2);
    }
}

static const char *read_text(const char *name) {
    const char *text = getenv(name);
    return text != NULL && *text != '\0' ? strdup(text) : NULL;
}

static void read_all(void) {
    check_names();
    for (size_t i = 0; i < COUNT(numbers); i++)
        read_number(&numbers[i]);
    const char *gpu = getenv(PREFIX "GPU");
    knobs.gpu = ps_gpu_find(gpu != NULL && *gpu != '\0' ? gpu : "g610");
    if (knobs.gpu == NULL)
        give_up(PREFIX "GPU", "give one of " PS_GPU_NAMES);
    knobs.report = read_text(PREFIX "REPORT");
    knobs.exec = read_text(PREFIX "EXEC");
    knobs.exec_options = read_text(PREFIX "EXEC_OPTIONS");
}

const struct ps_knobs *ps_knobs(void) {
    pthread_once(&once, read_all);
    return &knobs;
}
