// SPDX-License-Identifier: MIT
// A GPU address space: which host memory stands behind which GPU addresses. Changed by one thread while no job runs
// in it (the caller sees to that); looked up by any number of threads meanwhile.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mx_memory;

// A stretch of GPU addresses with contiguous host memory behind it. Valid until the next change of the address space.
struct mx_region {
    uint64_t begin, end; // GPU addresses
    uint8_t *host;       // what stands behind `begin`
    bool read_only;      // to the GPU: code
    bool executable;
    uint32_t object; // the buffer object's handle, 0: none
};

struct mx_memory *mx_memory_new(void); // NULL: no memory
void mx_memory_free(struct mx_memory *memory);

// Replaces whatever was there. False: no memory, nothing has changed.
bool mx_memory_map(struct mx_memory *memory, const struct mx_region *region);
bool mx_memory_unmap(struct mx_memory *memory, uint64_t begin, uint64_t size_bytes); // splits what it cuts

// NULL when the address is not mapped.
const struct mx_region *mx_memory_find(const struct mx_memory *memory, uint64_t address);

// The first region that ends above the address: all of them, from 0 on, each from the last one's end. NULL: no more.
const struct mx_region *mx_memory_next(const struct mx_memory *memory, uint64_t address);

// The host memory behind all size_bytes from the address on; NULL unless all of it is mapped, and contiguous here.
void *mx_memory_at(const struct mx_memory *memory, uint64_t address, uint64_t size_bytes);
