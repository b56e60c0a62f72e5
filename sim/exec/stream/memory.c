// SPDX-License-Identifier: MIT
#include "../memory.h"

#include <stdlib.h>
#include <string.h>

struct mx_memory {
    struct mx_region *regions; // by address, no two overlap
    size_t count, capacity;
};

struct mx_memory *mx_memory_new(void) {
    return calloc(1, sizeof(struct mx_memory));
}

void mx_memory_free(struct mx_memory *memory) {
    if (memory == NULL)
        return;
    free(memory->regions);
    free(memory);
}

// The first region that ends above the address.
static size_t find(const struct mx_memory *memory, uint64_t address) {
    size_t low = 0, high = memory->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (memory->regions[middle].end > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static bool reserve(struct mx_memory *memory, size_t more) {
    if (memory->count + more <= memory->capacity)
        return true;
    size_t capacity = memory->capacity > 0 ? memory->capacity * 2 : 256;
    struct mx_region *grown = realloc(memory->regions, capacity * sizeof *grown);
    if (grown == NULL)
        return false;
    memory->regions = grown;
    memory->capacity = capacity;
    return true;
}

static void insert(struct mx_memory *memory, size_t at, struct mx_region region) {
    memmove(memory->regions + at + 1, memory->regions + at, (memory->count - at) * sizeof region);
    memory->regions[at] = region;
    memory->count++;
}

static void take_out(struct mx_memory *memory, size_t at) {
    memory->count--;
    memmove(memory->regions + at, memory->regions + at + 1, (memory->count - at) * sizeof *memory->regions);
}

// Room for one region more is there: that is all a cut needs.
static void cut(struct mx_memory *memory, uint64_t begin, uint64_t end) {
    size_t at = find(memory, begin);
    while (at < memory->count && memory->regions[at].begin < end) {
        struct mx_region whole = memory->regions[at], upper = whole;
        take_out(memory, at);
        if (whole.begin < begin) {
            struct mx_region lower = whole;
            lower.end = begin;
            insert(memory, at++, lower);
        }
        if (whole.end > end) {
            upper.begin = end;
            upper.host += end - whole.begin;
            insert(memory, at++, upper);
        }
    }
}

bool mx_memory_map(struct mx_memory *memory, const struct mx_region *region) {
    if (!reserve(memory, 2))
        return false;
    cut(memory, region->begin, region->end);
    insert(memory, find(memory, region->begin), *region);
    return true;
}

bool mx_memory_unmap(struct mx_memory *memory, uint64_t begin, uint64_t size_bytes) {
    if (!reserve(memory, 1))
        return false;
    cut(memory, begin, begin + size_bytes);
    return true;
}

const struct mx_region *mx_memory_find(const struct mx_memory *memory, uint64_t address) {
    size_t at = find(memory, address);
    return at < memory->count && memory->regions[at].begin <= address ? &memory->regions[at] : NULL;
}

const struct mx_region *mx_memory_next(const struct mx_memory *memory, uint64_t address) {
    size_t at = find(memory, address);
    return at < memory->count ? &memory->regions[at] : NULL;
}

void *mx_memory_at(const struct mx_memory *memory, uint64_t address, uint64_t size_bytes) {
    const struct mx_region *region = mx_memory_find(memory, address);
    if (region == NULL || size_bytes > region->end - address)
        return NULL;
    return region->host + (address - region->begin);
}
