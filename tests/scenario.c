// SPDX-License-Identifier: MIT
#include "scenario.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    int (*run)(const struct rf_scenario_options *options);
} acts[] = {
    {"devices", rf_act_devices}, {"product", rf_act_product}, {"grow", rf_act_grow},   {"zero", rf_act_zero},
    {"threads", rf_act_threads}, {"reload", rf_act_reload},   {"noops", rf_act_noops}, {"requests", rf_act_requests},
    {"decode", rf_act_decode},   {"twice", rf_act_twice},
};

static int usage(const char *what, const char *value) {
    fprintf(stderr,
            "error: %s \"%s\"\n"
            "Usage: rockfill-scenario ACT library=FILE [key=value]...\n"
            "Keys: model=GGUF type=q4_0 m=64 n=64 k=256 experts=0 used=2 layers=1 repeat=1 threads=4 tokens=64 cpu=1\n"
            "Acts:",
            what, value);
    for (size_t i = 0; i < sizeof acts / sizeof acts[0]; i++)
        fprintf(stderr, " %s", acts[i].name);
    fputc('\n', stderr);
    return RF_SCENARIO_USAGE;
}

static bool type_parse(const char *text, enum ggml_type *type) {
    for (int i = 0; i < GGML_TYPE_COUNT; i++) {
        const char *name = ggml_type_name((enum ggml_type)i);
        if (name != NULL && strcmp(name, text) == 0) {
            *type = (enum ggml_type)i;
            return true;
        }
    }
    return false;
}

static bool number_parse(const char *text, int64_t *number) {
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    *number = value;
    return errno == 0 && end != text && *end == '\0' && value >= 0 && value < 1ll << 40;
}

static bool option_parse(struct rf_scenario_options *options, const char *key, size_t length, const char *value) {
    int64_t cpu = options->cpu_threads;
    const struct {
        const char *key;
        int64_t *number;
    } numbers[] = {{"m", &options->m},           {"n", &options->n},
                   {"k", &options->k},           {"experts", &options->experts},
                   {"used", &options->used},     {"layers", &options->layers},
                   {"repeat", &options->repeat}, {"threads", &options->threads},
                   {"tokens", &options->tokens}, {"cpu", &cpu}};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (strlen(numbers[i].key) == length && strncmp(numbers[i].key, key, length) == 0) {
            bool good = number_parse(value, numbers[i].number);
            options->cpu_threads = (int)cpu;
            return good;
        }
    if (length == 7 && strncmp(key, "library", length) == 0) {
        options->library = value;
        return true;
    }
    if (length == 5 && strncmp(key, "model", length) == 0) {
        options->model = value;
        return true;
    }
    return length == 4 && strncmp(key, "type", length) == 0 && type_parse(value, &options->type);
}

int main(int argc, char **argv) {
    struct rf_scenario_options options = {.type = GGML_TYPE_Q4_0,
                                          .m = 64,
                                          .n = 64,
                                          .k = 256,
                                          .used = 2,
                                          .layers = 1,
                                          .repeat = 1,
                                          .threads = 4,
                                          .tokens = 64,
                                          .cpu_threads = 1};
    // Whoever reads a pipe must see what happened before a crash.
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 2; i < argc; i++) {
        const char *equals = strchr(argv[i], '=');
        if (equals == NULL || !option_parse(&options, argv[i], (size_t)(equals - argv[i]), equals + 1))
            return usage("not understood:", argv[i]);
    }
    for (size_t i = 0; argc > 1 && i < sizeof acts / sizeof acts[0]; i++)
        if (strcmp(acts[i].name, argv[1]) == 0) {
            if (options.library == NULL)
                return usage("missing:", "library=FILE");
            return rf_scene_cpu_load() ? acts[i].run(&options) : RF_SCENARIO_WRONG;
        }
    return usage("no such act:", argc > 1 ? argv[1] : "");
}
