#version 450
// SPDX-License-Identifier: MIT
// Q5_0: 32 weights in 22 bytes: f16 d, 32 fifth bits, 16 bytes of nibbles; weight = d * (q - 16).
#extension GL_GOOGLE_include_directive : require
#include "unpack.glsl"

uint rf_q(uint base, uint block, uint word) {
    uint nibbles = rf_u32(base + block * 22 + 6 + 4 * (word & 3u)) >> (word < 4 ? 0 : 4) & 0x0F0F0F0Fu;
    uint fifth = rf_spread4(rf_u32(base + block * 22 + 2) >> (4 * word) & 15u);
    return rf_sub4(nibbles | fifth, 16);
}

float rf_scale(uint base, uint block, uint granule) {
    return rf_f16(base + block * 22);
}

float rf_min(uint base, uint block, uint granule) {
    return 0.0;
}

#include "unpack_main.glsl"
