#version 450
// SPDX-License-Identifier: MIT
// IQ4_XS: 256 weights in 136 bytes: f16 d, 16 bits and 4 bytes of 6-bit scales, 128 bytes of codes.
// Weight = d * (scale - 32) * table[code] for each 32 weights.
#extension GL_GOOGLE_include_directive : require
#include "unpack.glsl"

// -127 -104 -83 -65 -49 -35 -22 -10 1 13 25 38 53 69 89 113 (the IQ4 formats' definition)
#define RF_CODES0 0xBFAD9881u
#define RF_CODES1 0xF6EADDCFu
#define RF_CODES2 0x26190D01u
#define RF_CODES3 0x71594535u
#include "codebook.glsl"

uint rf_q(uint base, uint block, uint word) {
    uint super = base + (block >> 3) * 136, part = block & 7u;
    return rf_codes4(rf_u32(super + 8 + part * 16 + 4 * (word & 3u)) >> (word < 4 ? 0 : 4));
}

float rf_scale(uint base, uint block, uint granule) {
    uint super = base + (block >> 3) * 136, part = block & 7u;
    uint low = rf_u8(super + 4 + (part >> 1)) >> (4 * (part & 1u)) & 15u;
    uint high = rf_u16(super + 2) >> (2 * part) & 3u;
    return rf_f16(super) * float(int(low | high << 4) - 32);
}

float rf_min(uint base, uint block, uint granule) {
    return 0.0;
}

#include "unpack_main.glsl"
