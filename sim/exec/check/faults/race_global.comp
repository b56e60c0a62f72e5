// SPDX-License-Identifier: MIT
// Workgroups read what others write; right: each its own.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "buffers.glsl"

void main() {
    uint own = gl_WorkGroupID.x;
    if (gl_LocalInvocationID.x > 0)
        return;
#ifdef RIGHT
    uint from = own;
#else
    uint from = 63 - own;
#endif
    c[own] = c[from] + 1000 * (own + 1);
}
