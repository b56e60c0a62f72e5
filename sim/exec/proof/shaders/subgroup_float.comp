// SPDX-License-Identifier: MIT
// Reductions and scans of floats, exact in any order: small whole numbers.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_EXT_shader_subgroup_extended_types_float16 : require
#define WORDS 18
#include "proof.glsl"

#define ALL(at, op, x) \
    put(at, floatBitsToUint(float(subgroup##op(x)))); \
    put(at + 1, floatBitsToUint(float(subgroupInclusive##op(x)))); \
    put(at + 2, floatBitsToUint(float(subgroupExclusive##op(x))));

void main() {
    uint word = a[thread() % 512];
    float x = float(int(word) >> 16);
    float16_t h = float16_t(int(word << 8) >> 26);
    ALL(0, Add, x)
    ALL(3, Min, x)
    ALL(6, Max, x)
    ALL(9, Add, h)
    ALL(12, Min, h)
    ALL(15, Max, h)
}
