// SPDX-License-Identifier: MIT
// The driver's own cache maintenance. On arm64, Mesa cleans and invalidates the CPU's cache lines with the instructions
// DC CVAC and DC CIVAC in user space, and calls the kernel's BO_SYNC for none of it, so that no system call tells. Each
// instruction stands in one small function of the driver; these two are replaced in memory (not in the file) by calls
// to here. Under an emulator, and on memory that is all the host's, the instructions themselves do nothing.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// With PANTHOR_SIM_FLUSHES=1: looks for a loaded driver and replaces its functions, unless that is done. A driver in
// which they look different is left as it is, and that is said. Not under the lock.
void ps_cache_watch(void);

// The CPU mapped that part of the memory file there.
void ps_cache_mapped(const void *address, size_t bytes, uint64_t file_offset);

struct ps_cache_stats {
    uint64_t cleans, invalidates; // calls
    uint64_t clean_bytes, invalidate_bytes;
};
const struct ps_cache_stats *ps_cache_stats(void);
