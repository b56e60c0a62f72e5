/* SPDX-License-Identifier: MIT
 *
 * A hash map with open addressing from handles to records. Entries taken out leave a mark, and are swept when the
 * table grows.
 */
#include "trial.h"

#include <stdlib.h>

enum { SLOT_FREE, SLOT_USED, SLOT_TAKEN };

struct trial_map_slot {
    uint64_t key;
    void *value;
    int state;
};

static size_t hash(uint64_t key, size_t capacity) {
    return (size_t)((key * 0x9E3779B97F4A7C15ull) >> 17) & (capacity - 1);
}

static struct trial_map_slot *find(const struct trial_map *map, uint64_t key) {
    if (map->capacity == 0) {
        return NULL;
    }
    for (size_t i = hash(key, map->capacity);; i = (i + 1) & (map->capacity - 1)) {
        struct trial_map_slot *slot = &map->slots[i];
        if (slot->state == SLOT_FREE) {
            return NULL;
        }
        if (slot->state == SLOT_USED && slot->key == key) {
            return slot;
        }
    }
}

static void insert(struct trial_map *map, uint64_t key, void *value) {
    size_t i = hash(key, map->capacity);
    while (map->slots[i].state == SLOT_USED) {
        i = (i + 1) & (map->capacity - 1);
    }
    map->used += map->slots[i].state == SLOT_FREE;
    map->slots[i] = (struct trial_map_slot){.key = key, .value = value, .state = SLOT_USED};
}

static bool grow(struct trial_map *map) {
    size_t live = 0;
    for (size_t i = 0; i < map->capacity; i++) {
        live += map->slots[i].state == SLOT_USED;
    }
    struct trial_map old = *map;
    map->capacity = 64;
    while (map->capacity < 4 * (live + 1)) {
        map->capacity *= 2;
    }
    map->slots = calloc(map->capacity, sizeof *map->slots);
    if (map->slots == NULL) {
        *map = old;
        return false;
    }
    map->used = 0;
    for (size_t i = 0; i < old.capacity; i++) {
        if (old.slots[i].state == SLOT_USED) {
            insert(map, old.slots[i].key, old.slots[i].value);
        }
    }
    free(old.slots);
    return true;
}

bool trial_map_put(struct trial_map *map, uint64_t key, void *value) {
    struct trial_map_slot *slot = find(map, key);
    if (slot != NULL) {
        slot->value = value;
        return true;
    }
    /* `used` counts marks too: a search ends only at a free slot, so some must remain. */
    if (2 * (map->used + 1) > map->capacity && !grow(map)) {
        return false;
    }
    insert(map, key, value);
    return true;
}

void *trial_map_get(const struct trial_map *map, uint64_t key) {
    struct trial_map_slot *slot = find(map, key);
    return slot != NULL ? slot->value : NULL;
}

void *trial_map_take(struct trial_map *map, uint64_t key) {
    struct trial_map_slot *slot = find(map, key);
    if (slot == NULL) {
        return NULL;
    }
    slot->state = SLOT_TAKEN;
    return slot->value;
}

void *trial_map_next(const struct trial_map *map, size_t *at) {
    while (*at < map->capacity) {
        struct trial_map_slot *slot = &map->slots[(*at)++];
        if (slot->state == SLOT_USED) {
            return slot->value;
        }
    }
    return NULL;
}
