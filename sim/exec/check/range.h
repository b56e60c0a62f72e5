// SPDX-License-Identifier: MIT
// Where a pointer may point: the buffer of a handle, a thread's stack, workgroup memory. A pointer's provenance is
// carried with the register that holds it as the number of its range.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "../observer.h"

enum { MX_RANGE_NONE, MX_RANGE_STACK, MX_RANGE_SHARED, MX_RANGE_BUFFER_FIRST, MX_RANGE_MAX = 1024 };

// The buffers that one worker's workgroups of one job have named. Starts as zeros, anew for each job.
struct mx_ranges {
    uint32_t count;
    struct {
        uint32_t handle;
        uint64_t begin, end;
    } buffers[MX_RANGE_MAX - MX_RANGE_BUFFER_FIRST];
};

// The number of a handle's buffer; MX_RANGE_NONE when the descriptor is none of a buffer, or the table is full.
uint16_t mx_range_of(struct mx_ranges *ranges, const struct mx_job *job, uint32_t handle);

// Whether [address, address + bytes) leaves the range. `thread`: linear in the workgroup, for the stack.
bool mx_range_leaves(const struct mx_ranges *ranges, const struct mx_workgroup *group, uint16_t range, uint32_t thread,
                     uint64_t address, uint32_t bytes);

// The range that an address without provenance lies in: a stack or workgroup memory; else MX_RANGE_NONE.
uint16_t mx_range_find(const struct mx_workgroup *group, uint64_t address);
