#version 450
// SPDX-License-Identifier: MIT
// Q5_K: 256 weights in 176 bytes: f16 d, f16 dmin, 12 bytes of 6-bit scales and minimums, 32 bytes of fifth bits, 128
// bytes of nibbles.
// Weight = d * scale * q - dmin * min for each 32 weights.
#extension GL_GOOGLE_include_directive : require
#include "unpack.glsl"

#define RF_SUPER_BYTES 176
#include "scale_min.glsl"

uint rf_q(uint base, uint block, uint word) {
    uint super = base + (block >> 3) * 176, part = block & 7u;
    uint low = rf_u32(super + 48 + (part >> 1) * 32 + 4 * word) >> (4 * (part & 1u)) & 0x0F0F0F0Fu;
    return low | (rf_u32(super + 16 + 4 * word) >> part & 0x01010101u) << 4;
}

#include "unpack_main.glsl"
