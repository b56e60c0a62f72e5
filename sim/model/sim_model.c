// SPDX-License-Identifier: MIT
// sim-model: the speed model's command line. What it computes: docs/speed-model.md.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sm_compare.h"
#include "sm_graph.h"

#define ERROR_BYTES 1400
#define UBATCH_MAX 65536

struct options {
    struct sm_constants constants;
    const char *file; // the one argument that is no option
    struct sm_local local;
    struct sm_launch launch;
    struct sm_graph_request graph;
    const char *derate_by;
    const char *counts; // a file of runs
};

static const char help[] =
    "usage: sim-model COMMAND [options] [FILE]\n"
    "\n"
    "  loops --local X[,Y[,Z]] DUMP      the loops of a compute shader's assembly, by unit, as JSON\n"
    "  kernel --local X[,Y[,Z]] --groups N [--trips T0,T1,...] [--dram BYTES] DUMP\n"
    "                                    time of one dispatch, as JSON; trips of each loop, outer ones first\n"
    "  graph --shape 0.5b|1.5b|3b|7b --ubatch N [--prompt N] [--path int8|fp16|fp32] [--splits N] [--derate-by NAME] "
    "LIST\n"
    "                                    tokens a second of a whole micro-batch with rockfill, as JSON\n"
    "  needs --shape NAME --ubatch N [--path PATH]\n"
    "                                    the kernels that such a micro-batch runs: lines of LIST without their dumps\n"
    "  calibrate [--counts RUNS] LIST    the published points of the list: published, modelled, ratio, as JSON; with "
    "RUNS\n"
    "                                    (counts.py makes it) also by what the simulated Mali executed\n"
    "  compare --counts RUNS LIST        each run: slots and lines of a warp by its assembly and as executed, as JSON\n"
    "  report REPORT                     time of each kernel in a report of mali-exec --count, as JSON\n"
    "  constants                         every number the model takes from outside, as a table in Markdown\n"
    "\n"
    "  --set NAME=VALUE                  another value for a constant (several times)\n"
    "\n"
    "DUMP: what sm-dump prints for a kernel (statistics, then \"---- Assembly\"). LIST: which dump is which kernel, "
    "one a\n"
    "line: columns PATH DUMP; unpack PATH FORMAT TM DUMP; tile PATH LANES TM TN GRANULES HAS_MIN DUMP;\n"
    "point NAME PUBLISHED FORMAT LANES BM BN K TRIPS DUMP (a rival's tile: its first loop advances K, TRIPS of the "
    "others).\n"
    "DUMP names are relative to LIST's folder.\n"
    "Modelled figures are estimates: see docs/speed-model.md for what they leave out.\n";

static int fail(const char *what) {
    fprintf(stderr, "sim-model: %s\n", what);
    return 1;
}

// --- options --------------------------------------------------------------------------------------------------------

static bool parse_int(const char *text, int least, int most, int *value) {
    char *end;
    errno = 0;
    long parsed = strtol(text, &end, 10);
    *value = (int)parsed;
    return errno == 0 && end != text && *end == '\0' && parsed >= least && parsed <= most;
}

static bool parse_double(const char *text, double *value) {
    char *end;
    *value = strtod(text, &end);
    return end != text && *end == '\0' && *value >= 0 && *value <= 1e18;
}

static bool parse_local(const char *text, struct sm_local *local) {
    unsigned x, y = 1, z = 1;
    char rest;
    int count = sscanf(text, "%u,%u,%u%c", &x, &y, &z, &rest);
    *local = (struct sm_local){x, y, z};
    return count >= 1 && count <= 3 && x > 0 && y > 0 && z > 0 && x <= 1024 && y <= 1024 && z <= 64;
}

static bool parse_trips(const char *text, double *trips) {
    for (int i = 0; i < SM_LOOPS_MAX; i++) {
        char *end;
        trips[i] = strtod(text, &end);
        if (end == text || trips[i] < 0 || (*end != ',' && *end != '\0'))
            return false;
        if (*end == '\0')
            return true;
        text = end + 1;
    }
    return false;
}

static bool parse_option(const char *name, const char *value, struct options *o) {
    if (strcmp(name, "--local") == 0)
        return parse_local(value, &o->local);
    if (strcmp(name, "--groups") == 0)
        return parse_double(value, &o->launch.groups);
    if (strcmp(name, "--dram") == 0)
        return parse_double(value, &o->launch.dram_bytes);
    if (strcmp(name, "--trips") == 0)
        return parse_trips(value, o->launch.trips);
    if (strcmp(name, "--shape") == 0)
        return (o->graph.shape = sm_shape_find(value)) != NULL;
    if (strcmp(name, "--ubatch") == 0)
        return parse_int(value, 1, UBATCH_MAX, &o->graph.ubatch);
    if (strcmp(name, "--prompt") == 0)
        return parse_int(value, 1, 1 << 24, &o->graph.prompt);
    if (strcmp(name, "--splits") == 0)
        return parse_int(value, 1, 64, &o->graph.splits_per_layer);
    if (strcmp(name, "--path") == 0)
        return sm_list_path(value, &o->graph.path);
    if (strcmp(name, "--counts") == 0)
        return (o->counts = value) != NULL;
    if (strcmp(name, "--derate-by") == 0)
        return (o->derate_by = value) != NULL;
    return strcmp(name, "--set") == 0 && sm_constants_set(&o->constants, value);
}

static bool parse(int argc, char **argv, struct options *o) {
    *o = (struct options){.constants = sm_constants_default(), .graph = {.prompt = 512, .splits_per_layer = 6}};
    for (int i = 0; i < SM_LOOPS_MAX; i++)
        o->launch.trips[i] = 1;
    for (int i = 2; i < argc; i++) {
        bool option = strncmp(argv[i], "--", 2) == 0;
        if (!option && o->file == NULL) {
            o->file = argv[i];
            continue;
        }
        if (!option || i + 1 == argc || !parse_option(argv[i], argv[i + 1], o)) {
            fprintf(stderr, "sim-model: cannot take \"%s%s%s\": see sim-model --help\n", argv[i],
                    option && i + 1 < argc ? " " : "", option && i + 1 < argc ? argv[i + 1] : "");
            return false;
        }
        i++;
    }
    return true;
}

// --- commands -------------------------------------------------------------------------------------------------------

static void print_counts(const struct sm_counts *c) {
    printf("\"instructions\": %u, \"fma\": %u, \"cvt\": %u, \"sfu\": %u, \"ls\": %u, \"stack\": %u, \"shared\": %u, "
           "\"bytes\": %u, \"lines\": %u, \"stack_lines\": %u, \"scattered\": %u, \"dots\": %u, \"macs_per_loop\": %u",
           c->instructions, c->fma, c->cvt, c->sfu, c->ls, c->stack, c->shared, c->bytes, c->lines, c->stack_lines,
           c->scattered, c->dots, sm_loops_macs(c));
}

static void print_number(const char *name, int64_t value) {
    if (value < 0)
        printf("\"%s\": null, ", name);
    else
        printf("\"%s\": %lld, ", name, (long long)value);
}

static void print_names(const struct sm_asm *program) {
    const char *separator = "";
    printf("\"unknown\": [");
    for (size_t i = 0; i < program->count; i++) {
        bool seen = program->instructions[i].known;
        for (size_t j = 0; j < i && !seen; j++)
            seen = strcmp(program->instructions[j].name, program->instructions[i].name) == 0;
        if (!seen) {
            printf("%s\"%s\"", separator, program->instructions[i].name);
            separator = ", ";
        }
    }
    printf("]");
}

static void print_loops(const struct sm_kernel *kernel, const struct sm_asm *program) {
    const struct sm_loops *loops = &kernel->loops;
    printf("{");
    print_number("stated_instructions", program->stated_instructions);
    print_number("registers", kernel->registers);
    print_number("spills", kernel->spills);
    print_number("fills", kernel->fills);
    printf("\"instructions\": %zu, \"stack_bytes\": %u, \"uses_shared\": %s, \"hot\": %d,\n ", program->count,
           loops->stack_bytes, loops->uses_shared ? "true" : "false", sm_loops_hot(loops));
    print_names(program);
    printf(",\n \"outside\": {");
    print_counts(&loops->outside);
    printf("},\n \"loops\": [");
    for (int i = 0; i < loops->count; i++) {
        const struct sm_loop *loop = &loops->loops[i];
        printf("%s\n  {\"first\": %zu, \"last\": %zu, \"parent\": %d, \"depth\": %d, ", i > 0 ? "," : "", loop->first,
               loop->last, loop->parent, loop->depth);
        print_counts(&loop->own);
        printf("}");
    }
    printf("]}\n");
}

static int command_loops(const struct options *o) {
    char error[ERROR_BYTES];
    struct sm_kernel kernel;
    struct sm_asm program;
    char *text;
    if (!sm_kernel_read_text(o->file, o->local, &o->constants, &kernel, &program, &text, error, sizeof error))
        return fail(error);
    print_loops(&kernel, &program);
    sm_asm_free(&program);
    free(text);
    return 0;
}

static int command_kernel(const struct options *o) {
    char error[ERROR_BYTES];
    struct sm_kernel kernel;
    if (!sm_kernel_read(o->file, o->local, &o->constants, &kernel, error, sizeof error))
        return fail(error);
    struct sm_time t = sm_kernel_time(&kernel, &o->launch, &o->constants);
    printf(
        "{\"warps\": %.0f, \"macs\": %.0f,\n \"slots_per_warp\": {\"fma\": %.0f, \"cvt\": %.0f, \"sfu\": %.0f, "
        "\"ls\": %.0f, \"lines\": %.0f, \"stack_lines\": %.0f},\n \"alu_s\": %.9g, \"ls_s\": %.9g, \"dram_s\": %.9g, "
        "\"total_s\": %.9g}\n",
        t.warps, t.warps * t.slots.macs, t.slots.fma, t.slots.cvt, t.slots.sfu, t.slots.ls, t.slots.lines,
        t.slots.stack_lines, t.alu_s, t.ls_s, t.dram_s, t.total_s);
    return 0;
}

// The first point of each name.
static bool is_first(const struct sm_list *list, size_t index) {
    for (size_t i = 0; i < index; i++)
        if (list->entries[i].role == SM_ROLE_POINT && strcmp(list->entries[i].name, list->entries[index].name) == 0)
            return false;
    return list->entries[index].role == SM_ROLE_POINT;
}

static double published(const char *name, const struct sm_list *list) {
    for (size_t i = 0; i < list->count; i++)
        if (list->entries[i].role == SM_ROLE_POINT && strcmp(list->entries[i].name, name) == 0)
            return list->entries[i].published_tps;
    return 0;
}

static void print_dynamic(const char *name, double published_tps, const struct sm_runs *runs,
                          const struct sm_constants *constants) {
    double modelled = sm_runs_point(name, runs, constants);
    struct sm_runs_bounds b = sm_runs_point_bounds(name, runs, constants);
    if (modelled > 0 && published_tps > 0)
        printf(", \"dynamic_ratio\": %.3f", published_tps / modelled);
    if (modelled > 0)
        printf(", \"dynamic_tps\": %.2f, \"alu_tps\": %.2f, \"ls_tps\": %.2f, "
               "\"l2_tps\": %.2f, \"latency_tps\": %.2f, \"dram_tps\": %.2f",
               modelled, b.alu_tps, b.ls_tps, b.l2_tps, b.latency_tps, b.dram_tps);
}

// Points of the runs alone: nothing of them is published.
static void print_other_points(const struct sm_list *list, const struct sm_runs *runs, const char *separator,
                               const struct sm_constants *constants) {
    char last[SM_NAME_BYTES] = "", name[SM_NAME_BYTES];
    for (size_t i = 0; i < runs->count; i++) {
        if (sscanf(runs->runs[i].entry, "point %47s", name) != 1 || strcmp(name, last) == 0 ||
            published(name, list) > 0)
            continue;
        printf("%s{\"name\": \"%s\"", separator, name);
        print_dynamic(name, 0, runs, constants);
        printf("}");
        separator = ",\n ";
        snprintf(last, sizeof last, "%s", name);
    }
}

// The list, and the runs where they are asked for.
static bool read_both(const struct options *o, struct sm_list *list, struct sm_runs *runs, char *error,
                      size_t error_bytes) {
    *runs = (struct sm_runs){0};
    if (!sm_list_read(o->file, &o->constants, list, error, error_bytes))
        return false;
    if (o->counts == NULL || sm_runs_read(o->counts, runs, error, error_bytes))
        return true;
    sm_list_free(list);
    return false;
}

static int command_calibrate(const struct options *o) {
    char error[ERROR_BYTES];
    struct sm_list list;
    struct sm_runs runs;
    if (!read_both(o, &list, &runs, error, sizeof error))
        return fail(error);
    const char *separator = "";
    printf("[");
    for (size_t i = 0; i < list.count; i++) {
        const struct sm_entry *entry = &list.entries[i];
        if (!is_first(&list, i))
            continue;
        double modelled = sm_graph_point(entry->name, &list, &o->constants);
        printf(
            "%s{\"name\": \"%s\", \"published_tps\": %g, \"modelled_tps\": %.2f, \"ratio\": %.3f, \"stack_bytes\": %u",
            separator, entry->name, entry->published_tps, modelled, entry->published_tps / modelled,
            entry->kernel.loops.stack_bytes);
        print_dynamic(entry->name, entry->published_tps, &runs, &o->constants);
        printf("}");
        separator = ",\n ";
    }
    print_other_points(&list, &runs, separator, &o->constants);
    printf("]\n");
    sm_list_free(&list);
    sm_runs_free(&runs);
    return *separator == '\0' ? fail("the list has no points") : 0;
}

static void print_side(const char *name, const struct sm_side *side) {
    printf("\"%s\": {\"alu\": %.0f, \"ls\": %.0f, \"lines\": %.0f, \"stack_lines\": %.0f}", name, side->alu, side->ls,
           side->lines, side->stack_lines);
}

static int command_compare(const struct options *o) {
    char error[ERROR_BYTES];
    struct sm_list list;
    struct sm_runs runs;
    if (!read_both(o, &list, &runs, error, sizeof error))
        return fail(error);
    printf("[");
    for (size_t i = 0; i < runs.count; i++) {
        const struct sm_run *run = &runs.runs[i];
        struct sm_compared c = sm_compare(&list, &runs, run, &o->constants);
        printf("%s{\"entry\": \"%s\", \"m\": %d, \"n\": %d, \"k\": %d, ", i > 0 ? ",\n " : "", run->entry, run->m,
               run->n, run->k);
        print_side("executed", &c.executed);
        if (c.in_list) {
            printf(", ");
            print_side("text", &c.text);
        }
        if (c.scaled)
            printf(", \"counted_over_scaled\": {\"instructions\": %.3f, \"lines\": %.3f, \"l2\": %.3f, \"dram\": "
                   "%.3f}",
                   c.instructions_ratio, c.lines_ratio, c.l2_ratio, c.dram_ratio);
        printf("}");
    }
    printf("]\n");
    sm_list_free(&list);
    sm_runs_free(&runs);
    return 0;
}

static bool print_kernel_time(const json_t *kernel, const char *separator, const struct sm_constants *constants) {
    struct sm_dynamic counts;
    const char *missing;
    if (!sm_dynamic_read(kernel, &counts, &missing)) {
        fprintf(stderr, "sim-model: a kernel of the report has no field %s\n", missing);
        return false;
    }
    struct sm_dynamic_time t = sm_dynamic_time(&counts, constants);
    const char *name = json_string_value(json_object_get(kernel, "name"));
    printf("%s{\"hash\": \"%s\", \"name\": \"%s\", \"dispatches\": %.0f, \"alu_s\": %.4g, \"ls_s\": %.4g, \"l2_s\": "
           "%.4g, \"latency_s\": %.4g, \"dram_s\": %.4g, \"total_s\": %.4g}",
           separator, json_string_value(json_object_get(kernel, "hash")), name != NULL ? name : "", counts.dispatches,
           t.alu_s, t.ls_s, t.l2_s, t.latency_s, t.dram_s, t.total_s);
    return true;
}

static int command_report(const struct options *o) {
    json_error_t why;
    json_t *report = json_load_file(o->file, 0, &why), *kernels = json_object_get(report, "kernels");
    bool good = json_is_array(kernels);
    if (!good)
        fprintf(stderr, "sim-model: %s: %s\n", o->file,
                report == NULL ? why.text : "no kernels in it; mali-exec writes them with --count");
    printf("[");
    for (size_t i = 0; good && i < json_array_size(kernels); i++)
        good = print_kernel_time(json_array_get(kernels, i), i > 0 ? ",\n " : "", &o->constants);
    printf("]\n");
    json_decref(report);
    return good ? 0 : 1;
}

static void print_graph(const struct sm_graph_request *request, const struct sm_graph *g) {
    double total = request->ubatch / g->tps_modelled;
    printf("{\"model\": \"%s\", \"type\": \"q4_K_M\", \"path\": \"%s\", \"ubatch\": %d, \"tps_raw\": %.2f, "
           "\"tps_products\": %.2f, \"tps_modelled\": %.2f, \"tps_derated\": %.2f,\n",
           request->shape->name, sm_list_path_name(request->path), request->ubatch, g->tps_raw, g->tps_products,
           g->tps_modelled, g->tps_derated);
    printf(" \"share\": {\"quantise\": %.4f, \"unpack\": %.4f, \"matmul\": %.4f, \"attention\": %.4f, \"other\": %.4f, "
           "\"cpu\": %.4f, \"submit\": %.4f},\n \"dispatches\": %d, \"submissions\": %d, \"splits\": %d, "
           "\"matmul_dram_share\": %.4f}\n",
           g->quantise_s / total, g->unpack_s / total, g->matmul_s / total, g->attention_s / total, g->other_s / total,
           g->cpu_s / total, g->submit_s / total, g->dispatches, g->submissions, g->splits,
           g->matmul_dram_s / g->matmul_s);
}

static int command_needs(const struct options *o) {
    struct sm_list list = {0};
    bool good = sm_graph_needs(&o->graph, &list);
    for (size_t i = 0; good && i < list.count; i++) {
        char text[80];
        sm_list_describe(&list.entries[i], text, sizeof text);
        printf("%s\n", text);
    }
    sm_list_free(&list);
    return good ? 0 : fail("out of memory");
}

static int command_graph(struct options *o) {
    char error[ERROR_BYTES];
    struct sm_list list;
    if (!sm_list_read(o->file, &o->constants, &list, error, sizeof error))
        return fail(error);
    bool good = true;
    if (o->derate_by != NULL) {
        double modelled = sm_graph_point(o->derate_by, &list, &o->constants);
        good = modelled > 0;
        double ratio = good ? published(o->derate_by, &list) / modelled : 1;
        o->constants.derate = ratio < 1 ? ratio : 1; // a chip that beats the model on one kernel is no promise
        snprintf(error, sizeof error, "the list has no point \"%s\"", o->derate_by);
    }
    struct sm_graph graph;
    good = good && sm_graph_run(&o->graph, &list, &o->constants, &graph, error, sizeof error);
    if (good)
        print_graph(&o->graph, &graph);
    sm_list_free(&list);
    return good ? 0 : fail(error);
}

static int command_constants(const struct options *o) {
    printf("| constant | value | unit | origin |\n| --- | --- | --- | --- |\n");
    for (size_t i = 0; i < sm_constants_count; i++) {
        const struct sm_constant *row = &sm_constants_table[i];
        double value;
        memcpy(&value, (const char *)&o->constants + row->offset, sizeof value);
        printf("| %s | %.7g | %s | %s |\n", row->name, value, row->unit, row->origin);
    }
    return 0;
}

int main(int argc, char **argv) {
    const char *command = argc > 1 ? argv[1] : "";
    struct options o;
    if (strcmp(command, "--help") == 0)
        return fputs(help, stdout) < 0;
    if (!parse(argc, argv, &o))
        return 2;
    if (strcmp(command, "constants") == 0)
        return command_constants(&o);
    bool loops = strcmp(command, "loops") == 0, kernel = strcmp(command, "kernel") == 0;
    bool graph = strcmp(command, "graph") == 0, needs = strcmp(command, "needs") == 0;
    bool calibrate = strcmp(command, "calibrate") == 0, compare = strcmp(command, "compare") == 0;
    bool report = strcmp(command, "report") == 0;
    if ((!loops && !kernel && !graph && !needs && !calibrate && !compare && !report) || (compare && o.counts == NULL) ||
        (o.file == NULL) != needs || ((loops || kernel) && o.local.x == 0) ||
        ((graph || needs) && (o.graph.shape == NULL || o.graph.ubatch == 0))) {
        fprintf(stderr,
                "sim-model: a command and its file, --local for loops and kernel, --shape and --ubatch for graph and "
                "needs, --counts for compare: see --help\n");
        return 2;
    }
    if (needs)
        return command_needs(&o);
    if (loops || kernel)
        return loops ? command_loops(&o) : command_kernel(&o);
    if (compare || report)
        return compare ? command_compare(&o) : command_report(&o);
    return graph ? command_graph(&o) : command_calibrate(&o);
}
