// SPDX-License-Identifier: MIT
// Reductions and scans with all lanes of the type KIND; FEW: of three operations only.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_EXT_shader_subgroup_extended_types_int8 : require
#extension GL_EXT_shader_subgroup_extended_types_int16 : require
#extension GL_EXT_shader_subgroup_extended_types_int64 : require
#extension GL_EXT_shader_subgroup_extended_types_float16 : require
#define WORDS 21
#include "proof.glsl"

#define ALL(at, op) \
    put(at, uint(subgroup##op(x))); \
    put(at + 1, uint(subgroupInclusive##op(x))); \
    put(at + 2, uint(subgroupExclusive##op(x)));

void main() {
    KIND x = KIND(a[thread() % 512] >> 3);
    ALL(0, Add)
    ALL(3, Min)
    ALL(6, Max)
#ifndef FEW
    ALL(9, Mul)
    ALL(12, And)
    ALL(15, Or)
    ALL(18, Xor)
#endif
}
