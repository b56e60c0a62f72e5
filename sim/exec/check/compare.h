// SPDX-License-Identifier: MIT
// One comparison of two values as the instructions make it.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct mx_comparison {
    uint8_t bits; // 8, 16 or 32
    bool is_float, is_signed;
    uint64_t condition; // as in the instruction word: 0 eq, 1 gt, 2 ge, 3 ne, 4 lt, 5 le, 6 gt or lt, 7 total order
};

bool mx_compare(const struct mx_comparison *comparison, uint32_t a, uint32_t b);

// A NaN among 32-bit, or (bits is 16) half floats.
bool mx_is_nan(uint32_t value, unsigned bits);
