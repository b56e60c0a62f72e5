// SPDX-License-Identifier: MIT
// Memory that the CPU maps cached and non-coherent, as on the chip: the CPU's view is the memory file, the GPU has a
// copy of its own, and lines of 64 bytes pass from one to the other only when the CPU's cache is maintained. The worst
// case of what a cache may do: nothing is written back or fetched anew by itself, so that a forgotten flush always
// shows.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct mx_coherent;

// `base`: where all of the memory file `fd` is mapped. NULL: no memory.
struct mx_coherent *mx_coherent_new(int fd, uint8_t *base);
void mx_coherent_free(struct mx_coherent *coherent);

// A new cached object: [offset, offset + size) of the file; all of it is zero to both. False: no memory. Calls come
// from one thread at a time; jobs may run meanwhile in other objects.
bool mx_coherent_add(struct mx_coherent *coherent, uint32_t object, uint64_t file_offset, uint64_t size_bytes);
void mx_coherent_remove(struct mx_coherent *coherent, uint32_t object); // does nothing when it is not there

// Where the GPU sees that byte of the file; NULL: it is not of this object, or the object is not here, so the GPU sees
// the file. Valid until the object is removed.
uint8_t *mx_coherent_host(const struct mx_coherent *coherent, uint32_t object, uint64_t file_offset);

// The lines that the range touches are cleaned: what the CPU changed since it last saw or wrote the line goes to the
// GPU's copy. With `invalidate` the CPU then sees the GPU's; in a line that both changed the CPU's wins, as a dirty
// line that is written back. False: there is no such object, or the range leaves it.
bool mx_coherent_sync(struct mx_coherent *coherent, uint32_t object, uint64_t offset_bytes, uint64_t size_bytes,
                      bool invalidate);

struct mx_coherent_stats {
    uint64_t objects, syncs;
    uint64_t to_gpu_lines, to_cpu_lines; // that differed
};
const struct mx_coherent_stats *mx_coherent_stats(const struct mx_coherent *coherent);
