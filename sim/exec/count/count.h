// SPDX-License-Identifier: MIT
// The counters: look on while jobs execute and sum up, for each kernel (by the hash of its code), what a speed model
// needs. Instructions, lanes and messages are exact; cache hits and DRAM traffic are of modelled caches (traffic.h).
//
// The core that they look on has to be made with `interleave`: workgroups then run on modelled cores, by their
// number, and as many side by side as fit, which is what the caches' hits come from. There is one host thread, so
// nothing depends on the host.
#pragma once

#include <stdbool.h>

#include <jansson.h>

#include "../observer.h"

struct mx_count_options {
    // How the stacks of a warp's lanes lie in memory. False: interleaved by 16 bytes (what the driver's packed mode is
    // taken to mean), so a spilled register of a warp is 4 lines. True: each lane's in one piece, so it is 16.
    bool stacks_apart;
    // A JSON object, hash to name, for the report. NULL: none. The counters take a
    // reference of their own.
    json_t *names;
};

struct mx_count;

struct mx_count *mx_count_new(const struct mx_count_options *options); // NULL: no memory
void mx_count_free(struct mx_count *count);                            // after the last job; NULL does nothing

// The observer of one core. Lives as long as the counters.
const struct mx_observer *mx_count_observer(struct mx_count *count);

// Sets report's `kernels`, `operations`, `copied` and `count`: README.md. Between jobs only. False: no memory.
bool mx_count_report(struct mx_count *count, json_t *report);
