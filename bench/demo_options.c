// SPDX-License-Identifier: MIT

#include "demo_options.h"
#include "demo_worker.h"
#include "text.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "Usage: rockfill-demo --library FILE --prompt FILE [OPTION]... [--models] MODEL.gguf...\n"
    "\n"
    "For each model: answers the prompt with the library's device doing the prefill, then on the CPU alone, says\n"
    "whether both answers are the same tokens, and measures both, in turns, at a prompt of 512 tokens and at\n"
    "generating 64.\n"
    "\n"
    "  --library FILE     the backend library, for example build/libggml-rockfill.so\n"
    "  --prompt FILE      a text of 256 to 960 tokens\n"
    "  --models           may stand before the models, and changes nothing\n"
    "  --out FILE         where to write the measurements (default build/results/demo.json)\n"
    "  --software NAME    without a GPU, ask the library for this software device, for example llvmpipe; its speed\n"
    "                     means nothing (ignored when " RF_DEMO_DEVICE_VARIABLE " is set)\n"
    "  --repetitions N    of each measurement, 0 to 99 (default 3; the median counts; 0: only the answers)\n"
    "  --tokens N         of each answer, 1 to 64 (default 64)\n"
    "  --threads N        of the CPU, 1 to 512 (default: one a processor, small cores of a big.LITTLE chip left out)\n"
    "  --registry NAME    the library's name among ggml's backends (default ROCKFILL)\n"
    "  --ggml FOLDER      where ggml's CPU backend lies (default: beside libggml)\n"
    "  --verbose          show everything that llama.cpp logs\n"
    "  --help             show this\n"
    "\n"
    "Exit status: 0 the answers are equal, or differ first where the CPU itself holds both tokens equally likely\n"
    "within 2 %; 1 they differ; 2 no device; 3 bad command line or file; 4 a run failed, or the result was not "
    "written.\n";

static const struct option known_options[] = {
    {"library", required_argument, NULL, 'l'},
    {"prompt", required_argument, NULL, 'p'},
    {"models", no_argument, NULL, 'm'},
    {"out", required_argument, NULL, 'o'},
    {"software", required_argument, NULL, 's'},
    {"repetitions", required_argument, NULL, 'r'},
    {"threads", required_argument, NULL, 't'},
    {"registry", required_argument, NULL, 'g'},
    {"ggml", required_argument, NULL, 'd'},
    {"verbose", no_argument, NULL, 'v'},
    {"tokens", required_argument, NULL, 'n'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static bool number_parse(const char *name, const char *text, int lowest, int highest, int *number) {
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno || end == text || *end || value < lowest || value > highest) {
        fprintf(stderr, "error: --%s %s: not a whole number from %d to %d\n", name, text, lowest, highest);
        return false;
    }
    *number = (int)value;
    return true;
}

static bool option_take(struct rf_demo_options *options, int letter, const char **prompt_path) {
    switch (letter) {
    case 'l':
        options->library = optarg;
        return true;
    case 'p':
        *prompt_path = optarg;
        return true;
    case 'm':
        return true;
    case 'o':
        options->out = optarg;
        return true;
    case 's':
        options->software = optarg;
        return true;
    case 'r':
        return number_parse("repetitions", optarg, 0, 99, &options->repetitions);
    case 'n':
        return number_parse("tokens", optarg, 1, RF_DEMO_NEW_TOKENS, &options->new_tokens);
    case 't':
        return number_parse("threads", optarg, 1, 512, &options->threads);
    case 'g':
        options->registry = optarg;
        return true;
    case 'd':
        options->ggml = optarg;
        return true;
    case 'v':
        options->verbose = true;
        return true;
    default:
        fprintf(stderr, "error: see rockfill-demo --help\n"); // getopt has named the option
        return false;
    }
}

static bool options_check(const struct rf_demo_options *options, const char *prompt_path) {
    if (!options->library || !prompt_path || options->model_count == 0) {
        fprintf(stderr, "error: --library, --prompt and at least one model are needed; see rockfill-demo --help\n");
        return false;
    }
    if (access(options->library, R_OK) != 0) {
        fprintf(stderr, "error: %s: %s; build the library first\n", options->library, strerror(errno));
        return false;
    }
    for (int i = 0; i < options->model_count; i++) {
        if (access(options->models[i], R_OK) != 0) {
            fprintf(stderr, "error: %s: %s; name a GGUF model that can be read\n", options->models[i], strerror(errno));
            return false;
        }
    }
    return true;
}

enum rf_demo_options_result rf_demo_options_parse(struct rf_demo_options *options, int argc, char **argv) {
    const char *prompt_path = NULL;
    int letter;
    *options = (struct rf_demo_options){
        .registry = "ROCKFILL", .out = "build/results/demo.json", .repetitions = 3, .new_tokens = RF_DEMO_NEW_TOKENS};
    while ((letter = getopt_long(argc, argv, "", known_options, NULL)) != -1) {
        if (letter == 'h') {
            fputs(help, stdout);
            return RF_DEMO_OPTIONS_HELP_SHOWN;
        }
        if (!option_take(options, letter, &prompt_path)) {
            return RF_DEMO_OPTIONS_BAD;
        }
    }
    options->models = argv + optind;
    options->model_count = argc - optind;
    if (!options_check(options, prompt_path)) {
        return RF_DEMO_OPTIONS_BAD;
    }
    options->prompt = rf_text_read(prompt_path);
    return options->prompt ? RF_DEMO_OPTIONS_GO : RF_DEMO_OPTIONS_BAD;
}
