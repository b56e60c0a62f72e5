// SPDX-License-Identifier: MIT
// GPU address spaces: which part of which buffer object is mapped where. The lock is held around every call.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ioctl.h"
#include "peak.h"

ps_ioctl_handler ps_vm_create, ps_vm_destroy, ps_vm_bind, ps_vm_get_state;

bool ps_vm_exists(uint32_t id);

// The fullest moment of any address space so far.
const struct ps_peak *ps_vm_peak(void);

struct ps_vm_stats {
    // The fullest moment again, but of objects that the CPU never maps (NO_MMAP) only. Of what Mesa's driver has below
    // 4 GiB those are the spill stacks and the workgroup memory, and 1 MiB more. Its version 25.0 has everything there.
    uint64_t scratch_peak_bytes;
    uint64_t mapped_bytes, mapped_peak_bytes; // of all addresses
    uint64_t binds;                           // calls of VM_BIND
    uint64_t maps, unmaps;                    // operations in them
};
const struct ps_vm_stats *ps_vm_stats(void);
