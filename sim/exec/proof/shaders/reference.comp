// SPDX-License-Identifier: MIT
// Buffers that are reached through addresses: a struct behind a pointer, arrays with 64-bit indices, a list to follow.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_buffer_reference_uvec2 : require
#define WORDS 4
#include "proof.glsl"

layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer Words { uint v[]; };
layout(buffer_reference, scalar, buffer_reference_align = 16) buffer Wide { uvec4 v[]; };
layout(buffer_reference, scalar, buffer_reference_align = 2) buffer Halves { uint16_t v; };
layout(push_constant, scalar) uniform Push {
    Words words;
    Wide wide;
};

void main() {
    uint t = thread(), x = a[t % 512];
    put(0, words.v[x % 512]);
    uint k = x % 512;
    for (uint i = 0; i < (x & 7); i++)
        k = words.v[k] % 512;
    put(1, k);
    wide.v[t] = uvec4(x, k, t, words.v[t % 512]);
    put(2, uint(Halves(uint64_t(words) + 2 * uint64_t(x % 1024)).v));
    Words later = Words(uint64_t(words) + 4 * uint64_t(x % 256));
    put(3, later.v[3] + later.v[x % 64]);
}
