// SPDX-License-Identifier: MIT
// Reads workgroup memory that nobody wrote; right: that the thread itself has written.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "buffers.glsl"
shared uint kept[64];

void main() {
    uint i = gl_LocalInvocationID.x;
#ifdef RIGHT
    kept[i] = a[i];
#endif
    if (kept[i] == 7)
        c[i + 64 * gl_WorkGroupID.x] = 1;
}
