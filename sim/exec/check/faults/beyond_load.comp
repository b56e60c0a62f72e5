// SPDX-License-Identifier: MIT
// Loads beyond the buffer's end, within its page: zeros. Right: the last elements.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "buffers.glsl"

void main() {
    uint i = gl_LocalInvocationID.x;
#ifdef RIGHT
    uint first = 448;
#else
    uint first = 449;
#endif
    c[i + 64 * gl_WorkGroupID.x] = a[first + i];
}
