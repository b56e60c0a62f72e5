// SPDX-License-Identifier: MIT
#include "range.h"

#include <string.h>

#define DESCRIPTOR_BYTES 32
#define TYPE_BUFFER 9
#define TABLE_ADDRESS_MASK ((UINT64_C(1) << 56) - 1)

// The descriptor's buffer; false: there is none. The layout: resource tables hold {address, bytes}, 16 bytes each; a
// buffer's descriptor is {type, bytes, address, ...}. Entry numbers stand in a handle's low 24 bits, the table above.
static bool buffer_find(const struct mx_job *job, uint32_t handle, uint64_t *begin, uint64_t *end) {
    uint32_t table = handle >> 24, index = handle & 0xffffff;
    if (job->resources == 0 || table >= job->resource_count)
        return false;
    const uint64_t *entry = mx_memory_at(job->memory, job->resources + UINT64_C(16) * table, 16);
    uint64_t offset = (uint64_t)DESCRIPTOR_BYTES * index;
    if (entry == NULL || offset + DESCRIPTOR_BYTES > (uint32_t)entry[1])
        return false;
    const uint32_t *words = mx_memory_at(job->memory, (entry[0] & TABLE_ADDRESS_MASK) + offset, DESCRIPTOR_BYTES);
    if (words == NULL || (words[0] & 0xf) != TYPE_BUFFER)
        return false;
    memcpy(begin, words + 2, sizeof *begin);
    *end = *begin + words[1];
    return true;
}

uint16_t mx_range_of(struct mx_ranges *ranges, const struct mx_job *job, uint32_t handle) {
    for (uint32_t i = 0; i < ranges->count; i++)
        if (ranges->buffers[i].handle == handle)
            return (uint16_t)(MX_RANGE_BUFFER_FIRST + i);
    uint64_t begin, end;
    if (ranges->count == MX_RANGE_MAX - MX_RANGE_BUFFER_FIRST || !buffer_find(job, handle, &begin, &end))
        return MX_RANGE_NONE;
    ranges->buffers[ranges->count].handle = handle;
    ranges->buffers[ranges->count].begin = begin;
    ranges->buffers[ranges->count].end = end;
    return (uint16_t)(MX_RANGE_BUFFER_FIRST + ranges->count++);
}

bool mx_range_leaves(const struct mx_ranges *ranges, const struct mx_workgroup *group, uint16_t range, uint32_t thread,
                     uint64_t address, uint32_t bytes) {
    uint64_t begin, end;
    if (range == MX_RANGE_NONE)
        return false;
    if (range == MX_RANGE_STACK) {
        begin = group->stack_base + thread * group->job->stack_bytes;
        end = begin + group->job->stack_bytes;
    } else if (range == MX_RANGE_SHARED) {
        begin = group->shared_base;
        end = begin + group->job->shared_bytes;
    } else {
        begin = ranges->buffers[range - MX_RANGE_BUFFER_FIRST].begin;
        end = ranges->buffers[range - MX_RANGE_BUFFER_FIRST].end;
    }
    return address < begin || address >= end || bytes > end - address;
}

uint16_t mx_range_find(const struct mx_workgroup *group, uint64_t address) {
    const struct mx_job *job = group->job;
    if (address - group->shared_base < job->shared_bytes)
        return MX_RANGE_SHARED;
    uint64_t stack_bytes = job->stack_bytes * MX_LANES * group->warp_count;
    return address - group->stack_base < stack_bytes ? MX_RANGE_STACK : MX_RANGE_NONE;
}
