// SPDX-License-Identifier: MIT
#include "fence.h"

#include <stddef.h>
#include <stdlib.h>

// A tree: a join waits for two others, its own signal was never open.
struct ps_fence {
    uint32_t references;
    bool signalled;
    struct ps_fence *parts[2];
};

struct ps_fence *ps_fence_new(void) {
    struct ps_fence *fence = calloc(1, sizeof *fence);
    if (fence != NULL)
        fence->references = 1;
    return fence;
}

struct ps_fence *ps_fence_hold(struct ps_fence *fence) {
    if (fence != NULL)
        fence->references++;
    return fence;
}

void ps_fence_drop(struct ps_fence *fence) {
    if (fence == NULL || --fence->references > 0)
        return;
    ps_fence_drop(fence->parts[0]);
    ps_fence_drop(fence->parts[1]);
    free(fence);
}

void ps_fence_signal(struct ps_fence *fence) {
    fence->signalled = true;
}

// What is done is let go of at once, so that trees stay small.
bool ps_fence_done(struct ps_fence *fence) {
    if (fence == NULL)
        return true;
    bool done = fence->signalled;
    for (int i = 0; i < 2; i++) {
        if (fence->parts[i] != NULL && ps_fence_done(fence->parts[i])) {
            ps_fence_drop(fence->parts[i]);
            fence->parts[i] = NULL;
        }
        done &= fence->parts[i] == NULL;
    }
    return done;
}

bool ps_fence_join(struct ps_fence **fence, struct ps_fence *other) {
    if (ps_fence_done(other))
        return true;
    if (*fence == NULL) {
        *fence = ps_fence_hold(other);
        return true;
    }
    struct ps_fence *both = ps_fence_new();
    if (both == NULL)
        return false;
    both->signalled = true;
    both->parts[0] = *fence;
    both->parts[1] = ps_fence_hold(other);
    *fence = both;
    return true;
}
