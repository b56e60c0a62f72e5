// SPDX-License-Identifier: MIT
// Which pages of the simulated memory file somebody has ever written. A page that nobody, CPU or GPU, ever touched is a
// hole of the file; the first look through a mapping fills it with zeros, so it has to be asked before. What was a hole
// counts as one until the job ends or the GPU writes there; after the job nobody can tell whether the CPU has written.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct mx_touched;

// fd: the memory file, mapped whole at base. NULL: no memory, or the file cannot be asked for holes.
struct mx_touched *mx_touched_new(int fd, const uint8_t *base, uint64_t size_bytes);
void mx_touched_free(struct mx_touched *touched);

// Whether the host address lies in a page that nobody wrote; false for addresses outside the file. Any thread.
bool mx_touched_is_hole(struct mx_touched *touched, const uint8_t *host);
void mx_touched_written(struct mx_touched *touched, const uint8_t *host); // by the GPU; any thread
void mx_touched_job_end(struct mx_touched *touched);
