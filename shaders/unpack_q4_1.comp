#version 450
// SPDX-License-Identifier: MIT
// Q4_1: 32 weights in 20 bytes: f16 d, f16 m, 16 bytes of nibbles; weight = d * q + m.
#extension GL_GOOGLE_include_directive : require
#include "unpack.glsl"

uint rf_q(uint base, uint block, uint word) {
    return rf_u32(base + block * 20 + 4 + 4 * (word & 3u)) >> (word < 4 ? 0 : 4) & 0x0F0F0F0Fu;
}

float rf_scale(uint base, uint block, uint granule) {
    return rf_f16(base + block * 20);
}

float rf_min(uint base, uint block, uint granule) {
    return -rf_f16(base + block * 20 + 2);
}

#include "unpack_main.glsl"
