// SPDX-License-Identifier: MIT
// Indices beyond a buffer's end, with robustBufferAccess: loads give 0, stores and atomics vanish; a binding with
// nothing bound reads as 0.
#version 460
#extension GL_GOOGLE_include_directive : require
#define WORDS 6
#include "proof.glsl"

layout(set = 0, binding = 2, scalar) buffer Small {
    uint small[];
};
layout(set = 0, binding = 3, scalar) readonly buffer Absent {
    uint absent[];
};
layout(set = 0, binding = 4, scalar) readonly buffer Bytes {
    uint8_t bytes[];
};

void main() {
    uint t = thread(), x = a[t % 512];
    put(0, t % 3 == 0 ? small[t % 40] : small[60 + t * 5]);
    put(1, absent[x & 15]);
    put(2, small.length());
    put(3, t % 2 == 0 ? uint(bytes[t % 32]) : uint(bytes[64 + t]));
    if (t >= 48)
        small[t] = x;
    put(4, t >= 56 ? atomicAdd(small[64 + t * 4], 1) : 0);
    put(5, small[0x20000000 + (t & 15)]);
}
