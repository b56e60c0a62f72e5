// SPDX-License-Identifier: MIT
// Private arrays with an index that is only known at run time, of 8, 16, 32, 64 and 128 bits.
#version 460
#extension GL_GOOGLE_include_directive : require
#define WORDS 6
#include "proof.glsl"

void main() {
    uint x = a[thread() % 512];
    uint words[16];
    uint8_t bytes[16];
    uint16_t halves[16];
    uint64_t longs[8];
    uvec4 wide[8];
    for (uint i = 0; i < 16; i++) {
        words[i] = x * (i + 1);
        bytes[i] = uint8_t(x >> i);
        halves[i] = uint16_t(x >> i) ^ uint16_t(i * 257);
        longs[i / 2] = uint64_t(x) << i;
        wide[i / 2] = uvec4(x, i, x + i, x ^ i);
    }
    for (uint i = 0; i < (x & 15); i++) {
        uint k = (x >> i) & 15;
        words[k] += words[(k + 1) & 15];
        bytes[k] = uint8_t(bytes[k ^ 1] + uint8_t(3));
        halves[k] ^= halves[15 - k];
        longs[k & 7] += longs[(k + 3) & 7];
        wide[k & 7].yz += wide[(k + 5) & 7].wx;
    }
    uint y = (x >> 7) & 15;
    put(0, words[y]);
    put(1, uint(bytes[y]));
    put(2, uint(halves[y]));
    put(3, uint(longs[y & 7] ^ (longs[y & 7] >> 32)));
    put(4, wide[y & 7].x + wide[y & 7].y * 3 + wide[y & 7].z * 5 + wide[y & 7].w * 7);
    uint sum = 0;
    for (uint i = 0; i < 16; i++)
        sum = sum * 31 + words[i] + uint(halves[i]);
    put(5, sum);
}
