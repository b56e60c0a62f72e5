// SPDX-License-Identifier: MIT
// Clocks go on; their values are nobody's business.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_ARB_shader_clock : require
#extension GL_EXT_shader_realtime_clock : require
#extension GL_ARB_gpu_shader_int64 : require
#define WORDS 2
#include "proof.glsl"

void main() {
    uint64_t before = clockARB(), real = clockRealtimeEXT();
    uint x = a[thread() % 512];
    for (uint i = 0; i < (x & 31); i++)
        x = x * 1664525 + 1013904223;
    put(0, x);
    put(1, clockARB() >= before && clockRealtimeEXT() >= real ? 1 : 0);
}
