// SPDX-License-Identifier: MIT
// Lanes that part ways: nested loops, break, continue, return, switch; bounds depend on the lane and on data.
#version 460
#extension GL_GOOGLE_include_directive : require
#define WORDS 5
#include "proof.glsl"

uint nested(uint x) {
    uint sum = 0;
    for (uint i = 0; i < (x & 7); i++) {
        for (uint j = i; j < ((x >> 3) & 7); j++) {
            if (((x >> j) & 1) == 0)
                continue;
            if (i * j == ((x >> 8) & 15))
                break;
            sum = sum * 3 + i + 7 * j;
        }
        if (sum > 4000)
            return sum ^ i;
    }
    return sum;
}

uint choose(uint x) {
    uint v = x;
    switch (x % 7) {
    case 0:
        v += 100;
        break;
    case 1:
        v *= 3;
    case 2:
        v ^= 0x55;
        break;
    case 4:
        for (uint k = 0; k < x % 5; k++)
            v = v * 5 + k;
        break;
    case 5:
        return v + 1;
    default:
        v = ~v;
    }
    return v * 2;
}

uint collatz(uint x) {
    uint steps = 0;
    x = x % 1000 + 1;
    while (x != 1 && steps < 200) {
        x = (x & 1) == 0 ? x / 2 : 3 * x + 1;
        steps++;
    }
    return steps;
}

uint forever(uint x) {
    uint n = 0;
    do {
        n++;
        x = x * 1664525 + 1013904223;
        if ((x >> 24) == 7)
            n += 1000;
        if ((x >> 28) == 3)
            return n;
    } while (n < 300);
    return 0;
}

void main() {
    uint x = a[thread() % 512] >> 4;
    put(0, nested(x));
    put(1, choose(x));
    put(2, collatz(x));
    put(3, forever(x));
    if ((x & 3) == 1)
        return;
    put(4, gl_LocalInvocationIndex * x);
}
