// SPDX-License-Identifier: MIT
// Decides by memory that neither CPU nor GPU ever touched; right: by some that the CPU wrote.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "buffers.glsl"

void main() {
    uint i = gl_LocalInvocationID.x;
#ifdef RIGHT
    uint value = a[i];
#else
    uint value = untouched[100000 + i];
#endif
    if (value == 7)
        c[i + 64 * gl_WorkGroupID.x] = 1;
}
