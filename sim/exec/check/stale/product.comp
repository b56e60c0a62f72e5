// SPDX-License-Identifier: MIT
// C[64][64] = B[64][8] * A[64][8], integers: 64 workgroups of 64 threads.
#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer Left { uint a[]; };
layout(set = 0, binding = 1) readonly buffer Right { uint b[]; };
layout(set = 0, binding = 2) writeonly buffer Result { uint c[]; };

void main() {
    uint m = gl_LocalInvocationID.x, n = gl_WorkGroupID.x, sum = 0;
    for (uint k = 0; k < 8; k++)
        sum += a[m * 8 + k] * b[n * 8 + k];
    c[n * 64 + m] = sum;
}
