// SPDX-License-Identifier: MIT
#include "format.h"

#include <string.h>

// Block layouts: the published GGUF formats (ggml's type traits); the unpacking shaders spell them out.
static const struct rf_format_info formats[RF_FORMAT_COUNT] = {
    [RF_FORMAT_F32] = {"f32", 1, 4, 1, false, true},
    [RF_FORMAT_F16] = {"f16", 1, 2, 1, false, true},
    [RF_FORMAT_BF16] = {"bf16", 1, 2, 1, false, true},
    [RF_FORMAT_Q4_0] = {"q4_0", 32, 18, 1, false, false},
    [RF_FORMAT_Q4_1] = {"q4_1", 32, 20, 1, true, false},
    [RF_FORMAT_Q5_0] = {"q5_0", 32, 22, 1, false, false},
    [RF_FORMAT_Q5_1] = {"q5_1", 32, 24, 1, true, false},
    [RF_FORMAT_Q8_0] = {"q8_0", 32, 34, 1, false, false},
    [RF_FORMAT_Q2_K] = {"q2_K", 256, 84, 2, true, false},
    [RF_FORMAT_Q3_K] = {"q3_K", 256, 110, 2, false, false},
    [RF_FORMAT_Q4_K] = {"q4_K", 256, 144, 1, true, false},
    [RF_FORMAT_Q5_K] = {"q5_K", 256, 176, 1, true, false},
    [RF_FORMAT_Q6_K] = {"q6_K", 256, 210, 2, false, false},
    [RF_FORMAT_IQ4_NL] = {"iq4_nl", 32, 18, 1, false, false},
    [RF_FORMAT_IQ4_XS] = {"iq4_xs", 256, 136, 1, false, false},
    [RF_FORMAT_MXFP4] = {"mxfp4", 32, 17, 1, false, false},
};

const struct rf_format_info *rf_format_info(enum rf_format format) {
    return &formats[format];
}

enum rf_format rf_format_by_name(const char *name) {
    for (int i = 0; i < RF_FORMAT_COUNT; i++)
        if (strcmp(formats[i].name, name) == 0)
            return (enum rf_format)i;
    return RF_FORMAT_COUNT;
}
