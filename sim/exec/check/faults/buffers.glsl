// SPDX-License-Identifier: MIT
// What run.c gives a shader: 64 workgroups of 64 threads; a and b hold 1 to 11.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer Left { uint a[512]; };
layout(set = 0, binding = 1) readonly buffer Right { uint b[512]; };
layout(set = 0, binding = 2) buffer Result { uint c[4096]; };
layout(set = 0, binding = 3) readonly buffer Untouched { uint untouched[262144]; };
