// SPDX-License-Identifier: MIT
// A set-associative cache of 64-byte lines that replaces the least recently used one and writes back. It knows which
// lines are there, not what they hold.
//
// The set is chosen by all of the line's bits folded together: stacks and rows of a matrix lie a power of two apart,
// and would all fall into one set otherwise. What the chip does is not published.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define MX_LINE_BYTES 64
#define MX_NO_LINE UINT64_MAX

struct mx_cache {
    uint64_t *entries; // of each set, the most recently used first: line + 1 in bits 1-63, bit 0: dirty; 0: empty
    uint32_t sets, ways;
};

// bytes and ways: powers of two. False: no memory.
bool mx_cache_init(struct mx_cache *cache, uint32_t bytes, uint32_t ways);
void mx_cache_free(struct mx_cache *cache); // one that was zeroed, too

// Looks a line up, and takes it in when it is not there. Returns whether it was. *victim: a dirty line that had to go,
// or MX_NO_LINE. line: below 2^62.
bool mx_cache_touch(struct mx_cache *cache, uint64_t line, bool write, uint64_t *victim);

// Makes one dirty line clean, and returns it; MX_NO_LINE: there is none. *place: 0 at first, then left alone.
uint64_t mx_cache_clean(struct mx_cache *cache, uint32_t *place);
void mx_cache_drop(struct mx_cache *cache); // everything
