// SPDX-License-Identifier: MIT
// A word of workgroup memory is read before it is overwritten, a barrier between; another load stands between the two.
// Mesa 26.1.6 for Mali moves the first load behind the store: its pressure scheduler orders stores and barriers behind
// the last load before them alone. BIFROST_MESA_DEBUG=nopsched turns it off.
#version 460
#extension GL_GOOGLE_include_directive : require
#define WORDS 2
#include "proof.glsl"

shared uint64_t longs[GROUP_SIZE];

void main() {
    uint i = gl_LocalInvocationIndex, x = a[thread() % 512];
    uint y = a[(thread() * 7 + 3) % 512];
    longs[i] = uint64_t(x) * 4;
    barrier();
    uint64_t read = longs[(i * 3 + 1) % GROUP_SIZE];
    y = (y + 7) * 3;
    barrier();
    longs[i] = 123;
    barrier();
    put(0, i * i * ((int16_t(uint8_t(x)) - int16_t(x)) != int16_t(y) ? 0 : x));
    put(1, uint(read));
}
