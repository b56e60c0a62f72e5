// SPDX-License-Identifier: MIT
// Infinity minus infinity; right: minus one.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "buffers.glsl"

void main() {
    uint i = gl_LocalInvocationID.x;
    float infinity = uintBitsToFloat(0x7f800000 + a[0] - 1); // a[0] is 1
#ifdef RIGHT
    float result = infinity - float(a[i]);
#else
    float result = infinity - infinity * float(a[i]);
#endif
    c[i + 64 * gl_WorkGroupID.x] = floatBitsToUint(result);
}
