// SPDX-License-Identifier: MIT
#include "race.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_BYTES 4096u
#define SHARDS 64u // locks: workers seldom meet at one
#define SLOTS_FIRST 64u

// An access, or all that a cell has seen, in 64 bits. 0: none.
#define WARP_MANY 0xffu
#define GROUP_MANY 0xffffffffu
#define FLAG_ATOMIC (UINT64_C(1) << 28)    // stores: nothing but atomics
#define FLAG_UNCHANGED (UINT64_C(1) << 29) // stores: none of them changed the value
#define EPOCH_MASK 0xfffffu

struct mx_race_page {
    uint64_t number;          // address / PAGE_BYTES
    uint32_t unit;            // bytes a cell: 8, 4, 2 or 1
    uint64_t *reads, *writes; // of each cell; NULL: none yet
    uint64_t *values;         // of each cell, that the last store left; goes with writes
};

struct mx_race_shard {
    pthread_mutex_t lock;
    struct mx_race_page **slots; // open addressing
    uint32_t slot_count, used;
};

struct mx_race_map {
    bool is_private;
    uint64_t limit_bytes;
    atomic_uint_fast64_t bytes, dropped;
    struct mx_race_shard shards[SHARDS];
};

struct mx_race_map *mx_race_new(bool is_private, uint64_t limit_bytes) {
    struct mx_race_map *map = calloc(1, sizeof *map);
    if (map == NULL)
        return NULL;
    map->is_private = is_private;
    map->limit_bytes = limit_bytes;
    for (uint32_t i = 0; i < SHARDS; i++)
        pthread_mutex_init(&map->shards[i].lock, NULL);
    return map;
}

void mx_race_clear(struct mx_race_map *map) {
    for (uint32_t i = 0; i < SHARDS; i++) {
        struct mx_race_shard *shard = &map->shards[i];
        for (uint32_t s = 0; s < shard->slot_count; s++) {
            if (shard->slots[s] == NULL)
                continue;
            free(shard->slots[s]->reads);
            free(shard->slots[s]->writes);
            free(shard->slots[s]->values);
            free(shard->slots[s]);
        }
        free(shard->slots);
        shard->slots = NULL;
        shard->slot_count = shard->used = 0;
    }
    map->bytes = 0;
}

void mx_race_free(struct mx_race_map *map) {
    if (map == NULL)
        return;
    mx_race_clear(map);
    for (uint32_t i = 0; i < SHARDS; i++)
        pthread_mutex_destroy(&map->shards[i].lock);
    free(map);
}

uint64_t mx_race_dropped(const struct mx_race_map *map) {
    return map->dropped;
}

static uint64_t hash(uint64_t number) {
    return number * UINT64_C(0x9e3779b97f4a7c15) >> 32;
}

// NULL: no memory, or none allowed.
static void *take(struct mx_race_map *map, uint64_t bytes) {
    if (map->bytes + bytes > map->limit_bytes)
        return NULL;
    void *memory = calloc(1, bytes);
    if (memory != NULL)
        map->bytes += bytes;
    return memory;
}

static struct mx_race_page **slot_of(struct mx_race_shard *shard, uint64_t number) {
    uint32_t slot = (uint32_t)(hash(number) / SHARDS) & (shard->slot_count - 1);
    while (shard->slots[slot] != NULL && shard->slots[slot]->number != number)
        slot = (slot + 1) & (shard->slot_count - 1);
    return &shard->slots[slot];
}

static bool shard_grow(struct mx_race_shard *shard) {
    struct mx_race_shard grown = {.slot_count = shard->slot_count > 0 ? 2 * shard->slot_count : SLOTS_FIRST};
    grown.slots = calloc(grown.slot_count, sizeof(struct mx_race_page *));
    if (grown.slots == NULL)
        return false;
    for (uint32_t i = 0; i < shard->slot_count; i++)
        if (shard->slots[i] != NULL)
            *slot_of(&grown, shard->slots[i]->number) = shard->slots[i];
    free(shard->slots);
    shard->slots = grown.slots;
    shard->slot_count = grown.slot_count;
    return true;
}

static struct mx_race_page *page_of(struct mx_race_map *map, struct mx_race_shard *shard, uint64_t number) {
    if (2 * shard->used >= shard->slot_count && !shard_grow(shard))
        return NULL;
    struct mx_race_page **slot = slot_of(shard, number);
    if (*slot != NULL)
        return *slot;
    *slot = take(map, sizeof **slot);
    if (*slot == NULL)
        return NULL;
    **slot = (struct mx_race_page){.number = number, .unit = 8};
    shard->used++;
    return *slot;
}

// The cells anew, each as several smaller ones. False: no memory.
static bool cells_split(struct mx_race_map *map, uint64_t **cells, uint32_t unit, uint32_t new_unit) {
    if (*cells == NULL)
        return true;
    uint64_t *split = take(map, PAGE_BYTES / new_unit * sizeof *split);
    if (split == NULL)
        return false;
    for (uint32_t i = 0; i < PAGE_BYTES / new_unit; i++)
        split[i] = (*cells)[i * new_unit / unit];
    map->bytes -= PAGE_BYTES / unit * sizeof *split;
    free(*cells);
    *cells = split;
    return true;
}

static void values_shift(struct mx_race_page *page, uint32_t unit) {
    for (uint32_t i = 0; page->values != NULL && i < PAGE_BYTES / unit; i++)
        page->values[i] = page->values[i] >> 8 * (i * unit % page->unit) & ((UINT64_C(1) << 8 * unit) - 1);
}

// Smaller cells. False: no memory; the page then forgets what it cannot keep.
static bool page_split(struct mx_race_map *map, struct mx_race_page *page, uint32_t unit) {
    bool good = cells_split(map, &page->reads, page->unit, unit) && cells_split(map, &page->writes, page->unit, unit) &&
                cells_split(map, &page->values, page->unit, unit);
    if (good) {
        values_shift(page, unit);
    } else {
        free(page->reads);
        free(page->writes);
        free(page->values);
        page->reads = page->writes = page->values = NULL;
    }
    page->unit = unit;
    return good;
}

// So that cells fit what lies there. False: no memory.
static bool page_fit(struct mx_race_map *map, struct mx_race_page *page, uint32_t offset, uint32_t bytes, bool writes) {
    uint32_t unit = page->unit;
    while ((offset | bytes) & (unit - 1))
        unit /= 2;
    if (unit < page->unit && !page_split(map, page, unit))
        return false;
    uint64_t cells_bytes = PAGE_BYTES / page->unit * sizeof(uint64_t);
    if (!writes && page->reads == NULL)
        page->reads = take(map, cells_bytes);
    if (writes && page->writes == NULL)
        page->writes = take(map, cells_bytes);
    if (writes && page->values == NULL)
        page->values = take(map, cells_bytes);
    return writes ? page->writes != NULL && page->values != NULL : page->reads != NULL;
}

static uint64_t entry_make(const struct mx_race_actor *actor) {
    return (uint64_t)(actor->group + 1) << 32 | (uint64_t)(actor->epoch & EPOCH_MASK) << 8 | (actor->warp & 0x7f);
}

static uint32_t entry_group(uint64_t entry) {
    return (uint32_t)(entry >> 32);
}

static uint32_t entry_epoch(uint64_t entry) {
    return (uint32_t)(entry >> 8) & EPOCH_MASK;
}

static uint32_t entry_warp(uint64_t entry) {
    return (uint32_t)entry & 0xff;
}

// Whether something in `old` is not ordered before the access `own`.
static bool is_unordered(const struct mx_race_map *map, uint64_t old, uint64_t own) {
    if (old == 0)
        return false;
    if (entry_group(old) != entry_group(own))
        return !map->is_private;
    return entry_epoch(old) == entry_epoch(own) && entry_warp(old) != entry_warp(own);
}

// What is remembered after `own`: as much of `old` as may still matter.
static uint64_t entry_merge(const struct mx_race_map *map, uint64_t old, uint64_t own) {
    if (old == 0)
        return own;
    if (entry_group(old) != entry_group(own))
        return map->is_private ? own : (uint64_t)GROUP_MANY << 32;
    if (entry_epoch(old) != entry_epoch(own) || entry_warp(old) == entry_warp(own))
        return own;
    return own | WARP_MANY;
}

// Stores keep their flags only as long as all of them have them; those that entry_merge forgets do not count: of a
// finished workgroup's memory, and before the own workgroup's last barrier.
static uint64_t write_merge(const struct mx_race_map *map, uint64_t old, uint64_t own, uint64_t flags) {
    bool same_group = entry_group(old) == entry_group(own);
    bool forgotten = old == 0 || (same_group ? entry_epoch(old) != entry_epoch(own) : map->is_private);
    uint64_t plain = ~(FLAG_ATOMIC | FLAG_UNCHANGED);
    return entry_merge(map, old & plain, own) | (forgotten ? flags : flags & old);
}

static enum mx_race_verdict cell_load(const struct mx_race_map *map, uint64_t write, uint64_t *read, uint64_t own) {
    *read = entry_merge(map, *read, own);
    if (!is_unordered(map, write, own))
        return MX_RACE_NONE;
    return write & FLAG_UNCHANGED ? MX_RACE_SAME : MX_RACE_CONFLICT;
}

static enum mx_race_verdict cell_store(const struct mx_race_map *map, uint64_t *write, uint64_t read, uint64_t own,
                                       uint64_t flags) {
    uint64_t old = *write;
    *write = write_merge(map, old, own, flags);
    bool both_atomic = (flags & FLAG_ATOMIC) && (old & FLAG_ATOMIC);
    if (!(is_unordered(map, old, own) && !both_atomic) && !is_unordered(map, read, own))
        return MX_RACE_NONE;
    return flags & FLAG_UNCHANGED ? MX_RACE_SAME : MX_RACE_CONFLICT;
}

// A store's flags; the value that it leaves goes to *value.
static uint64_t store_flags(const struct mx_race_map *map, uint64_t write, uint64_t own, uint64_t *value, uint32_t unit,
                            const uint8_t *data, const uint8_t *host) {
    bool remembered =
        write != 0 && !(write & FLAG_ATOMIC) && (!map->is_private || entry_group(write) == entry_group(own));
    uint64_t old = *value, stored = 0;
    memcpy(&stored, data, unit);
    if (!remembered && host != NULL) {
        old = 0;
        memcpy(&old, host, unit);
    }
    *value = stored;
    return (remembered || host != NULL) && old == stored ? FLAG_UNCHANGED : 0;
}

static enum mx_race_verdict page_access(const struct mx_race_map *map, struct mx_race_page *page, uint64_t own,
                                        enum mx_access access, uint32_t offset, uint32_t bytes, const uint8_t *data,
                                        const uint8_t *host) {
    enum mx_race_verdict worst = MX_RACE_NONE;
    uint32_t unit = page->unit;
    for (uint32_t done = 0; done < bytes; done += unit) {
        uint32_t cell = (offset + done) / unit;
        enum mx_race_verdict verdict;
        if (access == MX_LOAD) {
            verdict = cell_load(map, page->writes != NULL ? page->writes[cell] : 0, &page->reads[cell], own);
        } else {
            uint64_t *write = &page->writes[cell], flags = FLAG_ATOMIC;
            if (access == MX_STORE)
                flags = store_flags(map, *write, own, &page->values[cell], unit, data + done,
                                    host != NULL ? host + done : NULL);
            verdict = cell_store(map, write, page->reads != NULL ? page->reads[cell] : 0, own, flags);
        }
        worst = verdict > worst ? verdict : worst;
    }
    return worst;
}

void mx_race_release(struct mx_race_map *map, struct mx_race_cursor *cursor) {
    if (cursor->shard != NULL && !map->is_private)
        pthread_mutex_unlock(&cursor->shard->lock);
    *cursor = (struct mx_race_cursor){0};
}

// To the page with that number; cursor->page is NULL when there is no memory for it.
static void cursor_move(struct mx_race_map *map, struct mx_race_cursor *cursor, uint64_t number) {
    if (cursor->page != NULL && cursor->page->number == number)
        return;
    struct mx_race_shard *shard = &map->shards[hash(number) % SHARDS];
    if (cursor->shard != shard) {
        mx_race_release(map, cursor); // never two locks at once
        if (!map->is_private)
            pthread_mutex_lock(&shard->lock);
        cursor->shard = shard;
    }
    cursor->page = page_of(map, shard, number);
}

enum mx_race_verdict mx_race_access(struct mx_race_map *map, struct mx_race_cursor *cursor,
                                    const struct mx_race_actor *actor, enum mx_access access, uint64_t address,
                                    uint32_t bytes, const uint8_t *data, const uint8_t *host) {
    enum mx_race_verdict worst = MX_RACE_NONE;
    while (bytes > 0) {
        uint32_t offset = (uint32_t)(address % PAGE_BYTES), room = PAGE_BYTES - offset;
        uint32_t now = bytes < room ? bytes : room;
        enum mx_race_verdict verdict = MX_RACE_NONE;
        cursor_move(map, cursor, address / PAGE_BYTES);
        if (cursor->page != NULL && page_fit(map, cursor->page, offset, now, access != MX_LOAD))
            verdict = page_access(map, cursor->page, entry_make(actor), access, offset, now, data, host);
        else
            map->dropped++;
        worst = verdict > worst ? verdict : worst;
        address += now;
        bytes -= now;
        data = data != NULL ? data + now : NULL;
        host = host != NULL ? host + now : NULL;
    }
    return worst;
}
