// SPDX-License-Identifier: MIT
// Device memory with one buffer over all of it, and the cache maintenance of host-visible memory.
#pragma once

#include <stddef.h>

#include "device.h"

enum rf_memory_kind {
    RF_MEMORY_LOCAL,   // for the device only
    RF_MEMORY_HOST,    // mapped
    RF_MEMORY_FOREIGN, // host memory of ours, imported: page-aligned pointer and size
};

struct rf_memory {
    VkDeviceMemory handle;
    VkBuffer buffer;    // VK_NULL_HANDLE when there is no memory
    VkDeviceSize bytes; // of the buffer
    void *host;         // mapping, or NULL
    bool coherent;
};

// Allocates `bytes` (> 0); `foreign` is the host memory for RF_MEMORY_FOREIGN, else NULL. On failure *memory is zero,
// nothing leaks and nothing is logged: callers have a smaller size or another mode to try.
VkResult rf_memory_create(struct rf_device *device, enum rf_memory_kind kind, VkDeviceSize bytes, void *foreign,
                          struct rf_memory *memory);
void rf_memory_destroy(struct rf_device *device, struct rf_memory *memory);

// Make host writes visible to the device, and device writes to the host, for a range in bytes (widened to whole atoms).
// Nothing happens for coherent or unmapped memory.
VkResult rf_memory_flush(struct rf_device *device, const struct rf_memory *memory, VkDeviceSize offset,
                         VkDeviceSize bytes);
VkResult rf_memory_invalidate(struct rf_device *device, const struct rf_memory *memory, VkDeviceSize offset,
                              VkDeviceSize bytes);
