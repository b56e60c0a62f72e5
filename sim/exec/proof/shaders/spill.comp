// SPDX-License-Identifier: MIT
// More live values than there are registers: LIVE words, read, mixed a few times and written.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#define WORDS 1
#include "proof.glsl"

#ifndef LIVE
#define LIVE 96
#endif

void main() {
    uint v[LIVE];
    uint x = thread();
    [[unroll]] for (uint i = 0; i < LIVE; i++)
        v[i] = a[(x * 7 + i * i) % 512];
    for (uint turn = 0; turn < 3 + (x & 1); turn++)
        [[unroll]] for (uint i = 0; i < LIVE; i++)
            v[i] = v[i] * 0x9e3779b1 + (v[(i * 37 + 11) % LIVE] ^ turn);
    uint sum = 0;
    [[unroll]] for (uint i = 0; i < LIVE; i++)
        sum = (sum << 1 | sum >> 31) + v[LIVE - 1 - i];
    put(0, sum);
}
