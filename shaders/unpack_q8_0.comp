#version 450
// SPDX-License-Identifier: MIT
// Q8_0: 32 weights in 34 bytes: f16 d, 32 signed bytes; weight = d * q.
#extension GL_GOOGLE_include_directive : require
#include "unpack.glsl"

uint rf_q(uint base, uint block, uint word) {
    return rf_u32(base + block * 34 + 2 + 4 * word);
}

float rf_scale(uint base, uint block, uint granule) {
    return rf_f16(base + block * 34);
}

float rf_min(uint base, uint block, uint granule) {
    return 0.0;
}

#include "unpack_main.glsl"
