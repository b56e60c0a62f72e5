// SPDX-License-Identifier: MIT
// Clusters: reductions over 2, 4, 8 and 16 neighbours.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_clustered : require
#define WORDS 8
#include "proof.glsl"

void main() {
    uint x = a[thread() % 512];
    put(0, subgroupClusteredAdd(x, 2));
    put(1, subgroupClusteredAdd(x, 4));
    put(2, subgroupClusteredAdd(x, 8));
    put(3, subgroupClusteredAdd(x, 16));
    put(4, subgroupClusteredMax(x, 4));
    put(5, subgroupClusteredXor(x, 8));
    put(6, uint(subgroupClusteredMin(int(x), 2)));
    put(7, subgroupClusteredMul(x, 4));
}
