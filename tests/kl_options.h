// SPDX-License-Identifier: MIT
#pragma once

#include <llama.h>

#include <stdbool.h>

struct rf_kl_options {
    const char *library, *model, *text_path, *registry;
    const char *exact;                     // NULL: none
    const char *ggml;                      // NULL: where libggml lies
    double bound, max_bound, exact_factor; // infinite: none
    int tokens, batch;
    int threads; // 0: rf_host_threads_default()
    enum llama_flash_attn_type attention;
    bool verbose;
};

enum rf_kl_options_result { RF_KL_OPTIONS_GO, RF_KL_OPTIONS_HELP_SHOWN, RF_KL_OPTIONS_BAD };

// Reads the command line; BAD after a line on stderr. Strings belong to argv.
enum rf_kl_options_result rf_kl_options_parse(struct rf_kl_options *options, int argc, char **argv);
