// SPDX-License-Identifier: MIT
#pragma once

// What the measurement files and the programs need to know about this computer. Reads /proc and /sys; no ggml, no
// Vulkan. All functions may be called from any thread.

#include <stdbool.h>
#include <stddef.h>

// Writes the processor's name, or the board's where the kernel gives no processor name (most ARM boards), into
// `name` (cut to `size` bytes, always ended by a zero).
void rf_host_cpu_name(char *name, size_t size);

// Processors that this process may run on.
int rf_host_cores_count(void);

// Threads for ggml's CPU backend: the processors we may run on, less the small ones of a big.LITTLE chip. ggml splits
// each product evenly and its threads wait busily for the slowest, so a small core slows the big ones down.
int rf_host_threads_default(void);

// Physical memory in MiB; 0 when unknown.
long rf_host_memory_mib(void);
