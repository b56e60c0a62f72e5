#version 450
// SPDX-License-Identifier: MIT
// Q2_K: 256 weights in 84 bytes: 16 bytes of 4-bit scales and minimums, 64 bytes of 2-bit weights, f16 d, f16 dmin.
// Weight = d * scale * q - dmin * min; each 16 weights have a scale and a minimum of their own.
#extension GL_GOOGLE_include_directive : require
#include "unpack.glsl"

uint rf_q(uint base, uint block, uint word) {
    uint super = base + (block >> 3) * 84, part = block & 7u;
    return rf_u32(super + 16 + (part >> 2) * 32 + 4 * word) >> (2 * (part & 3u)) & 0x03030303u;
}

uint rf_scale_byte(uint base, uint block, uint granule) {
    return rf_u8(base + (block >> 3) * 84 + 2 * (block & 7u) + granule);
}

float rf_scale(uint base, uint block, uint granule) {
    return rf_f16(base + (block >> 3) * 84 + 80) * float(rf_scale_byte(base, block, granule) & 15u);
}

float rf_min(uint base, uint block, uint granule) {
    return rf_f16(base + (block >> 3) * 84 + 82) * float(rf_scale_byte(base, block, granule) >> 4);
}

#include "unpack_main.glsl"
