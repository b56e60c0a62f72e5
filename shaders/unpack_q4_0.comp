#version 450
// SPDX-License-Identifier: MIT
// Q4_0: 32 weights in 18 bytes: f16 d, 16 bytes of nibbles (low: 0-15, high: 16-31); weight = d * (q - 8).
#extension GL_GOOGLE_include_directive : require
#include "unpack.glsl"

uint rf_q(uint base, uint block, uint word) {
    uint nibbles = rf_u32(base + block * 18 + 2 + 4 * (word & 3u)) >> (word < 4 ? 0 : 4);
    return rf_sub4(nibbles & 0x0F0F0F0Fu, 8);
}

float rf_scale(uint base, uint block, uint granule) {
    return rf_f16(base + block * 18);
}

float rf_min(uint base, uint block, uint granule) {
    return 0.0;
}

#include "unpack_main.glsl"
