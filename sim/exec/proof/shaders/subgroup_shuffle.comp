// SPDX-License-Identifier: MIT
// Shuffles, relative ones, quads; of 8 to 64 bits. Only lanes that take part are asked for.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_shuffle_relative : require
#extension GL_KHR_shader_subgroup_quad : require
#extension GL_EXT_shader_subgroup_extended_types_int8 : require
#extension GL_EXT_shader_subgroup_extended_types_int16 : require
#extension GL_EXT_shader_subgroup_extended_types_int64 : require
#extension GL_EXT_shader_subgroup_extended_types_float16 : require
#extension GL_KHR_shader_subgroup_ballot : require
#define WORDS 16
#include "proof.glsl"

void main() {
    uint x = a[thread() % 512], lane = gl_SubgroupInvocationID;
    put(0, subgroupShuffle(x, 15 - lane));
    put(1, subgroupShuffle(x, x & 15));
    put(2, subgroupShuffleXor(x, 5));
    uint up = subgroupShuffleUp(x, 3), down = subgroupShuffleDown(x, 2);
    put(3, lane >= 3 ? up : 0);
    put(4, lane < 14 ? down : 0);
    put(5, subgroupQuadBroadcast(x, 2));
    put(6, subgroupQuadSwapHorizontal(x));
    put(7, subgroupQuadSwapVertical(x));
    put(8, subgroupQuadSwapDiagonal(x));
    put(9, uint(subgroupShuffle(uint8_t(x), lane ^ 1)));
    put(10, uint(subgroupShuffle(uint16_t(x), lane ^ 2)));
    put(11, uint(subgroupShuffle(uint64_t(x) * 0x123456789ul, lane ^ 7) >> 13));
    put(12, floatBitsToUint(float(subgroupShuffle(float16_t(x & 1023), lane ^ 9))));
    uvec4 wide = subgroupShuffle(uvec4(x, ~x, x * 3, lane), lane ^ 4);
    put(13, wide.x ^ wide.y * 3 ^ wide.z * 5 ^ wide.w * 7);
    put(14, subgroupShuffleXor(x, 8) + subgroupShuffleXor(x, 1));
    put(15, subgroupBroadcast(x, 11));
}
