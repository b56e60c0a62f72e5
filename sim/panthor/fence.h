// SPDX-License-Identifier: MIT
// Fences: what a job, or a part of a timeline, will have reached. NULL stands for one that is signalled. The lock is
// held around every call.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct ps_fence;

struct ps_fence *ps_fence_new(void); // open; NULL: no memory, which the caller must not take for a signalled one
struct ps_fence *ps_fence_hold(struct ps_fence *fence); // one reference more
void ps_fence_drop(struct ps_fence *fence);

void ps_fence_signal(struct ps_fence *fence);
bool ps_fence_done(struct ps_fence *fence); // it, and what is in it

// *fence becomes one that is done when both are. It takes over *fence's reference, and holds the other one. False: no
// memory, nothing has changed.
bool ps_fence_join(struct ps_fence **fence, struct ps_fence *other);
