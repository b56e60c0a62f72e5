// SPDX-License-Identifier: MIT
// Who touched which byte last: conflicting accesses that nothing orders. Ordered are accesses of one warp, and those of
// one workgroup with a barrier between; accesses of different workgroups of a job never are. A page's cells stand for
// as many bytes as its accesses allow (8 down to 1).
//
// Whether a byte has a race does not depend on the order in which workgroups and warps run; which of two accesses is
// the second, and so reported, does.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "../observer.h"

enum mx_race_verdict {
    MX_RACE_NONE,
    MX_RACE_SAME, // unordered, but the store changes nothing: the outcome is the same in any order
    MX_RACE_CONFLICT,
};

// Who accesses: the workgroup's number (below 2^32 - 2), barriers it has passed, the warp in it.
struct mx_race_actor {
    uint32_t group, epoch, warp;
};

struct mx_race_map;

// `is_private`: of workgroup memory: one workgroup at a time, whatever another one did there is forgotten; for one
// thread only. limit_bytes: of host memory. NULL: no memory.
struct mx_race_map *mx_race_new(bool is_private, uint64_t limit_bytes);
void mx_race_free(struct mx_race_map *map);
void mx_race_clear(struct mx_race_map *map); // between jobs

// Where the last access was: the accesses of one message meet the same page as a rule, which is then found, and locked,
// once. Starts as zeros; ends with mx_race_release, before anything else is done with the map by this thread.
struct mx_race_cursor {
    struct mx_race_shard *shard; // locked; NULL: none
    struct mx_race_page *page;
};

// One lane's access. Of a store also: its bytes (`data`), and the memory that they go to, before they do (NULL: counts
// as a change). What an earlier store of the job left there is remembered, so that the verdict does not hang on whether
// another thread's store has reached memory yet.
enum mx_race_verdict mx_race_access(struct mx_race_map *map, struct mx_race_cursor *cursor,
                                    const struct mx_race_actor *actor, enum mx_access access, uint64_t address,
                                    uint32_t bytes, const uint8_t *data, const uint8_t *host);
void mx_race_release(struct mx_race_map *map, struct mx_race_cursor *cursor);

uint64_t mx_race_dropped(const struct mx_race_map *map); // accesses not looked at for want of memory, ever
