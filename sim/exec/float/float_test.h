// SPDX-License-Identifier: MIT
// float_test: each function of lanes_float.h beside a reference that does one value at a time, exactly.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "../lanes.h"

// What an operand, and the result, is.
enum layout {
    WORDS,  // 32 bits a lane
    HALVES, // two of 16 bits a lane
    LOW,    // 16 bits in the low half of a lane; the result has 32
};

struct function {
    const char *name;
    enum layout layout;
    unsigned operands; // 1 to 3
    unsigned modes;    // the last argument: 0 to modes - 1
    unsigned ulp;      // that the result may be off
    mx_u32 (*lanes)(mx_u32 a, mx_u32 b, mx_u32 c, unsigned mode);
    uint32_t (*reference)(uint32_t a, uint32_t b, uint32_t c, unsigned mode);
};
extern const struct function functions[]; // ends with one that has no name

uint32_t reference_h2_add(uint32_t a, uint32_t b, uint32_t c, unsigned mode);
