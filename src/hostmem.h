// SPDX-License-Identifier: MIT
// What the host has left.
#pragma once

#include <stdint.h>

// Bytes that can be allocated without swapping, as the kernel estimates it (MemAvailable in /proc/meminfo: free memory
// and reclaimable caches). UINT64_MAX where it does not say. A control group's limit is not looked at.
uint64_t rf_hostmem_available(void);
