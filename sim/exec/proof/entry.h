// SPDX-License-Identifier: MIT
// One line of mx-shade's list: a dispatch with all that it reads and writes.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ENTRY_BUFFERS_MAX = 16, ENTRY_SPEC_MAX = 16, ENTRY_SETS_MAX = 4, ENTRY_PUSH_MAX = 128 };

enum entry_buffer_kind {
    ENTRY_STORAGE,
    ENTRY_UNIFORM,
    ENTRY_NULL,    // a storage buffer's binding with nothing bound
    ENTRY_ADDRESS, // reached through its address, which stands in the push constants
};

struct entry_buffer {
    enum entry_buffer_kind kind;
    uint32_t set, binding; // ENTRY_ADDRESS: binding is the byte in the push constants
    uint32_t bytes;        // what the shader may reach: the descriptor's range
    const char *in, *out;  // files; NULL: zeros; not kept
};

struct entry {
    const char *name, *kernel;
    uint32_t grid[3], base[3]; // workgroups
    bool indirect;             // the grid is read by the GPU
    bool robust;               // robustBufferAccess
    const char *push;          // file; NULL: zeros
    uint32_t push_bytes;
    uint32_t spec_id[ENTRY_SPEC_MAX], spec[ENTRY_SPEC_MAX], spec_count;
    struct entry_buffer buffers[ENTRY_BUFFERS_MAX];
    uint32_t buffer_count;
};

// Takes a line apart, which is changed and has to live as long as the entry. False: *bad is the word that cannot be
// taken.
bool entry_parse(char *line, struct entry *entry, const char **bad);
