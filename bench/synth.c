/* SPDX-License-Identifier: MIT
 *
 * rockfill-synth: writes a synthetic Qwen2 model as GGUF, with random or with zero weights. Memory use does not depend
 * on the model's size: tensors are streamed.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "synth.h"

static const char usage[] =
    "usage: rockfill-synth [options] -o FILE\n"
    "Writes a synthetic Qwen2 model as GGUF.\n"
    "\n"
    "  --shape NAME        qwen2.5-0.5b qwen2.5-1.5b qwen2.5-3b qwen2.5-7b 100m; the next options change parts of it\n"
    "  --layers N --embd N --ff N --heads N --heads-kv N --vocab N\n"
    "                      dimensions; all six where no shape is named\n"
    "  --untied            an output matrix of its own (as qwen2.5-7b has)\n"
    "  --mix NAME          q4_k_m (default) or another file type of llama-quantize, each tensor typed as that program\n"
    "                      would; or another weight type (q4_k, mxfp4, iq3_s, ...), for all matrices\n"
    "  --pure              the mix's main type for all matrices\n"
    "  --weights KIND      random (default), or zero: a sparse file\n"
    "  --seed N            for random weights (default 1); same seed and options, same file\n"
    "  --vocab-kind KIND   spm (default): byte tokens and made-up words; none: token ids only\n"
    "  -o FILE             replaced when the new one is complete\n";

int rf_synth_fail(enum rf_synth_exit code, const char *format, ...) {
    va_list args;

    va_start(args, format);
    fputs("rockfill-synth: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return (int)code;
}

struct options {
    struct rf_synth_shape dims; /* 0 where not given */
    const char *shape;
    const char *mix;
    const char *weights;
    const char *vocab_kind;
    const char *seed_text;
    const char *path;
    uint64_t seed;
    bool pure;
    bool help;
};

/* One of the three is set: where the option's value goes. */
struct option {
    const char *name;
    const char **text;
    int64_t *number;
    bool *flag;
};

static int parse_number(const char *name, const char *text, int64_t *number) {
    char *end;
    long long value = strtoll(text, &end, 10);

    if (*text == '\0' || *end != '\0' || value < 1) {
        return rf_synth_fail(RF_SYNTH_USAGE, "%s wants a number of at least 1, not '%s'", name, text);
    }
    *number = value;
    return RF_SYNTH_OK;
}

static int parse_seed(struct options *options) {
    char *end;

    /* strtoull accepts a minus sign and wraps. */
    errno = 0;
    options->seed = strtoull(options->seed_text, &end, 10);
    if (options->seed_text[0] < '0' || options->seed_text[0] > '9' || *end != '\0' || errno == ERANGE) {
        return rf_synth_fail(RF_SYNTH_USAGE, "--seed wants a number from 0 to 2^64 - 1, not '%s'", options->seed_text);
    }
    return RF_SYNTH_OK;
}

static int parse_options(struct options *options, int argc, char **argv) {
    const struct option table[] = {
        {"--shape", &options->shape, NULL, NULL},
        {"--layers", NULL, &options->dims.layers, NULL},
        {"--embd", NULL, &options->dims.embd, NULL},
        {"--ff", NULL, &options->dims.ff, NULL},
        {"--heads", NULL, &options->dims.heads, NULL},
        {"--heads-kv", NULL, &options->dims.heads_kv, NULL},
        {"--vocab", NULL, &options->dims.vocab, NULL},
        {"--untied", NULL, NULL, &options->dims.untied},
        {"--mix", &options->mix, NULL, NULL},
        {"--pure", NULL, NULL, &options->pure},
        {"--weights", &options->weights, NULL, NULL},
        {"--seed", &options->seed_text, NULL, NULL},
        {"--vocab-kind", &options->vocab_kind, NULL, NULL},
        {"-o", &options->path, NULL, NULL},
        {"--help", NULL, NULL, &options->help},
        {"-h", NULL, NULL, &options->help},
    };
    const size_t n_table = sizeof(table) / sizeof(table[0]);

    for (int i = 1; i < argc; i++) {
        const struct option *option = table;
        while (option < table + n_table && strcmp(argv[i], option->name) != 0) {
            option++;
        }
        if (option == table + n_table) {
            return rf_synth_fail(RF_SYNTH_USAGE, "unknown argument '%s': see --help", argv[i]);
        }
        if (option->flag) {
            *option->flag = true;
            continue;
        }
        if (++i == argc) {
            return rf_synth_fail(RF_SYNTH_USAGE, "%s wants a value", option->name);
        }
        if (option->text) {
            *option->text = argv[i];
        } else if (parse_number(option->name, argv[i], option->number) != RF_SYNTH_OK) {
            return RF_SYNTH_USAGE;
        }
    }
    return RF_SYNTH_OK;
}

/* The named shape, then what was given by hand. */
static int resolve_shape(const struct options *options, struct rf_synth_shape *shape) {
    const struct rf_synth_shape *dims = &options->dims;

    *shape = (struct rf_synth_shape){.name = "custom"};
    if (options->shape && !rf_synth_shape_find(options->shape, shape)) {
        return rf_synth_fail(RF_SYNTH_USAGE, "unknown shape '%s': one of %s", options->shape, rf_synth_shape_names());
    }
    const int64_t given[] = {dims->layers, dims->embd, dims->ff, dims->heads, dims->heads_kv, dims->vocab};
    int64_t *const into[] = {&shape->layers, &shape->embd, &shape->ff, &shape->heads, &shape->heads_kv, &shape->vocab};
    for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++) {
        if (given[i] != 0) {
            *into[i] = given[i];
            shape->name = "custom";
        }
    }
    if (dims->untied && !shape->untied) {
        shape->untied = true;
        shape->name = "custom";
    }
    return rf_synth_shape_check(shape);
}

static int resolve_mix(const struct options *options, struct rf_synth_mix *mix) {
    char names[512];

    if (!rf_synth_mix_find(options->mix, mix)) {
        rf_synth_mix_names(names, sizeof(names));
        return rf_synth_fail(RF_SYNTH_USAGE, "unknown mix '%s': one of %s", options->mix, names);
    }
    mix->pure = mix->pure || options->pure;
    return RF_SYNTH_OK;
}

/* One of two words: false for the first, true for the second. */
static int resolve_choice(const char *option, const char *value, const char *first, const char *second,
                          bool *is_second) {
    *is_second = strcmp(value, second) == 0;
    if (!*is_second && strcmp(value, first) != 0) {
        return rf_synth_fail(RF_SYNTH_USAGE, "%s is %s or %s, not '%s'", option, first, second, value);
    }
    return RF_SYNTH_OK;
}

static int write_meta(const struct rf_synth_model *model, struct rf_synth_file *file) {
    void *meta = malloc(model->meta_bytes);

    if (!meta) {
        return rf_synth_fail(RF_SYNTH_IO, "out of memory for %zu bytes of metadata", model->meta_bytes);
    }
    gguf_get_meta_data(model->gguf, meta);
    int code = rf_synth_file_write(file, 0, meta, model->meta_bytes);
    free(meta);
    return code;
}

static int write_tensor(const struct rf_synth_model *model, int64_t index, struct rf_synth_stream *stream,
                        struct rf_synth_file *file) {
    static uint8_t buffer[1 << 20];
    size_t offset = model->meta_bytes + gguf_get_tensor_offset(model->gguf, index);
    size_t left = gguf_get_tensor_size(model->gguf, index);
    size_t step = rf_synth_weights_step(stream, sizeof(buffer));
    int code = RF_SYNTH_OK;

    while (left > 0 && code == RF_SYNTH_OK) {
        size_t now = left < step ? left : step;
        rf_synth_weights_read(stream, buffer, now);
        code = rf_synth_file_write(file, offset, buffer, now);
        offset += now;
        left -= now;
    }
    return code;
}

static int write_random(const struct rf_synth_model *model, const struct rf_synth_shape *shape, uint64_t seed,
                        struct rf_synth_file *file) {
    struct rf_synth_weights weights = {.seed = seed};
    int code = RF_SYNTH_OK;

    for (int64_t i = 0; i < model->n_tensors && code == RF_SYNTH_OK; i++) {
        struct rf_synth_tensor tensor;
        struct rf_synth_stream stream;
        rf_synth_shape_tensor(shape, i, &tensor);
        code = rf_synth_weights_start(&weights, &tensor, i, model->types[i], &stream);
        if (code == RF_SYNTH_OK) {
            code = write_tensor(model, i, &stream, file);
        }
    }
    rf_synth_weights_free(&weights);
    return code;
}

static int write_file(const struct rf_synth_model *model, const struct rf_synth_shape *shape,
                      const struct options *options, bool zero) {
    struct rf_synth_file file;
    int code = rf_synth_file_open(&file, options->path, model->file_bytes, !zero);

    if (code != RF_SYNTH_OK) {
        return code;
    }
    code = write_meta(model, &file);
    if (code == RF_SYNTH_OK && !zero) {
        code = write_random(model, shape, options->seed, &file);
    }
    if (code != RF_SYNTH_OK) {
        rf_synth_file_drop(&file);
        return code;
    }
    return rf_synth_file_keep(&file);
}

static void print_summary(const struct rf_synth_model *model, const struct rf_synth_shape *shape, const char *path) {
    printf("%s: %s, %" PRId64 " layers of %" PRId64 ", %.1f M parameters, %.1f MiB; tensors:", path, shape->name,
           shape->layers, shape->embd, (double)model->n_params / 1e6, (double)model->file_bytes / (1 << 20));
    for (int type = 0; type < GGML_TYPE_COUNT; type++) {
        int64_t n = 0;
        for (int64_t i = 0; i < model->n_tensors; i++) {
            n += model->types[i] == (enum ggml_type)type;
        }
        if (n > 0) {
            printf(" %s %" PRId64, ggml_type_name((enum ggml_type)type), n);
        }
    }
    putchar('\n');
}

static int plan_and_write(const struct options *options) {
    struct rf_synth_shape shape;
    struct rf_synth_mix mix;
    bool zero, no_vocab;
    char description[160];

    int code = resolve_shape(options, &shape);
    if (code == RF_SYNTH_OK) {
        code = resolve_mix(options, &mix);
    }
    if (code == RF_SYNTH_OK) {
        code = resolve_choice("--weights", options->weights, "random", "zero", &zero);
    }
    if (code == RF_SYNTH_OK) {
        code = resolve_choice("--vocab-kind", options->vocab_kind, "spm", "none", &no_vocab);
    }
    if (code != RF_SYNTH_OK) {
        return code;
    }
    snprintf(description, sizeof(description), "rockfill-synth, mix %s%s, weights %s, seed %" PRIu64, mix.name,
             options->pure ? " pure" : "", options->weights, options->seed);

    struct rf_synth_model model;
    code = rf_synth_meta_plan(&model, &shape, &mix, no_vocab ? RF_SYNTH_VOCAB_NONE : RF_SYNTH_VOCAB_SPM, description);
    if (code == RF_SYNTH_OK) {
        code = write_file(&model, &shape, options, zero);
    }
    if (code == RF_SYNTH_OK) {
        print_summary(&model, &shape, options->path);
    }
    rf_synth_meta_free(&model);
    return code;
}

int main(int argc, char **argv) {
    struct options options = {.mix = "q4_k_m", .weights = "random", .vocab_kind = "spm", .seed_text = "1"};
    int code = parse_options(&options, argc, argv);

    if (code == RF_SYNTH_OK && options.help) {
        fputs(usage, stdout);
        return RF_SYNTH_OK;
    }
    if (code == RF_SYNTH_OK) {
        code = parse_seed(&options);
    }
    if (code == RF_SYNTH_OK && (!options.path || options.path[0] == '\0')) {
        code = rf_synth_fail(RF_SYNTH_USAGE, "-o FILE is missing");
    }
    return code == RF_SYNTH_OK ? plan_and_write(&options) : code;
}
