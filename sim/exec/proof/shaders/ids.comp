// SPDX-License-Identifier: MIT
// Every built-in variable of a thread.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_ballot : require
#define WORDS 24
#include "proof.glsl"

void main() {
    for (uint k = 0; k < 3; k++) {
        put(k, gl_NumWorkGroups[k]);
        put(3 + k, gl_WorkGroupID[k]);
        put(6 + k, gl_LocalInvocationID[k]);
        put(9 + k, gl_GlobalInvocationID[k]);
    }
    put(12, gl_LocalInvocationIndex);
    put(13, gl_SubgroupID);
    put(14, gl_NumSubgroups);
    put(15, gl_SubgroupSize);
    put(16, gl_SubgroupInvocationID);
    put(17, gl_SubgroupEqMask.x);
    put(18, gl_SubgroupGeMask.x & 0xffff);
    put(19, gl_SubgroupGtMask.x & 0xffff);
    put(20, gl_SubgroupLeMask.x);
    put(21, gl_SubgroupLtMask.x);
    put(22, a[thread() % 64]);
    put(23, gl_WorkGroupSize.x * 10000 + gl_WorkGroupSize.y * 100 + gl_WorkGroupSize.z);
}
