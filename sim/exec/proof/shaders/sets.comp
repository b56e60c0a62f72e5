// SPDX-License-Identifier: MIT
// Four descriptor sets, bindings with gaps, an array of the same kind in different sets.
#version 460
#extension GL_GOOGLE_include_directive : require
#define WORDS 3
#include "proof.glsl"

layout(set = 1, binding = 0, scalar) readonly buffer B10 { uint b10[]; };
layout(set = 1, binding = 3, scalar) readonly buffer B13 { uint b13[]; };
layout(set = 2, binding = 5, scalar) uniform B25 { uint b25[16]; };
layout(set = 3, binding = 1, scalar) buffer B31 { uint b31[]; };

void main() {
    uint t = thread(), x = a[t % 512];
    put(0, b10[x % 64] + b13[x % 32]);
    put(1, b25[x & 15] ^ b25[4]);
    b31[t] = b10[t % 64] * x;
    put(2, x);
}
