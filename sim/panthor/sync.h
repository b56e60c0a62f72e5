// SPDX-License-Identifier: MIT
// DRM's synchronisation objects, binary and timeline: names for the fences of jobs. The lock is held around every call.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ioctl.h"

ps_ioctl_handler ps_sync_create, ps_sync_destroy, ps_sync_to_fd, ps_sync_from_fd, ps_sync_wait, ps_sync_timeline_wait,
    ps_sync_reset, ps_sync_signal, ps_sync_timeline_signal, ps_sync_query, ps_sync_transfer;

struct drm_panthor_obj_array;
struct ps_fence;

// Whether the sync operations of several jobs make sense: the first job's array is at `first`, the others follow at
// stride_bytes each. A wait needs something to wait for, which an earlier job of the call may be the one to signal.
// 0 or -errno, and nothing has changed.
int ps_sync_check(const struct drm_panthor_obj_array *first, size_t stride_bytes, uint32_t jobs);

// What one job, its array already checked, waits for, added to *wait; and what it signals: objects get its fence, which
// they hold. Several jobs of a call: one after the other.
void ps_sync_join(const struct drm_panthor_obj_array *array, struct ps_fence **wait);
void ps_sync_attach(const struct drm_panthor_obj_array *array, struct ps_fence *done);
