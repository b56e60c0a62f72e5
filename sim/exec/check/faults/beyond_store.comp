// SPDX-License-Identifier: MIT
// The last workgroup stores beyond the buffer's end; right: none does.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "buffers.glsl"

void main() {
    uint i = gl_LocalInvocationID.x + 64 * gl_WorkGroupID.x;
#ifdef RIGHT
    c[i] = i;
#else
    c[i + 1] = i;
#endif
}
