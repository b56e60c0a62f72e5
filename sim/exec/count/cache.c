// SPDX-License-Identifier: MIT
#include "cache.h"

#include <stdlib.h>
#include <string.h>

bool mx_cache_init(struct mx_cache *cache, uint32_t bytes, uint32_t ways) {
    *cache = (struct mx_cache){.sets = bytes / MX_LINE_BYTES / ways, .ways = ways};
    cache->entries = calloc((size_t)cache->sets * ways, sizeof *cache->entries);
    return cache->entries != NULL;
}

void mx_cache_free(struct mx_cache *cache) {
    free(cache->entries);
    *cache = (struct mx_cache){0};
}

static uint32_t set_of(const struct mx_cache *cache, uint64_t line) {
    uint64_t folded = line;
    for (unsigned bits = (unsigned)__builtin_ctz(cache->sets); line >>= bits, line != 0;)
        folded ^= line;
    return (uint32_t)folded & (cache->sets - 1);
}

bool mx_cache_touch(struct mx_cache *cache, uint64_t line, bool write, uint64_t *victim) {
    uint64_t *set = &cache->entries[(size_t)set_of(cache, line) * cache->ways];
    uint32_t place = 0;
    *victim = MX_NO_LINE;
    while (place < cache->ways - 1 && set[place] >> 1 != line + 1)
        place++;
    uint64_t entry = set[place];
    bool hit = entry >> 1 == line + 1;
    if (!hit) {
        if (entry & 1)
            *victim = (entry >> 1) - 1;
        entry = (line + 1) << 1;
    }
    memmove(set + 1, set, place * sizeof *set);
    set[0] = entry | write;
    return hit;
}

uint64_t mx_cache_clean(struct mx_cache *cache, uint32_t *place) {
    for (; *place < cache->sets * cache->ways; ++*place) {
        uint64_t *entry = &cache->entries[*place];
        if (*entry & 1) {
            *entry &= ~UINT64_C(1);
            return (*entry >> 1) - 1;
        }
    }
    return MX_NO_LINE;
}

void mx_cache_drop(struct mx_cache *cache) {
    memset(cache->entries, 0, (size_t)cache->sets * cache->ways * sizeof *cache->entries);
}
