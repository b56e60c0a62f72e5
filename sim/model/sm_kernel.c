// SPDX-License-Identifier: MIT
#include "sm_kernel.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DUMP_LIMIT ((long)64 << 20)

static char *read_text(const char *path, char *error, size_t error_bytes) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        snprintf(error, error_bytes, "%s: %s", path, strerror(errno));
        return NULL;
    }
    long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    rewind(file);
    char *text = size >= 0 && size <= DUMP_LIMIT ? calloc(1, (size_t)size + 1) : NULL;
    if (text == NULL || fread(text, 1, (size_t)size, file) != (size_t)size) {
        snprintf(error, error_bytes, "%s: cannot be read, or is no dump (more than 64 MiB)", path);
        free(text);
        text = NULL;
    }
    fclose(file);
    return text;
}

bool sm_kernel_read_text(const char *path, struct sm_local local, const struct sm_constants *constants,
                         struct sm_kernel *kernel, struct sm_asm *program, char **text, char *error,
                         size_t error_bytes) {
    *text = read_text(path, error, error_bytes);
    if (*text == NULL)
        return false;
    char why[160];
    bool good = sm_asm_parse(*text, program, why, sizeof why);
    if (good) {
        *kernel = (struct sm_kernel){
            .local = local, .registers = program->registers, .spills = program->spills, .fills = program->fills};
        good = sm_loops_find(program, local, (uint32_t)constants->stack_lines, &kernel->loops, why, sizeof why);
        if (!good)
            sm_asm_free(program);
    }
    if (!good) {
        snprintf(error, error_bytes, "%s: %s", path, why);
        free(*text);
    }
    return good;
}

bool sm_kernel_read(const char *path, struct sm_local local, const struct sm_constants *constants,
                    struct sm_kernel *kernel, char *error, size_t error_bytes) {
    struct sm_asm program;
    char *text;
    if (!sm_kernel_read_text(path, local, constants, kernel, &program, &text, error, error_bytes))
        return false;
    sm_asm_free(&program);
    free(text);
    return true;
}

static void add(struct sm_slots *slots, const struct sm_counts *counts, double times) {
    slots->fma += times * counts->fma;
    slots->cvt += times * counts->cvt;
    slots->sfu += times * counts->sfu;
    slots->ls += times * counts->ls;
    slots->lines += times * counts->lines;
    slots->stack_lines += times * counts->stack_lines;
}

// Multiply-accumulates count in the hot loop only: elsewhere an FMA is addressing or scaling.
static struct sm_slots warp_slots(const struct sm_loops *loops, const double *trips) {
    struct sm_slots slots = {0};
    double times[SM_LOOPS_MAX];
    int hot = sm_loops_hot(loops);
    add(&slots, &loops->outside, 1);
    for (int i = 0; i < loops->count; i++) {
        const struct sm_loop *loop = &loops->loops[i];
        times[i] = trips[i] * (loop->parent < 0 ? 1 : times[loop->parent]);
        add(&slots, &loop->own, times[i]);
        if (i == hot)
            slots.macs = times[i] * sm_loops_macs(&loop->own) * SM_WARP;
    }
    return slots;
}

static double larger(double a, double b) {
    return a > b ? a : b;
}

struct sm_time sm_kernel_time(const struct sm_kernel *kernel, const struct sm_launch *launch,
                              const struct sm_constants *constants) {
    struct sm_time time = {.slots = warp_slots(&kernel->loops, launch->trips)};
    const struct sm_slots *s = &time.slots;
    uint32_t lanes = kernel->local.x * kernel->local.y * kernel->local.z;
    time.warps = launch->groups * ((lanes + SM_WARP - 1) / SM_WARP);
    double clocks = time.warps / constants->gpu_cores / constants->gpu_hz; // seconds a clock of each warp
    time.alu_s = clocks * larger(s->fma + s->cvt + s->sfu, constants->sfu_slots * s->sfu) / constants->issue_per_clock;
    time.ls_s = clocks * s->lines / constants->lines_per_clock;
    time.dram_s = launch->dram_bytes / constants->dram_bytes_per_s;
    time.raw_s = time.alu_s;
    double longer = larger(time.alu_s, time.ls_s), shorter = time.alu_s + time.ls_s - longer;
    time.total_s = larger(longer + (1 - constants->overlap) * shorter, time.dram_s) + constants->dispatch_s;
    return time;
}
