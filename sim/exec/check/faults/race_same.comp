// SPDX-License-Identifier: MIT
// All workgroups store the same to one word; right: one of them does.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "buffers.glsl"

void main() {
#ifdef RIGHT
    if (gl_WorkGroupID.x == 0 && gl_LocalInvocationID.x == 0)
        c[0] = 77;
#else
    c[0] = 77;
#endif
}
