// SPDX-License-Identifier: MIT
// What the addresses below 4 GiB of the fullest address space held when they held most. Mesa's driver keeps its scratch
// memory (spill stacks, workgroup memory) there. Allocates nothing, so that it works in a signal handler.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "bo.h"

#define PS_PEAK_LOW_END (UINT64_C(1) << 32)
#define PS_PEAK_CLASSES 256

struct ps_peak_mapping {
    uint64_t address, size_bytes;
    uint32_t handle; // 0: sparse
};

struct ps_peak {
    uint64_t bytes;
    uint64_t largest_hole_bytes; // from 32 MiB, below which the driver puts nothing, to 4 GiB
    size_t class_count;          // all mappings of one size are a class; the largest size first
    struct ps_peak_class {
        uint64_t bytes, count;
    } classes[PS_PEAK_CLASSES];
    uint64_t other_bytes;               // in mappings for whose size there was no place
    uint64_t label_bytes[PS_BO_LABELS]; // by the label of the buffer object
};

// The owner (an address space) has so many bytes below 4 GiB now.
void ps_peak_note(const void *owner, uint64_t low_bytes);

// To be called before the owner's list shrinks, and before ps_peak_read: describes the list if it is the fullest ever.
void ps_peak_settle(const void *owner, const struct ps_peak_mapping *list, size_t count);

const struct ps_peak *ps_peak_read(void);
