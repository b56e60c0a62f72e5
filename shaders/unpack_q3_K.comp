#version 450
// SPDX-License-Identifier: MIT
// Q3_K: 256 weights in 110 bytes: 32 bytes of third bits, 64 bytes of 2-bit weights, 12 bytes of 6-bit scales, f16 d.
// Weight = d * (scale - 32) * q with q in -4..3 (the third bit clear means minus 4); a scale for each 16 weights.
#extension GL_GOOGLE_include_directive : require
#include "unpack.glsl"

uint rf_q(uint base, uint block, uint word) {
    uint super = base + (block >> 3) * 110, part = block & 7u;
    uint low = rf_u32(super + 32 + (part >> 2) * 32 + 4 * word) >> (2 * (part & 3u)) & 0x03030303u;
    uint third = rf_u32(super + 4 * word) >> part & 0x01010101u;
    return rf_sub4(low | third << 2, 4);
}

float rf_scale(uint base, uint block, uint granule) {
    uint super = base + (block >> 3) * 110;
    uint index = 2 * (block & 7u) + granule;
    uint low = rf_u8(super + 96 + (index & 7u)) >> (index < 8 ? 0 : 4) & 15u;
    uint high = rf_u8(super + 104 + (index & 3u)) >> (2 * (index >> 2)) & 3u;
    return rf_f16(super + 108) * float(int(low | high << 4) - 32);
}

float rf_min(uint base, uint block, uint granule) {
    return 0.0;
}

#include "unpack_main.glsl"
