// SPDX-License-Identifier: MIT
// Reads an element of a private array that was not written; right: one that was.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "buffers.glsl"

void main() {
    uint i = gl_LocalInvocationID.x, many[128];
    for (uint k = 0; k < a[11]; k++) // once
        many[(a[i] + 5 * k) & 127] = i;
#ifdef RIGHT
    uint other = many[a[i] & 127];
#else
    uint other = many[(a[i] + 64) & 127];
#endif
    if (other == 7)
        c[i + 64 * gl_WorkGroupID.x] = 1;
}
