// SPDX-License-Identifier: MIT

#include "kl_options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "Usage: rockfill-kl --library FILE --model GGUF --text FILE [OPTION]...\n"
    "\n"
    "Computes the logits of every position of the text on the CPU alone, then on the library's devices, and prints\n"
    "the Kullback-Leibler divergence of the device's distribution from the CPU's (nats), and how often both hold the\n"
    "same token most probable.\n"
    "\n"
    "  --library FILE      the backend library, for example build/libggml-rockfill.so\n"
    "  --model GGUF        the model\n"
    "  --text FILE         a text of at least 2 tokens\n"
    "  --bound X           fail when the mean divergence of device from CPU is above X\n"
    "  --max-bound X       fail when that of any position is above X\n"
    "  --exact GGUF        the same weights unpacked to F32 (llama-quantize --allow-requantize ... F32); computed on\n"
    "                      the CPU, it shows what rounding costs the CPU itself, and what it costs the device\n"
    "  --exact-factor X    fail when the device's mean divergence from --exact is above X times the CPU's\n"
    "  --tokens N          use at most this many tokens of the text, 2 to 4096 (default 512)\n"
    "  --batch N           tokens computed at once, 1 to 4096 (default 256)\n"
    "  --attention KIND    auto, flash or softmax, on both sides (default auto, as llama.cpp)\n"
    "  --threads N         of the CPU, 1 to 512 (default: one a processor, small cores left out)\n"
    "  --registry NAME     the library's name among ggml's backends (default ROCKFILL)\n"
    "  --ggml FOLDER       where ggml's CPU backend lies (default: beside libggml)\n"
    "  --verbose           show everything that llama.cpp logs\n"
    "  --help              show this\n"
    "\n"
    "The logits are kept in memory: tokens x vocabulary x 4 bytes, twice that with --exact.\n"
    "Exit status: 0 within the bounds, or none given; 1 beyond one, or logits that are no numbers; 2 no device; 3 bad\n"
    "command line or file; 4 a run failed.\n";

static const struct option known_options[] = {
    {"library", required_argument, NULL, 'l'},
    {"model", required_argument, NULL, 'm'},
    {"text", required_argument, NULL, 'x'},
    {"bound", required_argument, NULL, 'b'},
    {"max-bound", required_argument, NULL, 'B'},
    {"exact", required_argument, NULL, 'e'},
    {"tokens", required_argument, NULL, 'n'},
    {"exact-factor", required_argument, NULL, 'f'},
    {"batch", required_argument, NULL, 'u'},
    {"attention", required_argument, NULL, 'a'},
    {"threads", required_argument, NULL, 't'},
    {"registry", required_argument, NULL, 'g'},
    {"ggml", required_argument, NULL, 'd'},
    {"verbose", no_argument, NULL, 'v'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static bool whole_parse(const char *name, int lowest, int highest, int *number) {
    char *end;
    errno = 0;
    long value = strtol(optarg, &end, 10);
    if (errno || end == optarg || *end || value < lowest || value > highest) {
        fprintf(stderr, "error: --%s %s: not a whole number from %d to %d\n", name, optarg, lowest, highest);
        return false;
    }
    *number = (int)value;
    return true;
}

static bool bound_parse(const char *name, double *number) {
    char *end;
    double value = strtod(optarg, &end);
    if (end == optarg || *end || !(value >= 0.0) || isinf(value)) {
        fprintf(stderr, "error: --%s %s: not a number of 0 or more\n", name, optarg);
        return false;
    }
    *number = value;
    return true;
}

static bool attention_parse(enum llama_flash_attn_type *attention) {
    static const struct {
        const char *name;
        enum llama_flash_attn_type type;
    } kinds[] = {{"auto", LLAMA_FLASH_ATTN_TYPE_AUTO},
                 {"flash", LLAMA_FLASH_ATTN_TYPE_ENABLED},
                 {"softmax", LLAMA_FLASH_ATTN_TYPE_DISABLED}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(optarg, kinds[i].name) == 0) {
            *attention = kinds[i].type;
            return true;
        }
    }
    fprintf(stderr, "error: --attention %s: not auto, flash or softmax\n", optarg);
    return false;
}

static bool text_option_take(struct rf_kl_options *options, int letter) {
    const char **place = letter == 'l'   ? &options->library
                         : letter == 'm' ? &options->model
                         : letter == 'x' ? &options->text_path
                         : letter == 'e' ? &options->exact
                         : letter == 'g' ? &options->registry
                         : letter == 'd' ? &options->ggml
                                         : NULL;
    if (!place) {
        fprintf(stderr, "error: see rockfill-kl --help\n"); // getopt has named the option
        return false;
    }
    *place = optarg;
    return true;
}

static bool option_take(struct rf_kl_options *options, int letter) {
    switch (letter) {
    case 'b':
        return bound_parse("bound", &options->bound);
    case 'B':
        return bound_parse("max-bound", &options->max_bound);
    case 'f':
        return bound_parse("exact-factor", &options->exact_factor);
    case 'n':
        return whole_parse("tokens", 2, 4096, &options->tokens);
    case 'u':
        return whole_parse("batch", 1, 4096, &options->batch);
    case 't':
        return whole_parse("threads", 1, 512, &options->threads);
    case 'a':
        return attention_parse(&options->attention);
    case 'v':
        options->verbose = true;
        return true;
    default:
        return text_option_take(options, letter);
    }
}

static bool options_check(const struct rf_kl_options *options, int left_over) {
    if (!options->library || !options->model || !options->text_path || left_over > 0) {
        fprintf(stderr, "error: --library, --model and --text are needed, and nothing else; see rockfill-kl --help\n");
        return false;
    }
    if (isfinite(options->exact_factor) && !options->exact) {
        fprintf(stderr, "error: --exact-factor needs --exact\n");
        return false;
    }
    return true;
}

enum rf_kl_options_result rf_kl_options_parse(struct rf_kl_options *options, int argc, char **argv) {
    int letter;
    *options = (struct rf_kl_options){.registry = "ROCKFILL",
                                      .bound = INFINITY,
                                      .max_bound = INFINITY,
                                      .exact_factor = INFINITY,
                                      .tokens = 512,
                                      .batch = 256,
                                      .attention = LLAMA_FLASH_ATTN_TYPE_AUTO};
    while ((letter = getopt_long(argc, argv, "", known_options, NULL)) != -1) {
        if (letter == 'h') {
            fputs(help, stdout);
            return RF_KL_OPTIONS_HELP_SHOWN;
        }
        if (!option_take(options, letter)) {
            return RF_KL_OPTIONS_BAD;
        }
    }
    return options_check(options, argc - optind) ? RF_KL_OPTIONS_GO : RF_KL_OPTIONS_BAD;
}
