// SPDX-License-Identifier: MIT
// Push constants (fixed and computed index), uniform buffers (the same), specialisation constants.
#version 460
#extension GL_GOOGLE_include_directive : require
#define WORDS 8
#include "proof.glsl"

layout(push_constant, scalar) uniform Push {
    uint words[16];
    uvec4 wide[2];
    uint16_t halves[4];
    uint8_t bytes[8];
};
layout(set = 0, binding = 2, scalar) uniform Block {
    uint block_words[64];
    uvec4 block_wide[16];
    uint16_t block_halves[64];
};
layout(constant_id = 3) const uint factor = 5;
layout(constant_id = 4) const bool negate = false;
layout(constant_id = 5) const float scale = 1.0;

void main() {
    uint x = a[thread() % 512];
    put(0, words[3] + words[15] * x);
    put(1, words[x & 15] ^ wide[(x >> 4) & 1].z);
    put(2, uint(halves[(x >> 5) & 3]) + uint(bytes[(x >> 7) & 7]) * 65536);
    put(3, block_words[5] ^ block_words[x & 63]);
    uvec4 w = block_wide[(x >> 6) & 15] + block_wide[2];
    put(4, w.x ^ w.y * 3 ^ w.z * 5 ^ w.w * 7);
    put(5, uint(block_halves[x >> 26]) * factor);
    put(6, negate ? ~x : x);
    put(7, floatBitsToUint(scale * float(x & 0xffff)));
}
