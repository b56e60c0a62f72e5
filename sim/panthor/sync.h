// SPDX-License-Identifier: MIT
// DRM's synchronisation objects, binary and timeline, and the hung job (at most one a process), which is all that can
// make anyone wait: every other job is done when it is submitted. The lock is held around every call.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ioctl.h"

ps_ioctl_handler ps_sync_create, ps_sync_destroy, ps_sync_to_fd, ps_sync_from_fd, ps_sync_wait, ps_sync_timeline_wait,
    ps_sync_reset, ps_sync_signal, ps_sync_timeline_signal, ps_sync_query, ps_sync_transfer;

struct drm_panthor_obj_array;

// Whether the sync operations of several jobs make sense: the first job's array is at `first`, the others follow at
// stride_bytes each. A wait needs something to wait for, which an earlier job of the call may be the one to signal.
// 0 or -errno, and nothing has changed.
int ps_sync_check(const struct drm_panthor_obj_array *first, size_t stride_bytes, uint32_t jobs);

// Whether one job's array, already checked, waits for the hung job.
bool ps_sync_waits_for_hang(const struct drm_panthor_obj_array *array);

// Signals what one job signals, now or when the hang ends.
void ps_sync_run(const struct drm_panthor_obj_array *array, bool after_hang);

// A job hangs until the clock shows due_ns (0: forever) or its group is destroyed.
void ps_sync_hang_begin(uint64_t due_ns);
void ps_sync_hang_end(void);
bool ps_sync_hung(void); // now
