// SPDX-License-Identifier: MIT
// C[64][64] = B[64][8] * A[64][8], integers: what field fault 34 was seen on.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "buffers.glsl"

void main() {
    uint m = gl_LocalInvocationID.x, n = gl_WorkGroupID.x, sum = 0;
    for (uint k = 0; k < 8; k++)
        sum += a[m * 8 + k] * b[n * 8 + k];
    c[n * 64 + m] = sum;
}
