// SPDX-License-Identifier: MIT
// usage: sim_runs_test SIM_MODEL FIXTURES
// Times from counts, by hand. The fixture's kernel executes, a warp of its 8 a workgroup of 128 x 128: 4 k FMA, 60 + 2
// k CVT, k SFU, k loads of 4 lines; a quarter of the lines goes to the L2, k / 2 loads miss the L1, half of those reach
// DRAM.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sm_compare.h"

static int passed, failed;

static void check(bool good, int line, const char *what) {
    passed += good;
    failed += !good;
    if (!good)
        fprintf(stderr, "line %d: not so: %s\n", line, what);
}

#define CHECK(condition) check((condition), __LINE__, #condition)
static void near(double value, double wanted, int line, const char *what) {
    check(fabs(value - wanted) <= 1e-9 * fabs(wanted), line, what);
}

#define NEAR(value, wanted) near((value), (wanted), __LINE__, #value " is " #wanted)

static void test_time(const struct sm_runs *runs) {
    struct sm_constants constants = sm_constants_default();
    struct sm_dynamic_time t = sm_dynamic_time(&runs->runs[0].counts, &constants);
    double warps = 32 * 8, k = 256, clocks = warps / 4 / 1e9; // seconds a clock of each warp
    NEAR(t.alu_s, clocks * (7 * k + 60) / 4);
    NEAR(t.ls_s, clocks * 4 * k);
    NEAR(t.l2_s, clocks * k * 64 / 16);
    NEAR(t.dram_s, warps * k / 2 * 64 / 27e9);
    NEAR(t.latency_s, clocks * k * (0.5 * 32 + 0.25 * 100 + 0.25 * 256) / 64);
    NEAR(t.total_s, t.dram_s + 10e-6);
}

static void test_latency_of_few(const struct sm_runs *runs) {
    struct sm_constants constants = sm_constants_default();
    struct sm_dynamic few = runs->runs[0].counts;
    double all = sm_dynamic_time(&few, &constants).latency_s;
    few.dispatches = 32; // of one workgroup each: two warps a core, not 64
    NEAR(sm_dynamic_time(&few, &constants).latency_s, 32 * all);
    NEAR(sm_dynamic_time(&few, &constants).total_s, fmax(32 * all, sm_dynamic_time(&few, &constants).dram_s) + 320e-6);
}

static void test_scale(const struct sm_runs *runs) {
    struct sm_dynamic counts;
    CHECK(sm_runs_scale(runs, "point some-tile q4_K", 4096, 512, 2048, &counts));
    NEAR(counts.groups, 128);
    NEAR(counts.instructions, 128 * 8 * (100 + 10 * 2048));
    NEAR(counts.dram_bytes, 128 * 8 * 1024 * 64);
    NEAR(counts.resident_warps, 64);
    CHECK(!sm_runs_scale(runs, "point other q4_K", 4096, 512, 2048, &counts));
    CHECK(sm_runs_point("other", runs, &(struct sm_constants){0}) == 0);
}

static void test_point(const struct sm_runs *runs) {
    struct sm_constants constants = sm_constants_default();
    constants.dispatch_s = 0;
    constants.dram_latency = constants.l2_latency = constants.l1_latency; // or it bounds the few workgroups of k and v
    // All of Qwen2.5-3B's products are bound by DRAM here: 32 bytes for each k of a warp's 1/8 of 128 x 128 x k.
    struct sm_runs_bounds b = sm_runs_point_bounds("some-tile", runs, &constants);
    NEAR(sm_runs_point("some-tile", runs, &constants), b.dram_tps);
    CHECK(b.dram_tps < b.ls_tps && b.ls_tps < b.alu_tps);
    double macs = 36.0 * (2.0 * 2048 * 2048 + 2.0 * 256 * 2048 + 3.0 * 2048 * 11008);
    NEAR(b.dram_tps, 27e9 / (macs / (128 * 128) * 8 * 32));
}

static void test_compare(const struct sm_runs *runs, const char *fixtures) {
    char path[4096], error[1400];
    struct sm_list list;
    struct sm_constants constants = sm_constants_default();
    snprintf(path, sizeof path, "%s/list.txt", fixtures);
    CHECK(sm_list_read(path, &constants, &list, error, sizeof error));
    struct sm_compared c = sm_compare(&list, runs, &runs->runs[2], &constants);
    NEAR(c.executed.alu, 7 * 256 + 60.0);
    NEAR(c.executed.lines, 4 * 256.0);
    CHECK(c.in_list && c.text.alu > 0);
    CHECK(c.scaled);
    NEAR(c.instructions_ratio, 1.0);
    NEAR(c.dram_ratio, 1.0);
    sm_list_free(&list);
}

static void test_bad_files(const char *fixtures) {
    char path[4096], error[1400];
    struct sm_runs runs;
    CHECK(!sm_runs_read("/nowhere/runs.json", &runs, error, sizeof error) && strstr(error, "/nowhere/runs.json"));
    snprintf(path, sizeof path, "%s/list.txt", fixtures);
    CHECK(!sm_runs_read(path, &runs, error, sizeof error));
}

static void test_program(const char *program, const char *fixtures) {
    static const struct {
        const char *options, *wanted;
    } cases[] = {{"calibrate --counts", "dynamic_tps"}, {"compare --counts", "counted_over_scaled"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char command[9000], line[8192];
        bool found = false;
        snprintf(command, sizeof command, "%s %s %s/runs.json %s/list.txt", program, cases[i].options, fixtures,
                 fixtures);
        FILE *output = popen(command, "r");
        while (output != NULL && fgets(line, sizeof line, output) != NULL)
            found |= strstr(line, cases[i].wanted) != NULL;
        CHECK(output != NULL && pclose(output) == 0);
        CHECK(found);
    }
}

int main(int argc, char **argv) {
    char path[4096], error[1400];
    struct sm_runs runs;
    if (argc != 3) {
        fprintf(stderr, "usage: sim_runs_test SIM_MODEL FIXTURES\n");
        return 2;
    }
    snprintf(path, sizeof path, "%s/runs.json", argv[2]);
    if (!sm_runs_read(path, &runs, error, sizeof error)) {
        fprintf(stderr, "sim_runs_test: %s\n", error);
        return 1;
    }
    test_time(&runs);
    test_latency_of_few(&runs);
    test_scale(&runs);
    test_point(&runs);
    test_compare(&runs, argv[2]);
    test_bad_files(argv[2]);
    test_program(argv[1], argv[2]);
    sm_runs_free(&runs);
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
