// SPDX-License-Identifier: MIT
// The counters as JSON: README.md has the fields.
#pragma once

#include <jansson.h>

#include "kernel.h"

struct mx_copied {
    uint64_t jobs, bytes; // the driver's copy kernels, done as copies: not among the kernels
};

struct mx_report_about {
    const struct mx_kernel *kernels;
    json_t *names; // NULL: none
    struct mx_copied copied;
    bool stacks_apart, complete;
    uint64_t unordered;
};

bool mx_report_fill(const struct mx_report_about *about, json_t *report); // false: no memory
