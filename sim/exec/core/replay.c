// SPDX-License-Identifier: MIT
// mali-replay: executes a job that mali-exec --save wrote, as often as wanted, and tells the speed. See --help.
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../core.h"
#include "../insn.h"
#include "job_file.h"

static const char help[] = "Usage: mali-replay [OPTION]... FILE\n"
                           "\n"
                           "Executes a job that mali-exec --save wrote. Memory is as the last repetition left it.\n"
                           "\n"
                           "  --threads N     host threads (default: one a processor)\n"
                           "  --repeat N      how often (default 1); the fastest is told, too\n"
                           "  --no-shortcuts  copy kernels are executed, too\n"
                           "  --assembly      print the program first\n"
                           "  --help          show this\n";

struct options {
    struct mx_core_options core;
    uint64_t repeat;
    bool assembly;
    const char *path;
};

// 0: go on; 1: help was shown; 2: bad.
static int options_read(struct options *o, int argc, char **argv) {
    static const struct option known[] = {
        {"threads", required_argument, NULL, 't'}, {"repeat", required_argument, NULL, 'r'},
        {"no-shortcuts", no_argument, NULL, 'n'},  {"assembly", no_argument, NULL, 'a'},
        {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0}};
    int letter;
    while ((letter = getopt_long(argc, argv, "", known, NULL)) != -1) {
        switch (letter) {
        case 't':
            o->core.threads = (uint32_t)strtoul(optarg, NULL, 10);
            break;
        case 'r':
            o->repeat = strtoull(optarg, NULL, 10);
            break;
        case 'n':
            o->core.no_shortcuts = true;
            break;
        case 'a':
            o->assembly = true;
            break;
        case 'h':
            fputs(help, stdout);
            return 1;
        default:
            return 2;
        }
    }
    o->path = argv[optind];
    if (o->path == NULL || argv[optind + 1] != NULL || o->repeat == 0) {
        fputs(help, stderr);
        return 2;
    }
    return 0;
}

static void assembly_print(void *context, const struct mx_job *job, const struct mx_program *program,
                           uint32_t workers) {
    bool *printed = context;
    char line[200];
    (void)job, (void)workers;
    for (uint32_t i = 0; i < mx_program_length(program) && !*printed; i++) {
        mx_insn_print(mx_program_insn(program, i), line, sizeof line);
        printf("%016" PRIx64 " %s\n", mx_program_insn(program, i)->word, line);
    }
    *printed = true;
}

// Without executing anything: an empty grid.
static void program_print(const struct mx_job *job) {
    bool printed = false;
    struct mx_observer observer = {.context = &printed, .job_begin = assembly_print};
    struct mx_core *core = mx_core_new(&(struct mx_core_options){.threads = 1, .observer = &observer});
    struct mx_job empty = *job;
    struct mx_fault fault;
    empty.group_count[0] = 0;
    if (core != NULL && !mx_core_run(core, &empty, &fault))
        fprintf(stderr, "mali-replay: error: %s\n", fault.text);
    mx_core_free(core);
}

static double cpu_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int jobs_run(const struct options *o, const struct mx_job *job) {
    struct mx_core *core = mx_core_new(&o->core);
    struct mx_fault fault;
    uint64_t least_ns = UINT64_MAX;
    if (core == NULL) {
        fprintf(stderr, "mali-replay: error: no memory, or no threads\n");
        return 1;
    }
    const struct mx_core_stats *stats = mx_core_stats(core);
    double start_s = cpu_s();
    for (uint64_t i = 0; i < o->repeat; i++) {
        uint64_t before = stats->busy_ns;
        if (!mx_core_run(core, job, &fault)) {
            fprintf(stderr, "mali-replay: fault %s at 0x%" PRIx64 ", pc 0x%" PRIx64 ", address 0x%" PRIx64 ": %s\n",
                    mx_fault_name(fault.kind), fault.code, fault.pc, fault.address, fault.text);
            mx_core_free(core);
            return 1;
        }
        least_ns = stats->busy_ns - before < least_ns ? stats->busy_ns - before : least_ns;
    }
    double all = (double)stats->warp_instructions * 1e-6, wall_s = (double)stats->busy_ns * 1e-9;
    printf("%.0f warp instructions, %.6f s; %.1f million a second, fastest %.1f, %.1f of a core's time%s\n",
           all * 1e6 / (double)o->repeat, wall_s / (double)o->repeat, all / wall_s,
           all / (double)o->repeat * 1e9 / (double)least_ns, all / (cpu_s() - start_s),
           stats->copies > 0 ? "; done as copies" : "");
    mx_core_free(core);
    return 0;
}

int main(int argc, char **argv) {
    struct options options = {.repeat = 1};
    int status = options_read(&options, argc, argv);
    if (status != 0)
        return status == 1 ? 0 : 2;
    struct mx_job_file *file = mx_job_load(options.path);
    if (file == NULL) {
        fprintf(stderr, "mali-replay: error: %s: %s\n", options.path,
                errno == EINVAL ? "not a job file of this version" : strerror(errno));
        return 1;
    }
    if (options.assembly)
        program_print(&file->job);
    status = jobs_run(&options, &file->job);
    mx_job_unload(file);
    return status;
}
