// SPDX-License-Identifier: MIT
// A dispatch whose first workgroup is not 0: the ids have the base in them, the number of workgroups has not.
#version 460
#extension GL_GOOGLE_include_directive : require
#define WORDS 8
#include "proof.glsl"

layout(push_constant) uniform Push {
    uvec3 base;
};

void main() {
    uvec3 group = gl_WorkGroupID - base;
    uint at = (group.z * gl_NumWorkGroups.y + group.y) * gl_NumWorkGroups.x + group.x;
    at = (at * GROUP_SIZE + gl_LocalInvocationIndex) * WORDS;
    for (uint k = 0; k < 3; k++) {
        r[at + k] = gl_GlobalInvocationID[k];
        r[at + 3 + k] = gl_WorkGroupID[k];
    }
    r[at + 6] = gl_NumWorkGroups.x;
    r[at + 7] = a[at % 512];
}
