// SPDX-License-Identifier: MIT
#pragma once

#include "demo_worker.h"

// How the demo ends; also in its --help.
enum rf_demo_exit {
    RF_DEMO_EXIT_EQUAL = 0,
    RF_DEMO_EXIT_DIFFERENT = 1,
    RF_DEMO_EXIT_NO_DEVICE = 2,
    RF_DEMO_EXIT_BAD_INPUT = 3,
    RF_DEMO_EXIT_FAILED = 4
};

enum rf_demo_options_result { RF_DEMO_OPTIONS_GO, RF_DEMO_OPTIONS_HELP_SHOWN, RF_DEMO_OPTIONS_BAD };

// Reads the command line. BAD after a line on stderr. GO: `options->prompt` is the text of the prompt file, which
// the caller frees.
enum rf_demo_options_result rf_demo_options_parse(struct rf_demo_options *options, int argc, char **argv);
