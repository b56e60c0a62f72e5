// SPDX-License-Identifier: MIT
// Every atomic operation on a buffer: on a word of the thread's own (the old value is known), and on words that all
// threads change (their order does not show in the end).
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_shader_atomic_int64 : require
#define WORDS 34
#include "proof.glsl"

layout(set = 0, binding = 2, scalar) buffer Own {
    uint own[];
};
layout(set = 0, binding = 3, scalar) buffer OwnLong {
    uint64_t own_long[];
};
layout(set = 0, binding = 4, scalar) buffer Common {
    uint common_words[16];
    uint64_t common_longs[8];
};
layout(set = 0, binding = 2, scalar) buffer OwnSigned {
    int own_signed[];
};

void put_long(uint word, uint64_t value) {
    put(word, uint(value));
    put(word + 1, uint(value >> 32));
}

void words(uint x) {
    uint t = thread();
    put(0, atomicAdd(own[t], x));
    put(1, atomicMin(own[t], x * 3));
    put(2, atomicMax(own[t], x >> 1));
    put(3, atomicAnd(own[t], 0xffff0ff0));
    put(4, atomicOr(own[t], x & 0xff));
    put(5, atomicXor(own[t], ~x));
    put(6, atomicExchange(own[t], x * 7));
    put(7, atomicCompSwap(own[t], (x & 1) == 0 ? x * 7 : 1, x * 11));
    put(8, uint(atomicMin(own_signed[t], int(x))));
    put(9, uint(atomicMax(own_signed[t], -5 - int(x >> 8))));
    put(10, atomicAdd(own[t], 1));
    put(11, atomicAdd(own[t], uint(-1)));
    put(12, own[t]);
}

void longs(uint64_t x) {
    uint t = thread();
    put_long(14, atomicAdd(own_long[t], x));
    put_long(16, atomicMin(own_long[t], x * 3));
    put_long(18, atomicMax(own_long[t], x >> 1));
    put_long(20, atomicAnd(own_long[t], 0xffff0ff0ffff0ff0ul));
    put_long(22, atomicOr(own_long[t], x & 0xff00ff));
    put_long(24, atomicXor(own_long[t], ~x));
    put_long(26, atomicExchange(own_long[t], x * 7));
    put_long(28, atomicCompSwap(own_long[t], (x & 1) == 0 ? x * 7 : 1, x * 11));
    put_long(30, atomicAdd(own_long[t], 1));
}

void together(uint x) {
    atomicAdd(common_words[0], x);
    atomicMin(common_words[1], x);
    atomicMax(common_words[2], x);
    atomicAnd(common_words[3], x | 0xff);
    atomicOr(common_words[4], x & 0xff00);
    atomicXor(common_words[5], x);
    atomicAdd(common_words[6], 1);
    atomicAdd(common_words[7 + x % 4], x >> 3);
    atomicAdd(common_longs[0], uint64_t(x) << 20);
    atomicMax(common_longs[1], uint64_t(x) << 30);
    atomicXor(common_longs[2], uint64_t(x) * x);
}

// A lock-free update: each thread goes on until nobody came between.
void swap_loop(uint x) {
    uint old = common_words[12], seen;
    do {
        seen = old;
        old = atomicCompSwap(common_words[12], seen, seen + (x & 0xff));
    } while (old != seen);
}

void main() {
    uint x = a[thread() % 512];
    words(x);
    longs(uint64_t(x) * 0x9e3779b97f4a7c15ul);
    put(32, 0);
    put(33, 0);
    together(x);
    swap_loop(x);
}
