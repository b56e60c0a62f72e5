// SPDX-License-Identifier: MIT
// A loop whose end depends on a word that nobody writes.
#version 460
layout(local_size_x = 64) in;
layout(set = 0, binding = 1, std430) buffer Output {
    uint r[];
};

void main() {
    uint t = gl_GlobalInvocationID.x, n = 0;
    while (atomicOr(r[64], 0) == 0)
        n++;
    r[t] = n;
}
