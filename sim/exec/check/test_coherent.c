// SPDX-License-Identifier: MIT
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "check_test.h"
#include "coherent.h"

#define OBJECT 5
#define OFFSET 8192 // in the file

static struct mx_coherent *object_new(struct fake *fake, uint8_t **gpu) {
    struct mx_coherent *coherent = mx_coherent_new(fake->memory_fd, fake->memory);
    CHECK(mx_coherent_add(coherent, OBJECT, OFFSET, 8192));
    *gpu = mx_coherent_host(coherent, OBJECT, OFFSET);
    CHECK(*gpu != NULL && *gpu != fake->memory + OFFSET);
    return coherent;
}

static void forgotten_flush(struct fake *fake) {
    uint8_t *gpu, *cpu = fake->memory + OFFSET;
    struct mx_coherent *coherent = object_new(fake, &gpu);
    cpu[100] = 7;
    CHECK_EQUAL(gpu[100], 0);
    CHECK(mx_coherent_sync(coherent, OBJECT, 0, 64, false)); // another line
    CHECK_EQUAL(gpu[100], 0);
    CHECK(mx_coherent_sync(coherent, OBJECT, 127, 1, false)); // all of the line goes
    CHECK_EQUAL(gpu[100], 7);
    mx_coherent_free(coherent);
}

static void forgotten_invalidate(struct fake *fake) {
    uint8_t *gpu, *cpu = fake->memory + OFFSET;
    struct mx_coherent *coherent = object_new(fake, &gpu);
    gpu[5000] = 9;
    CHECK(mx_coherent_sync(coherent, OBJECT, 0, 8192, false));
    CHECK_EQUAL(cpu[5000], 0);
    CHECK(mx_coherent_sync(coherent, OBJECT, 4992, 64, true));
    CHECK_EQUAL(cpu[5000], 9);
    CHECK(mx_coherent_sync(coherent, OBJECT, 0, 8192, false)); // is not dirty by that
    gpu[5000] = 10;
    CHECK(mx_coherent_sync(coherent, OBJECT, 0, 8192, true));
    CHECK_EQUAL(cpu[5000], 10);
    CHECK_EQUAL(mx_coherent_stats(coherent)->to_gpu_lines, 0);
    CHECK_EQUAL(mx_coherent_stats(coherent)->to_cpu_lines, 2);
    mx_coherent_free(coherent);
}

// Both changed one line: the CPU's is written back whole.
static void both(struct fake *fake) {
    uint8_t *gpu, *cpu = fake->memory + OFFSET;
    struct mx_coherent *coherent = object_new(fake, &gpu);
    cpu[0] = 1;
    gpu[1] = 2;
    CHECK(mx_coherent_sync(coherent, OBJECT, 0, 8192, true));
    CHECK_EQUAL(gpu[0], 1);
    CHECK_EQUAL(gpu[1], 0);
    CHECK_EQUAL(cpu[1], 0);
    mx_coherent_free(coherent);
}

static void untouched(struct fake *fake) {
    uint8_t *gpu;
    struct mx_coherent *coherent = object_new(fake, &gpu);
    CHECK(mx_coherent_sync(coherent, OBJECT, 0, 8192, true));
    CHECK(lseek(fake->memory_fd, OFFSET, SEEK_DATA) < 0); // nothing was looked at
    CHECK(!mx_coherent_sync(coherent, OBJECT, 1, 8192, true));
    CHECK(!mx_coherent_sync(coherent, OBJECT + 1, 0, 1, true));
    mx_coherent_remove(coherent, OBJECT);
    CHECK(mx_coherent_host(coherent, OBJECT, OFFSET) == NULL);
    mx_coherent_free(coherent);
}

const struct test coherent_tests[] = {{"forgotten flush", forgotten_flush},
                                      {"forgotten invalidate", forgotten_invalidate},
                                      {"changed by both", both},
                                      {"untouched", untouched},
                                      {0}};
