// SPDX-License-Identifier: MIT
// A chain of dependent work over a large grid in three dimensions.
#version 460
#extension GL_GOOGLE_include_directive : require
#define WORDS 1
#include "proof.glsl"

void main() {
    uvec3 id = gl_GlobalInvocationID;
    uint x = a[(id.x ^ id.y * 7 ^ id.z * 31) % 512];
    for (uint i = 0; i < 4; i++)
        x = a[(x + i) % 512] ^ (x << 3) ^ (x >> 5);
    put(0, x);
}
