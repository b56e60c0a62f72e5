#version 450
// SPDX-License-Identifier: MIT
// Q4_K: 256 weights in 144 bytes: f16 d, f16 dmin, 12 bytes of 6-bit scales and minimums, 128 bytes of nibbles.
// Weight = d * scale * q - dmin * min for each 32 weights.
#extension GL_GOOGLE_include_directive : require
#include "unpack.glsl"

#define RF_SUPER_BYTES 144
#include "scale_min.glsl"

uint rf_q(uint base, uint block, uint word) {
    uint super = base + (block >> 3) * 144, part = block & 7u;
    return rf_u32(super + 16 + (part >> 1) * 32 + 4 * word) >> (4 * (part & 1u)) & 0x0F0F0F0Fu;
}

#include "unpack_main.glsl"
