// SPDX-License-Identifier: MIT
// rockfill-ops: products on a device against a reference in double precision. See --help.
#include "ops.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char help[] =
    "Usage: rockfill-ops --library FILE [OPTION]...\n"
    "\n"
    "Computes matrix products (MUL_MAT, MUL_MAT_ID) on the library's device and compares them with sums in double\n"
    "precision; results lie between guards, operands between NaN, repetitions must agree in every bit.\n"
    "\n"
    "  --library FILE      the backend library, for example build/libggml-rockfill.so\n"
    "  --device NAME       a device of it (default: the first one)\n"
    "  --filter TEXT       only cases whose name has the text in it; may be given several times\n"
    "  --list              print the names only\n"
    "  --min-cases N       fail when fewer than N cases were computed\n"
    "  --runs N            repeat a case at most N times (default 20; the field faults ask for 100)\n"
    "  --seed N            of the random data (default 1)\n"
    "  --quiet             print failures only\n"
    "  --help              show this\n"
    "\n"
    "GGML_ROCKFILL_PATH and GGML_ROCKFILL_MEMORY choose arithmetic and memory; the limits follow the former.\n"
    "Exit status: 0 all passed, 1 some failed, 3 bad command line or library.\n";

enum { FILTERS_MAX = 16 };

struct options {
    const char *library, *device, *filters[FILTERS_MAX];
    int filter_count, runs;
    long min_cases;
    uint64_t seed;
    bool list, quiet;
};

struct tally {
    const struct options *options;
    struct ops_world world;
    int passed, failed, refused;
};

static bool number_parse(const char *name, long lowest, long *number) {
    char *end;
    errno = 0;
    *number = strtol(optarg, &end, 10);
    if (errno != 0 || end == optarg || *end != '\0' || *number < lowest) {
        fprintf(stderr, "error: --%s %s: not a whole number from %ld on\n", name, optarg, lowest);
        return false;
    }
    return true;
}

static bool option_take(struct options *options, int letter) {
    long number;
    switch (letter) {
    case 'l':
        options->library = optarg;
        return true;
    case 'd':
        options->device = optarg;
        return true;
    case 'f':
        if (options->filter_count == FILTERS_MAX) {
            fprintf(stderr, "error: more than %d filters\n", FILTERS_MAX);
            return false;
        }
        options->filters[options->filter_count++] = optarg;
        return true;
    case 'L':
        options->list = true;
        return true;
    case 'q':
        options->quiet = true;
        return true;
    case 'm':
        return number_parse("min-cases", 0, &options->min_cases);
    case 'r':
        if (!number_parse("runs", 1, &number)) {
            return false;
        }
        options->runs = number > 1000000 ? 1000000 : (int)number;
        return true;
    case 's':
        if (!number_parse("seed", 0, &number)) {
            return false;
        }
        options->seed = (uint64_t)number;
        return true;
    default:
        fprintf(stderr, "error: see rockfill-ops --help\n"); // getopt has named the option
        return false;
    }
}

// 1: go on, 0: help was shown, -1: bad.
static int options_parse(struct options *options, int argc, char **argv) {
    static const struct option known[] = {{"library", required_argument, NULL, 'l'},
                                          {"device", required_argument, NULL, 'd'},
                                          {"filter", required_argument, NULL, 'f'},
                                          {"list", no_argument, NULL, 'L'},
                                          {"min-cases", required_argument, NULL, 'm'},
                                          {"runs", required_argument, NULL, 'r'},
                                          {"seed", required_argument, NULL, 's'},
                                          {"quiet", no_argument, NULL, 'q'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    *options = (struct options){.runs = 20, .seed = 1};
    int letter;
    while ((letter = getopt_long(argc, argv, "", known, NULL)) != -1) {
        if (letter == 'h') {
            fputs(help, stdout);
            return 0;
        }
        if (!option_take(options, letter)) {
            return -1;
        }
    }
    if (optind != argc || (options->library == NULL && !options->list)) {
        fprintf(stderr, "error: --library is needed, and nothing but options; see rockfill-ops --help\n");
        return -1;
    }
    return 1;
}

static bool wanted(const struct options *options, const char *name) {
    for (int i = 0; i < options->filter_count; i++) {
        if (strstr(name, options->filters[i]) != NULL) {
            return true;
        }
    }
    return options->filter_count == 0;
}

static double now_s(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void outcome_print(struct tally *tally, const char *name, const struct ops_report *report, double seconds) {
    if (report->failed) {
        tally->failed++;
        printf("FAIL %s: %s\n", name, report->why);
    } else {
        tally->passed++;
        tally->refused += report->refused;
        if (report->refused && !tally->options->quiet) {
            printf("ok   %s: refused, the CPU takes it\n", name);
        } else if (!tally->options->quiet) {
            printf("ok   %s: NMSE %.1e, of a column %.1e, worst element %.2f of its bound, %.2f s\n", name,
                   report->nmse, report->row_nmse, report->worst, seconds);
        }
    }
    fflush(stdout);
}

static bool product_visit(const struct rf_case *item, void *user) {
    struct tally *tally = user;
    if (!wanted(tally->options, item->name)) {
        return true;
    }
    if (tally->options->list) {
        puts(item->name);
        return true;
    }
    struct ops_report report = {0};
    double start_s = now_s();
    ops_product_run(&tally->world, item, &report);
    outcome_print(tally, item->name, &report, now_s() - start_s);
    return true;
}

static void graphs_visit(struct tally *tally) {
    for (size_t i = 0; i < ops_graph_case_count; i++) {
        const struct ops_graph_case *item = &ops_graph_cases[i];
        if (!wanted(tally->options, item->name)) {
            continue;
        }
        if (tally->options->list) {
            puts(item->name);
            continue;
        }
        struct ops_report report = {0};
        double start_s = now_s();
        item->run(&tally->world, &report);
        outcome_print(tally, item->name, &report, now_s() - start_s);
    }
}

int main(int argc, char **argv) {
    struct options options;
    int parsed = options_parse(&options, argc, argv);
    if (parsed <= 0) {
        return parsed == 0 ? 0 : 3;
    }
    struct tally tally = {.options = &options, .world = {.seed = options.seed, .runs_limit = options.runs}};
    if (!options.list && !ops_world_open(&tally.world, options.library, options.device)) {
        return 3;
    }
    graphs_visit(&tally);
    rf_cases_visit(RF_CASE_TEST, product_visit, &tally);
    if (options.list) {
        return 0;
    }
    int computed = tally.passed + tally.failed - tally.refused;
    if (computed < options.min_cases || computed == 0) {
        tally.failed++;
        printf("FAIL min-cases: %d cases were computed, %ld are needed\n", computed,
               options.min_cases > 0 ? options.min_cases : 1);
    }
    if (tally.refused > 0) {
        printf("%d of the passed were refused by supports_op, as they may be\n", tally.refused);
    }
    printf("ops: %d passed, %d failed\n", tally.passed, tally.failed);
    return tally.failed == 0 ? 0 : 1;
}
