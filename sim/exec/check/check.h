// SPDX-License-Identifier: MIT
// The checker: looks on while a job executes and notes what a chip would do silently, or differently each time. Kinds
// of finding, how each is decided, and what is not seen: README.md.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "../observer.h"

struct mx_check_options {
    // The simulated memory file and where all of it is mapped: to tell pages that nobody ever touched. -1: not asked.
    int memory_fd;
    const uint8_t *memory_base;
    uint64_t memory_bytes;
    // Host memory for what the race detector remembers of one job; 0: 1 GiB. Beyond it pages are left out, and counted.
    uint64_t race_bytes;
};

struct mx_check;

struct mx_check *mx_check_new(const struct mx_check_options *options); // NULL: no memory
void mx_check_free(struct mx_check *check);                            // after the last job; NULL does nothing

// The observer of one core: jobs come one at a time, calls within a job from its workers. Lives as long as the checker.
const struct mx_observer *mx_check_observer(struct mx_check *check);

// Sets report's `findings` (an array, ordered by kernel, instruction and kind) and `check` (totals, and what was left
// out). Between jobs only. False: no memory.
bool mx_check_report(struct mx_check *check, json_t *report);

// How many distinct findings are errors: all kinds but race-same-value and nan. Between jobs only.
uint64_t mx_check_errors(struct mx_check *check);
