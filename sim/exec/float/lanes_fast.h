// SPDX-License-Identifier: MIT
// The frequent operations, in nearest-even rounding, as vectors. Included by lanes_float.h alone; what is rare, or has
// another rounding, is in lanes_float.c (the _slow ones do a lane at a time).
#pragma once

#ifdef __AVX2__
#include <immintrin.h>
#endif

static inline mx_u32 mx_select(mx_u32 mask, mx_u32 yes, mx_u32 no) {
    return (yes & mask) | (no & ~mask);
}

static inline mx_u32 mx_f32_is_nan(mx_u32 a) {
    return (mx_u32)((mx_f32)a != (mx_f32)a);
}

// Smaller in the total order -NaN, -inf ... -0, +0 ... inf, NaN: as integers, once negative ones are turned round.
static inline mx_u32 mx_f32_below(mx_u32 a, mx_u32 b) {
    mx_i32 ka = (mx_i32)(a ^ ((mx_u32)((mx_i32)a >> 31) >> 1)), kb = (mx_i32)(b ^ ((mx_u32)((mx_i32)b >> 31) >> 1));
    return (mx_u32)(ka < kb);
}

static inline mx_u32 mx_h2_below(mx_u32 a, mx_u32 b) {
    mx_i16 ka = (mx_i16)a ^ (((mx_i16)a >> 15) & 0x7fff), kb = (mx_i16)b ^ (((mx_i16)b >> 15) & 0x7fff);
    return (mx_u32)(ka < kb);
}

static inline mx_u32 mx_f32_min(mx_u32 a, mx_u32 b) {
    mx_u32 r = mx_select(mx_f32_below(a, b), a, b);
    r = mx_select(mx_f32_is_nan(b), a, r);
    return mx_f32_quiet((mx_f32)mx_select(mx_f32_is_nan(a), b, r));
}

static inline mx_u32 mx_f32_max(mx_u32 a, mx_u32 b) {
    mx_u32 r = mx_select(mx_f32_below(a, b), b, a);
    r = mx_select(mx_f32_is_nan(b), a, r);
    return mx_f32_quiet((mx_f32)mx_select(mx_f32_is_nan(a), b, r));
}

static inline mx_u32 mx_f32_compare(mx_u32 a, mx_u32 b, unsigned condition) {
    mx_f32 x = (mx_f32)a, y = (mx_f32)b;
    switch (condition) {
    case 0:
        return (mx_u32)(x == y);
    case 1:
        return (mx_u32)(x > y);
    case 2:
        return (mx_u32)(x >= y);
    case 3:
        return (mx_u32)(x != y);
    case 4:
        return (mx_u32)(x < y);
    case 5:
        return (mx_u32)(x <= y);
    case 6:
        return (mx_u32)((x < y) | (x > y));
    default:
        return ~mx_f32_below(b, a);
    }
}

static inline mx_u32 mx_s32_to_f32(mx_u32 x, unsigned round) {
    if (__builtin_expect(round != MX_ROUND_NEAREST, 0))
        return mx_s32_to_f32_slow(x, round);
    return (mx_u32) __builtin_convertvector((mx_i32)x, mx_f32);
}

// Both halves are exact, so that the sum is rounded once.
static inline mx_u32 mx_u32_to_f32(mx_u32 x, unsigned round) {
    if (__builtin_expect(round != MX_ROUND_NEAREST, 0))
        return mx_u32_to_f32_slow(x, round);
    mx_f32 high = __builtin_convertvector((mx_i32)(x >> 16), mx_f32),
           low = __builtin_convertvector((mx_i32)(x & 0xffffu), mx_f32);
    return (mx_u32)(high * 65536.0f + low);
}

#if defined(__AVX2__) && defined(__F16C__)

static inline mx_u32 mx_f16_to_f32(mx_u32 x) {
    __m256i parts[2], packed;
    mx_u32 r;
    x &= 0xffffu;
    __builtin_memcpy(parts, &x, sizeof parts);
    packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(parts[0], parts[1]), 0xd8);
    __m256 floats[2] = {_mm256_cvtph_ps(_mm256_castsi256_si128(packed)),
                        _mm256_cvtph_ps(_mm256_extracti128_si256(packed, 1))};
    __builtin_memcpy(&r, floats, sizeof r);
    return mx_f32_quiet((mx_f32)r);
}

static inline mx_u32 mx_f32_to_f16_nearest(mx_u32 x) {
    __m256 floats[2];
    __m256i parts[2];
    mx_u32 r, nan = mx_f32_is_nan(x);
    __builtin_memcpy(floats, &x, sizeof floats);
    for (unsigned i = 0; i < 2; i++)
        parts[i] = _mm256_cvtepu16_epi32(_mm256_cvtps_ph(floats[i], _MM_FROUND_TO_NEAREST_INT));
    __builtin_memcpy(&r, parts, sizeof r);
    return mx_select(nan, nan & 0x7e00u, r);
}

static inline mx_u32 mx_f32_to_f16(mx_u32 x, unsigned round) {
    return __builtin_expect(round != MX_ROUND_NEAREST, 0) ? mx_f32_to_f16_slow(x, round) : mx_f32_to_f16_nearest(x);
}

static inline mx_u32 mx_f32_to_h2(mx_u32 a, mx_u32 b, unsigned round) {
    if (__builtin_expect(round != MX_ROUND_NEAREST, 0))
        return mx_f32_to_h2_slow(a, b, round);
    return mx_f32_to_f16_nearest(a) | mx_f32_to_f16_nearest(b) << 16;
}

// A lane's two halves are lanes of their own: eight at a time, in the order in which they lie in memory.
#define MX_EIGHTS for (unsigned i = 0; i < 4; i++)

static inline __m256 mx_eight(const mx_u32 *halves, unsigned i) {
    return _mm256_cvtph_ps(((const __m128i *)halves)[i]);
}

static inline void mx_eight_put(mx_u32 *halves, unsigned i, __m256 value) {
    __m256 nan = _mm256_cmp_ps(value, value, _CMP_UNORD_Q);
    value = _mm256_blendv_ps(value, _mm256_castsi256_ps(_mm256_set1_epi32(0x7fc00000)), nan);
    ((__m128i *)halves)[i] = _mm256_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT);
}

// Twice 11 bits and two more are fp32's 24: rounding the sum twice is rounding it once.
static inline mx_u32 mx_h2_add(mx_u32 a, mx_u32 b, unsigned round) {
    if (__builtin_expect(round != MX_ROUND_NEAREST, 0))
        return mx_h2_add_slow(a, b, round);
    mx_u32 r;
    MX_EIGHTS mx_eight_put(&r, i, _mm256_add_ps(mx_eight(&a, i), mx_eight(&b, i)));
    return r;
}

// The product is exact in fp32; the sum is rounded to odd there, by the sign of its exact error (Knuth's two-sum), so
// that the second rounding is the only one that counts. Where the sum is infinite or NaN the error is NaN.
static inline __m256 mx_fma_odd(__m256 x, __m256 y, __m256 z) {
    const __m256i one = _mm256_set1_epi32(1);
    __m256 product = _mm256_mul_ps(x, y), sum = _mm256_add_ps(product, z);
    __m256 part = _mm256_sub_ps(sum, product);
    __m256 error = _mm256_add_ps(_mm256_sub_ps(product, _mm256_sub_ps(sum, part)), _mm256_sub_ps(z, part));
    __m256i bits = _mm256_castps_si256(sum);
    // -1 where the error points to zero, else +1; only where the sum is even and there is an error.
    __m256i step = _mm256_or_si256(_mm256_srai_epi32(_mm256_xor_si256(bits, _mm256_castps_si256(error)), 31), one);
    __m256i even = _mm256_cmpeq_epi32(_mm256_and_si256(bits, one), _mm256_setzero_si256());
    __m256i inexact = _mm256_castps_si256(_mm256_cmp_ps(error, _mm256_setzero_ps(), _CMP_NEQ_OQ));
    return _mm256_castsi256_ps(_mm256_add_epi32(bits, _mm256_and_si256(step, _mm256_and_si256(even, inexact))));
}

static inline mx_u32 mx_h2_fma(mx_u32 a, mx_u32 b, mx_u32 c, unsigned round) {
    if (__builtin_expect(round != MX_ROUND_NEAREST, 0))
        return mx_h2_fma_slow(a, b, c, round);
    mx_u32 r;
    MX_EIGHTS mx_eight_put(&r, i, mx_fma_odd(mx_eight(&a, i), mx_eight(&b, i), mx_eight(&c, i)));
    return r;
}

static inline mx_u32 mx_s16_to_h2(mx_u32 x, unsigned round) {
    if (__builtin_expect(round != MX_ROUND_NEAREST, 0))
        return mx_s16_to_h2_slow(x, round);
    mx_i32 low = (mx_i32)(x << 16) >> 16, high = (mx_i32)x >> 16;
    return mx_f32_to_h2((mx_u32) __builtin_convertvector(low, mx_f32), (mx_u32) __builtin_convertvector(high, mx_f32),
                        round);
}

static inline mx_u32 mx_u16_to_h2(mx_u32 x, unsigned round) {
    if (__builtin_expect(round != MX_ROUND_NEAREST, 0))
        return mx_u16_to_h2_slow(x, round);
    mx_i32 low = (mx_i32)(x & 0xffffu), high = (mx_i32)(x >> 16);
    return mx_f32_to_h2((mx_u32) __builtin_convertvector(low, mx_f32), (mx_u32) __builtin_convertvector(high, mx_f32),
                        round);
}

static inline mx_u32 mx_f32_round(mx_u32 x, unsigned round) {
    __m256 parts[2];
    mx_u32 r;
    __builtin_memcpy(parts, &x, sizeof parts);
    for (unsigned i = 0; i < 2; i++) {
        switch (round) {
        case MX_ROUND_NEAREST:
            parts[i] = _mm256_round_ps(parts[i], _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
            break;
        case MX_ROUND_UP:
            parts[i] = _mm256_round_ps(parts[i], _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
            break;
        case MX_ROUND_DOWN:
            parts[i] = _mm256_round_ps(parts[i], _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
            break;
        default:
            parts[i] = _mm256_round_ps(parts[i], _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
        }
    }
    __builtin_memcpy(&r, parts, sizeof r);
    return mx_f32_quiet((mx_f32)r);
}

static inline mx_u32 mx_f32_to_s32(mx_u32 x, unsigned round) {
    mx_u32 whole = mx_f32_round(x, round), r, nan = mx_f32_is_nan(x), above = (mx_u32)((mx_f32)whole >= 2147483648.0f);
    __m256 floats[2];
    __m256i parts[2];
    __builtin_memcpy(floats, &whole, sizeof floats);
    for (unsigned i = 0; i < 2; i++)
        parts[i] = _mm256_cvttps_epi32(floats[i]);
    __builtin_memcpy(&r, parts, sizeof r);
    return mx_select(above, (mx_u32){0} + 0x7fffffffu, r) & ~nan;
}

static inline mx_u32 mx_h2_compare(mx_u32 a, mx_u32 b, unsigned condition) {
    if (condition == 7)
        return ~mx_h2_below(b, a);
    mx_u32 low = mx_f32_compare(mx_f16_to_f32(a), mx_f16_to_f32(b), condition);
    mx_u32 high = mx_f32_compare(mx_f16_to_f32(a >> 16), mx_f16_to_f32(b >> 16), condition);
    return (low & 0xffffu) | (high & 0xffff0000u);
}

static inline mx_u32 mx_h2_min(mx_u32 a, mx_u32 b) {
    return mx_f32_to_h2(mx_f32_min(mx_f16_to_f32(a), mx_f16_to_f32(b)),
                        mx_f32_min(mx_f16_to_f32(a >> 16), mx_f16_to_f32(b >> 16)), 0);
}

static inline mx_u32 mx_h2_max(mx_u32 a, mx_u32 b) {
    return mx_f32_to_h2(mx_f32_max(mx_f16_to_f32(a), mx_f16_to_f32(b)),
                        mx_f32_max(mx_f16_to_f32(a >> 16), mx_f16_to_f32(b >> 16)), 0);
}

#else

#define MX_SLOWLY(name, parameters, arguments)                                                                         \
    static inline mx_u32 name parameters {                                                                             \
        return name##_slow arguments;                                                                                  \
    }
MX_SLOWLY(mx_f16_to_f32, (mx_u32 x), (x))
MX_SLOWLY(mx_f32_to_f16, (mx_u32 x, unsigned round), (x, round))
MX_SLOWLY(mx_f32_to_h2, (mx_u32 a, mx_u32 b, unsigned round), (a, b, round))
MX_SLOWLY(mx_h2_add, (mx_u32 a, mx_u32 b, unsigned round), (a, b, round))
MX_SLOWLY(mx_h2_fma, (mx_u32 a, mx_u32 b, mx_u32 c, unsigned round), (a, b, c, round))
MX_SLOWLY(mx_s16_to_h2, (mx_u32 x, unsigned round), (x, round))
MX_SLOWLY(mx_u16_to_h2, (mx_u32 x, unsigned round), (x, round))
MX_SLOWLY(mx_f32_round, (mx_u32 x, unsigned round), (x, round))
MX_SLOWLY(mx_f32_to_s32, (mx_u32 x, unsigned round), (x, round))
MX_SLOWLY(mx_h2_compare, (mx_u32 a, mx_u32 b, unsigned condition), (a, b, condition))
MX_SLOWLY(mx_h2_min, (mx_u32 a, mx_u32 b), (a, b))
MX_SLOWLY(mx_h2_max, (mx_u32 a, mx_u32 b), (a, b))
#undef MX_SLOWLY

#endif
