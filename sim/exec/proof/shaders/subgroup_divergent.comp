// SPDX-License-Identifier: MIT
// Subgroup operations among the lanes that have come that way: in branches, switches and loops that lanes leave at
// different times.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#define WORDS 8
#include "proof.glsl"

void main() {
    uint x = a[thread() % 512], lane = gl_SubgroupInvocationID;
    if ((x & 1) == 0)
        put(0, subgroupAdd(x));
    else
        put(0, subgroupMax(x) + subgroupBallot(true).x);
    uint sum = 0;
    for (uint i = 0; i < (x >> 28); i++) {
        if (((x >> i) & 3) == 0)
            continue;
        sum += subgroupInclusiveAdd(i + lane);
        if (((x >> i) & 31) == 5)
            break;
        sum = sum * 3 + bitCount(subgroupBallot((x >> i & 1) == 1).x);
    }
    put(1, sum);
    switch (x % 3) {
    case 0:
        put(2, subgroupXor(x));
        break;
    case 1:
        put(2, subgroupBroadcastFirst(x));
        break;
    default:
        put(2, subgroupElect() ? lane : 100);
    }
    // Each turn serves the lanes that have the first one's key.
    uint turns = 0;
    bool done = false;
    while (!done) {
        uint key = subgroupBroadcastFirst(x & 7);
        turns++;
        if (key == (x & 7)) {
            put(3, subgroupAdd(1));
            put(4, turns);
            done = true;
        }
    }
    put(5, subgroupAdd(lane));
    if (lane < 8) {
        put(6, subgroupShuffle(x, 7 - lane));
        if (lane < 5)
            put(7, subgroupExclusiveMul(x | 1));
    }
}
