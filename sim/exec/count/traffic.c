// SPDX-License-Identifier: MIT
#include "traffic.h"

#include <stdlib.h>
#include <string.h>

#define REQUESTS_FIRST 4096
#define REQUESTS_MAX ((size_t)8 << 20) // of a core: 192 MiB

bool mx_traffic_init(struct mx_traffic *traffic) {
    memset(traffic, 0, sizeof *traffic);
    bool good = mx_cache_init(&traffic->l2, MX_L2_BYTES, MX_L2_WAYS);
    for (uint32_t c = 0; c < MX_MODELLED_CORES; c++)
        good = mx_cache_init(&traffic->cores[c].l1, MX_L1_BYTES, MX_L1_WAYS) && good;
    return good;
}

void mx_traffic_free(struct mx_traffic *traffic) {
    mx_cache_free(&traffic->l2);
    for (uint32_t c = 0; c < MX_MODELLED_CORES; c++) {
        mx_cache_free(&traffic->cores[c].l1);
        free(traffic->cores[c].requests);
    }
}

static void serve(struct mx_traffic *traffic, const struct mx_request *request, struct mx_traffic_counts *counts) {
    uint64_t victim;
    bool hit = mx_cache_touch(&traffic->l2, request->line, request->write, &victim);
    counts->l2++;
    counts->l2_hits += hit;
    counts->dram_read += !hit && !request->write;
    counts->dram_written += victim != MX_NO_LINE;
}

static bool grow(struct mx_traffic_core *core) {
    size_t room = core->room == 0 ? REQUESTS_FIRST : 2 * core->room;
    struct mx_request *grown = room <= REQUESTS_MAX ? realloc(core->requests, room * sizeof *grown) : NULL;
    if (grown == NULL)
        return false;
    core->requests = grown;
    core->room = room;
    return true;
}

static void ask(struct mx_traffic *traffic, struct mx_traffic_core *core, uint64_t line, bool write,
                struct mx_traffic_counts *counts) {
    struct mx_request request = {core->time, line, write};
    if (core->count == core->room && !grow(core)) {
        for (size_t i = 0; i < core->count; i++)
            serve(traffic, &core->requests[i], counts);
        serve(traffic, &request, counts);
        traffic->unordered += core->count + 1;
        core->count = 0;
        return;
    }
    core->requests[core->count++] = request;
}

bool mx_traffic_access(struct mx_traffic *traffic, uint32_t number, uint64_t line, bool write,
                       struct mx_traffic_counts *counts) {
    struct mx_traffic_core *core = &traffic->cores[number];
    uint64_t victim;
    bool hit = mx_cache_touch(&core->l1, line, write, &victim);
    core->time++;
    counts->l1++;
    counts->l1_hits += hit;
    if (victim != MX_NO_LINE)
        ask(traffic, core, victim, true, counts);
    if (!hit && !write)
        ask(traffic, core, line, false, counts);
    return hit;
}

void mx_traffic_turn(struct mx_traffic *traffic, struct mx_traffic_counts *counts) {
    size_t next[MX_MODELLED_CORES] = {0};
    for (;;) {
        uint32_t first = MX_MODELLED_CORES;
        for (uint32_t c = 0; c < MX_MODELLED_CORES; c++) {
            const struct mx_traffic_core *core = &traffic->cores[c];
            if (next[c] < core->count &&
                (first == MX_MODELLED_CORES ||
                 core->requests[next[c]].time < traffic->cores[first].requests[next[first]].time))
                first = c;
        }
        if (first == MX_MODELLED_CORES)
            break;
        serve(traffic, &traffic->cores[first].requests[next[first]++], counts);
    }
    for (uint32_t c = 0; c < MX_MODELLED_CORES; c++)
        traffic->cores[c].count = traffic->cores[c].time = 0;
}

void mx_traffic_flush(struct mx_traffic *traffic, struct mx_traffic_counts *counts) {
    for (uint32_t c = 0; c < MX_MODELLED_CORES; c++) {
        struct mx_traffic_core *core = &traffic->cores[c];
        uint64_t line;
        for (uint32_t place = 0; (line = mx_cache_clean(&core->l1, &place)) != MX_NO_LINE;)
            ask(traffic, core, line, true, counts);
        mx_cache_drop(&core->l1);
    }
    mx_traffic_turn(traffic, counts);
    for (uint32_t place = 0; mx_cache_clean(&traffic->l2, &place) != MX_NO_LINE;)
        counts->dram_written++;
}
