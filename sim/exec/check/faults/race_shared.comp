// SPDX-License-Identifier: MIT
// A value goes from one thread to another of a different warp through workgroup memory; right: with a barrier between.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "buffers.glsl"
shared uint kept[64];

void main() {
    uint i = gl_LocalInvocationID.x;
    kept[i] = 0;
    barrier();
    kept[i] = a[i] + gl_WorkGroupID.x;
#ifdef RIGHT
    barrier();
#else
    if (gl_NumWorkGroups.y == 77) // never; and so that the compiler does not forward the value
        barrier();
#endif
    c[i + 64 * gl_WorkGroupID.x] = kept[63 - i];
}
