// SPDX-License-Identifier: MIT
// Two lanes of one store have one address and different values; right: each its own.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "buffers.glsl"

void main() {
    uint i = gl_LocalInvocationID.x;
#ifdef RIGHT
    c[i + 64 * gl_WorkGroupID.x] = i;
#else
    c[i / 2 + 64 * gl_WorkGroupID.x] = i;
#endif
}
