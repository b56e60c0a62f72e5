#version 450
// SPDX-License-Identifier: MIT
// Checks at start-up that the device's byte dot product says the truth: one invocation a pair of words.
#extension GL_GOOGLE_include_directive : require
#include "dot4.glsl"

layout(local_size_x = 16) in;

layout(binding = 0) readonly buffer Pairs { uvec2 pairs[]; };
layout(binding = 1) writeonly buffer Sums { int sums[]; };

layout(push_constant) uniform Push {
    uint count;
    int start; // added to each dot product
};

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < count)
        sums[i] = rf_dot4(pairs[i].x, pairs[i].y, start);
}
