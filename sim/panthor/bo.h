// SPDX-License-Identifier: MIT
// Buffer objects: slices of one sparse memory file. An object lives while it has a handle or is mapped in an address
// space. The lock is held around every call.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ioctl.h"

#define PS_BO_PAGE_BYTES UINT64_C(4096)
#define PS_BO_LABELS 256 // different ones; more share a place

ps_ioctl_handler ps_bo_create, ps_bo_close, ps_bo_prime, ps_bo_mmap_offset, ps_bo_set_label, ps_bo_sync,
    ps_bo_query_info;

// Whether size_bytes from offset_bytes on can be mapped as a part of the object with this handle into the address space
// vm_id. 0 or -errno.
int ps_bo_check_range(uint32_t handle, uint32_t vm_id, uint64_t offset_bytes, uint64_t size_bytes);

uint64_t ps_bo_file_offset(uint32_t handle); // of a mapped object: where it begins in the memory file
bool ps_bo_is_hidden(uint32_t handle);       // made with NO_MMAP; handle: of a mapped object

// One more mapping, one less. An object without a handle goes with its last mapping.
void ps_bo_map(uint32_t handle);
void ps_bo_unmap(uint32_t handle);

// Whether this part of the memory file belongs to one object that may be mapped by the CPU.
bool ps_bo_owns_file_range(uint64_t offset_bytes, uint64_t size_bytes);

// The driver cleaned (and invalidated) the CPU's cache lines of that part of the memory file itself.
void ps_bo_flush(uint64_t file_offset, uint64_t size_bytes, bool invalidate);

struct ps_bo_stats {
    uint64_t bytes, bytes_peak, count, count_peak, created, largest_bytes;
    uint64_t pinned_bytes, pinned_peak_bytes; // of objects with mappings: their pages cannot be moved or swapped
};
const struct ps_bo_stats *ps_bo_stats(void);

// What the objects of one label have together. Valid index: below ps_bo_label_count().
struct ps_bo_label {
    char text[64];
    uint64_t bytes, peak_bytes, count, count_peak;
};
size_t ps_bo_label_count(void);
const struct ps_bo_label *ps_bo_label(size_t index);
size_t ps_bo_label_of(uint32_t handle);
