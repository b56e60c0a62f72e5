// SPDX-License-Identifier: MIT
// elect, votes, ballots and broadcasts, with all lanes and with some.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_EXT_shader_subgroup_extended_types_int8 : require
#extension GL_EXT_shader_subgroup_extended_types_int16 : require
#extension GL_EXT_shader_subgroup_extended_types_int64 : require
#define WORDS 20
#include "proof.glsl"

void votes(uint at, uint x) {
    put(at, subgroupElect() ? 1 : 0);
    put(at + 1, (subgroupAll(x < 0xf0000000) ? 1 : 0) | (subgroupAny(x < 0x10000000) ? 2 : 0) | (subgroupAllEqual(x >> 31) ? 4 : 0));
    uvec4 ballot = subgroupBallot((x & 5) == 1);
    put(at + 2, ballot.x);
    put(at + 3, subgroupBallotBitCount(ballot) | subgroupBallotInclusiveBitCount(ballot) << 8 | subgroupBallotExclusiveBitCount(ballot) << 16);
    put(at + 4, ballot.x == 0 ? 0 : subgroupBallotFindLSB(ballot) | subgroupBallotFindMSB(ballot) << 8);
    put(at + 5, (subgroupInverseBallot(ballot) ? 1 : 0) | (subgroupBallotBitExtract(ballot, x & 15) ? 2 : 0));
    put(at + 6, subgroupBroadcastFirst(x));
}

void main() {
    uint x = a[thread() % 512];
    votes(0, x);
    put(7, subgroupBroadcast(x, 0));
    put(8, uint(subgroupBroadcastFirst(uint64_t(x) << 9) >> 5));
    put(9, uint(subgroupBroadcastFirst(uint16_t(x))) | uint(subgroupBroadcastFirst(uint8_t(x))) << 16);
    if ((x & 2) == 0)
        votes(10, x * 5);
    put(17, subgroupBallot(true).x);
    for (uint i = 0; i < (x & 7); i++)
        put(18, subgroupBallot(i < 3).x * 100 + i);
    put(19, 1);
}
