// SPDX-License-Identifier: MIT
// Every atomic operation on workgroup memory, 32 and 64 bits.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_shader_atomic_int64 : require
#define WORDS 14
#include "proof.glsl"

shared uint own[GROUP_SIZE];
shared int own_signed[GROUP_SIZE];
shared uint64_t own_long[GROUP_SIZE];
shared uint common_words[4];

void main() {
    uint i = gl_LocalInvocationIndex, x = a[thread() % 512];
    own[i] = x;
    own_signed[i] = int(x);
    own_long[i] = x;
    if (i < 4)
        common_words[i] = 0;
    barrier();
    put(0, atomicAdd(own[i], x));
    put(1, atomicMin(own[i], x * 3));
    put(2, atomicMax(own[i], x >> 1));
    put(3, atomicAnd(own[i], 0xffff0ff0));
    put(4, atomicOr(own[i], x & 0xff));
    put(5, atomicXor(own[i], ~x));
    put(6, atomicExchange(own[i], x * 7));
    put(7, atomicCompSwap(own[i], (x & 1) == 0 ? x * 7 : 1, x * 11));
    put(8, uint(atomicMin(own_signed[i], -7)));
    put(9, uint(atomicMax(own_signed[i], 5)));
    put(10, uint(atomicAdd(own_long[i], uint64_t(x) << 31) >> 7));
    put(11, uint(atomicCompSwap(own_long[i], uint64_t(x), 77ul)));
    put(12, own[i] ^ uint(own_long[i] >> 9));
    atomicAdd(common_words[0], x);
    atomicXor(common_words[1], x * 5);
    atomicMax(common_words[x % 2 + 2], x);
    barrier();
    put(13, common_words[0] ^ common_words[1] ^ common_words[2] ^ common_words[3]);
}
