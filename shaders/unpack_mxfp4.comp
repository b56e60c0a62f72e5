#version 450
// SPDX-License-Identifier: MIT
// MXFP4: 32 weights in 17 bytes: an exponent e, 16 bytes of E2M1 codes; weight = 2^(e - 128) * table[code], the table
// holding twice the E2M1 values so that they are whole numbers.
#extension GL_GOOGLE_include_directive : require
#include "unpack.glsl"

// 0 1 2 3 4 6 8 12 and their negatives
#define RF_CODES0 0x03020100u
#define RF_CODES1 0x0C080604u
#define RF_CODES2 0xFDFEFF00u
#define RF_CODES3 0xF4F8FAFCu
#include "codebook.glsl"

// The block's size is odd: byte loads.
uint rf_q(uint base, uint block, uint word) {
    uint at = base + block * 17 + 1 + 4 * (word & 3u);
    uint codes = uint(source8[at]) | uint(source8[at + 1]) << 8 | uint(source8[at + 2]) << 16 | uint(source8[at + 3]) << 24;
    return rf_codes4(codes >> (word < 4 ? 0 : 4));
}

// 2^(e - 128): a normal float from e = 2 on, the two smallest ones are subnormal.
float rf_scale(uint base, uint block, uint granule) {
    uint e = uint(source8[base + block * 17]);
    return uintBitsToFloat(e < 2 ? 0x00200000u << e : (e - 1) << 23);
}

float rf_min(uint base, uint block, uint granule) {
    return 0.0;
}

#include "unpack_main.glsl"
