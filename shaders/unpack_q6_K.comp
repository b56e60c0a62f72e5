#version 450
// SPDX-License-Identifier: MIT
// Q6_K: 256 weights in 210 bytes: 128 bytes of low nibbles, 64 bytes of high bit pairs, 16 signed scales, f16 d.
// Weight = d * scale * (q - 32); a scale for each 16 weights.
#extension GL_GOOGLE_include_directive : require
#include "unpack.glsl"

uint rf_q(uint base, uint block, uint word) {
    uint super = base + (block >> 3) * 210, part = block & 3u, upper = block >> 2 & 1u;
    uint low = rf_u32(super + upper * 64 + (part & 1u) * 32 + 4 * word) >> (4 * (part >> 1)) & 0x0F0F0F0Fu;
    uint high = rf_u32(super + 128 + upper * 32 + 4 * word) >> (2 * part) & 0x03030303u;
    return rf_sub4(low | high << 4, 32);
}

float rf_scale(uint base, uint block, uint granule) {
    uint super = base + (block >> 3) * 210;
    int scale = bitfieldExtract(int(rf_u8(super + 192 + 2 * (block & 7u) + granule)), 0, 8);
    return rf_f16(super + 208) * float(scale);
}

float rf_min(uint base, uint block, uint granule) {
    return 0.0;
}

#include "unpack_main.glsl"
