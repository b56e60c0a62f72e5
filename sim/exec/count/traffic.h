// SPDX-License-Identifier: MIT
// What goes through the modelled caches: an L1 in each core, an L2 for all, DRAM behind it.
//
// Cores are executed one after the other, but share the L2 as if side by side: what a core's L1 asks of the L2 is
// noted with the core's time (in lines that its load/store unit has moved), and the notes of all cores are put in the
// order of time when each has had its turn. So the result depends on the program alone, not on the host.
//
// Stores take a line in without reading it first: bytes that were not written are taken to be masked on the way out.
#pragma once

#include <stddef.h>

#include "../core.h"
#include "cache.h"

enum { MX_L1_BYTES = 16 << 10, MX_L1_WAYS = 4, MX_L2_BYTES = 1 << 20, MX_L2_WAYS = 16 };

// In lines.
struct mx_traffic_counts {
    uint64_t l1, l1_hits; // looked up in an L1
    uint64_t l2, l2_hits; // reads and write-backs of the L1s
    uint64_t dram_read, dram_written;
};

struct mx_request {
    uint64_t time, line;
    bool write;
};

struct mx_traffic_core {
    struct mx_cache l1;
    struct mx_request *requests; // to the L2, in the order of time
    size_t count, room;
    uint64_t time;
};

struct mx_traffic {
    struct mx_traffic_core cores[MX_MODELLED_CORES];
    struct mx_cache l2;
    uint64_t unordered; // requests that came to the L2 before other cores had their turn, for want of memory
};

bool mx_traffic_init(struct mx_traffic *traffic); // false: no memory; mx_traffic_free all the same
void mx_traffic_free(struct mx_traffic *traffic);

// Returns whether the L1 had the line.
bool mx_traffic_access(struct mx_traffic *traffic, uint32_t core, uint64_t line, bool write,
                       struct mx_traffic_counts *counts);

// All cores have had their turn.
void mx_traffic_turn(struct mx_traffic *traffic, struct mx_traffic_counts *counts);

// The end of a job: L1s are written back and emptied, the L2 is written back and keeps its lines, as the driver's
// flush between dispatches asks.
void mx_traffic_flush(struct mx_traffic *traffic, struct mx_traffic_counts *counts);
