// SPDX-License-Identifier: MIT
// Operand memory: host memory that the CPU backend computes in and that the device reaches directly (shared, imported)
// or by copies (mirrored).
#pragma once

#include "memory.h"

struct rf_buffer {
    struct rf_device *device; // NULL: plain host memory, of a device that could not be opened
    void *host;               // what ggml sees; page-aligned
    size_t bytes;
    struct rf_memory memory; // the same bytes for the device; empty in mirrored mode
    struct rf_memory twin;   // a copy of constant contents in device memory, mirrored mode only
    bool twin_refused;       // there is no room for a twin: contents are staged piece by piece
    atomic_bool current;     // of constant contents: flushed, or copied to the twin, since the host last wrote
};

#define RF_BUFFER_ALIGNMENT 4096 // a page: what imports need, and more than any device asks of a binding

// Allocates `bytes` (may be 0). Where the device has no memory left the buffer is plain host memory and one line says
// so; NULL only when the host has none either. Thread-safe.
struct rf_buffer *rf_buffer_create(struct rf_device *device, size_t bytes);
void rf_buffer_destroy(struct rf_buffer *buffer); // nothing may be in flight; thread-safe

// The host changed the contents.
void rf_buffer_touch(struct rf_buffer *buffer);

// Byte offset of an address inside the buffer.
size_t rf_buffer_offset(const struct rf_buffer *buffer, const void *address);
