// SPDX-License-Identifier: MIT
// Weight formats as data: how many weights a block holds, its size, and what an int8 panel needs besides the integers.
// Pure: no Vulkan, no ggml. Names are ggml's, so that the border maps a type by its name.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum rf_format {
    RF_FORMAT_F32,
    RF_FORMAT_F16,
    RF_FORMAT_BF16,
    RF_FORMAT_Q4_0,
    RF_FORMAT_Q4_1,
    RF_FORMAT_Q5_0,
    RF_FORMAT_Q5_1,
    RF_FORMAT_Q8_0,
    RF_FORMAT_Q2_K,
    RF_FORMAT_Q3_K,
    RF_FORMAT_Q4_K,
    RF_FORMAT_Q5_K,
    RF_FORMAT_Q6_K,
    RF_FORMAT_IQ4_NL,
    RF_FORMAT_IQ4_XS,
    RF_FORMAT_MXFP4,
    RF_FORMAT_COUNT
};

struct rf_format_info {
    const char *name;     // ggml_type_name()
    uint32_t block_elems; // weights a block
    uint32_t block_bytes; // bytes a block
    uint32_t granules;    // scales per 32 weights of an int8 panel: 1 or 2 (Q2_K, Q3_K and Q6_K scale 16 weights)
    bool has_min;         // weight = scale * q - min
    bool is_float;        // no integers: F32, F16, BF16
};

const struct rf_format_info *rf_format_info(enum rf_format format);

// RF_FORMAT_COUNT when the name is none of ours.
enum rf_format rf_format_by_name(const char *name);
