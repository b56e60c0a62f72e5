#version 450
// SPDX-License-Identifier: MIT
// IQ4_NL: 32 weights in 18 bytes: f16 d, 16 bytes of codes; weight = d * table[code].
#extension GL_GOOGLE_include_directive : require
#include "unpack.glsl"

// -127 -104 -83 -65 -49 -35 -22 -10 1 13 25 38 53 69 89 113 (the IQ4 formats' definition)
#define RF_CODES0 0xBFAD9881u
#define RF_CODES1 0xF6EADDCFu
#define RF_CODES2 0x26190D01u
#define RF_CODES3 0x71594535u
#include "codebook.glsl"

uint rf_q(uint base, uint block, uint word) {
    return rf_codes4(rf_u32(base + block * 18 + 2 + 4 * (word & 3u)) >> (word < 4 ? 0 : 4));
}

float rf_scale(uint base, uint block, uint granule) {
    return rf_f16(base + block * 18);
}

float rf_min(uint base, uint block, uint granule) {
    return 0.0;
}

#include "unpack_main.glsl"
