// SPDX-License-Identifier: MIT
// Workgroup memory between barriers: a tree of sums, a reversal, elements of 8 to 128 bits, atomics, a loop of barriers
// that ends early for the whole group.
#version 460
#extension GL_GOOGLE_include_directive : require
#define WORDS 8
#include "proof.glsl"

shared uint words[GROUP_SIZE];
shared uint8_t bytes[GROUP_SIZE];
shared uint16_t halves[GROUP_SIZE];
shared uint64_t longs[GROUP_SIZE];
shared uvec4 wide[GROUP_SIZE];
shared uint total, least, most, bits, stop;

void main() {
    uint i = gl_LocalInvocationIndex, x = a[thread() % 512];
    words[i] = x;
    if (i == 0)
        total = 0, least = ~0u, most = 0, bits = 0, stop = 0;
    barrier();
    for (uint step = 1; step < GROUP_SIZE; step *= 2) {
        uint other = i + step < GROUP_SIZE ? words[i + step] : 0;
        barrier();
        words[i] += other;
        barrier();
    }
    put(0, words[0]);
    uint back = GROUP_SIZE - 1 - i;
    bytes[i] = uint8_t(x);
    halves[i] = uint16_t(x >> 8);
    longs[i] = uint64_t(x) * 0x100000003ul;
    wide[i] = uvec4(x, ~x, x * 3, i);
    barrier();
    put(1, uint(bytes[back]) | uint(halves[back]) << 8);
    put(2, uint(longs[back] >> 20));
    uvec4 w = wide[back];
    put(3, w.x ^ (w.y << 1) ^ (w.z << 2) ^ (w.w << 3));
    atomicAdd(total, x);
    atomicMin(least, x);
    atomicMax(most, x);
    atomicOr(bits, 1u << (x & 31));
    barrier();
    put(4, total);
    put(5, least ^ most);
    put(6, bits);
    uint rounds = 0;
    for (; rounds < 20; rounds++) {
        if (i == rounds % GROUP_SIZE && (x & 3) == 0)
            stop = 1;
        barrier();
        bool ends = stop != 0;
        barrier();
        if (ends)
            break;
    }
    put(7, rounds);
}
