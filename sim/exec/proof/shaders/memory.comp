// SPDX-License-Identifier: MIT
// Loads and stores of 8 to 128 bits, aligned as scalars are, signed and unsigned.
#version 460
#extension GL_GOOGLE_include_directive : require
#define WORDS 1
#include "proof.glsl"

struct mixed {
    uint8_t b;
    uint16_t h;
    uint w;
    u16vec3 h3;
    uvec3 w3;
    u8vec4 b4;
    uvec2 w2;
    u16vec4 h4;
};
layout(set = 0, binding = 2, scalar) readonly buffer In8 { int8_t in8[]; };
layout(set = 0, binding = 2, scalar) readonly buffer In16 { int16_t in16[]; };
layout(set = 0, binding = 2, scalar) readonly buffer In64 { uint64_t in64[]; };
layout(set = 0, binding = 2, scalar) readonly buffer In96 { uvec3 in96[]; };
layout(set = 0, binding = 2, scalar) readonly buffer In128 { uvec4 in128[]; };
layout(set = 0, binding = 2, scalar) readonly buffer InMixed { mixed in_mixed[]; };
layout(set = 0, binding = 3, scalar) writeonly buffer Out8 { uint8_t out8[]; };
layout(set = 0, binding = 4, scalar) writeonly buffer Out16 { uint16_t out16[]; };
layout(set = 0, binding = 5, scalar) writeonly buffer Out64 { uint64_t out64[]; };
layout(set = 0, binding = 6, scalar) writeonly buffer Out96 { uvec3 out96[]; };
layout(set = 0, binding = 7, scalar) writeonly buffer Out128 { uvec4 out128[]; };
layout(set = 0, binding = 8, scalar) buffer OutMixed { mixed out_mixed[]; };

void main() {
    uint t = thread(), k = a[t % 512] % 64;
    put(0, uint(int(in8[k * 3 + 1])) ^ uint(int(in16[k * 5 + 1])) << 3);
    out8[t] = uint8_t(in8[t % 1024] + int8_t(3));
    out16[t] = uint16_t(in16[t % 512] * int16_t(3));
    out64[t] = in64[k] + in64[t % 64];
    out96[t] = in96[k].zxy + in96[t % 64];
    out128[t] = in128[k].wzyx ^ in128[t % 64];
    mixed m = in_mixed[t % 16];
    m.h3 = m.h3.zyx + uint16_t(m.b);
    m.w2.x += m.w;
    m.b4 = m.b4.wxyz;
    out_mixed[t] = m;
}
