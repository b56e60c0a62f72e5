// SPDX-License-Identifier: MIT
// Special functions and scalings: in double, eight lanes at a time, then rounded to fp32. valhall-isa.md gives their
// error as less than one ulp; these are nearer than that: the double is good to about 1e-16, so that the result is the
// correctly rounded one but for very rare ties.
#include <math.h>

#include "lanes_float.h"

#define EIGHT (MX_LANES / 2)
#define EACH for (unsigned l = 0; l < MX_LANES; l++)
#define INFINITY32 0x7f800000u
#define NAN32 0x7fc00000u
#define SIGN32 0x80000000u

typedef double mx_f64 __attribute__((vector_size(8 * EIGHT)));
typedef int64_t mx_i64 __attribute__((vector_size(8 * EIGHT)));
typedef float mx_f32x8 __attribute__((vector_size(4 * EIGHT)));
typedef int32_t mx_i32x8 __attribute__((vector_size(4 * EIGHT)));

// Both halves of a warp, as doubles and back.
union halves {
    mx_u32 all;
    mx_f32x8 floats[2];
    mx_i32x8 integers[2];
};
#define BOTH for (unsigned i = 0; i < 2; i++)

static mx_f64 widened(mx_f32x8 x) {
    return __builtin_convertvector(x, mx_f64);
}

// 2^exponent, of -1022 to 1023.
static mx_f64 power(mx_i32x8 exponent) {
    return (mx_f64)(__builtin_convertvector(exponent + 1023, mx_i64) << 52);
}

static mx_i32x8 limited(mx_i32x8 x, int32_t limit) {
    mx_i32x8 high = x > limit, low = x < -limit;
    return (x & ~high & ~low) | (high & limit) | (low & -limit);
}

static mx_u32 splat(uint32_t value) {
    return value - (mx_u32){0};
}

static mx_u32 quiet(union halves r) {
    return mx_f32_quiet((mx_f32)r.all);
}

mx_u32 mx_f32_ldexp_nearest(mx_u32 x, mx_u32 exponent) {
    union halves a = {x}, e = {exponent}, r;
    BOTH r.floats[i] = __builtin_convertvector(widened(a.floats[i]) * power(limited(e.integers[i], 400)), mx_f32x8);
    return quiet(r);
}

// The product of two floats is exact as a double. The sum is rounded to odd: by the sign of its exact error (Knuth's
// two-sum) it goes to that neighbour whose last bit is 1. So the rounding to fp32 is the only one that counts.
static mx_f64 fma_odd(mx_f64 a, mx_f64 b, mx_f64 c) {
    mx_f64 product = a * b, sum = product + c, part = sum - product;
    mx_f64 error = (product - (sum - part)) + (c - part);
    mx_i64 bits = (mx_i64)sum, step = ((bits ^ (mx_i64)error) >> 63) | 1; // -1: to zero
    mx_i64 inexact = (error < 0) | (error > 0);                           // not where infinities made it a NaN
    return (mx_f64)(bits + (step & inexact & ((bits & 1) - 1)));
}

// Scaling by up to 2^600 is exact, and beyond it every result is 0 or infinite.
mx_u32 mx_f32_fma_rscale(mx_u32 a, mx_u32 b, mx_u32 c, mx_u32 exponent) {
    union halves x = {a}, y = {b}, z = {c}, e = {exponent}, r;
    BOTH {
        mx_f64 sum = fma_odd(widened(x.floats[i]), widened(y.floats[i]), widened(z.floats[i]));
        r.floats[i] = __builtin_convertvector(sum * power(limited(e.integers[i], 600)), mx_f32x8);
    }
    return quiet(r);
}

static mx_u32 flush(mx_u32 x) {
    mx_u32 subnormal = (mx_u32)((x & INFINITY32) == 0);
    return x & (~subnormal | SIGN32);
}

mx_u32 mx_f32_rcp(mx_u32 x) {
    return flush(mx_f32_quiet(1.0f / (mx_f32)flush(x)));
}

static mx_u32 reciprocal_root(mx_u32 x) {
    union halves a = {x}, r;
    BOTH {
        mx_f64 value = widened(a.floats[i]);
        for (unsigned l = 0; l < EIGHT; l++)
            value[l] = 1.0 / sqrt(value[l]);
        r.floats[i] = __builtin_convertvector(value, mx_f32x8);
    }
    return quiet(r); // of -0 -infinity, as 1 / -0
}

mx_u32 mx_f32_rsq(mx_u32 x) {
    return reciprocal_root(flush(x));
}

// Precise enough that the second rounding changes nothing (float_test tries all values).
mx_u32 mx_f16_rcp(mx_u32 x) {
    return mx_f32_to_f16(mx_f32_quiet(1.0f / (mx_f32)mx_f16_to_f32(x)), MX_ROUND_NEAREST);
}

mx_u32 mx_f16_rsq(mx_u32 x) {
    return mx_f32_to_f16(reciprocal_root(mx_f16_to_f32(x)), MX_ROUND_NEAREST);
}

// sin(n pi / 32), n = 0 to 16.
static const float quarter[17] = {
    0x0p+0,         0x1.917a6cp-4f, 0x1.8f8b84p-3f, 0x1.294062p-2f, 0x1.87de2ap-2f, 0x1.e2b5d4p-2f,
    0x1.1c73b4p-1f, 0x1.44cf32p-1f, 0x1.6a09e6p-1f, 0x1.8bc806p-1f, 0x1.a9b662p-1f, 0x1.c38b3p-1f,
    0x1.d906bcp-1f, 0x1.e9f416p-1f, 0x1.f6297cp-1f, 0x1.fd88dap-1f, 0x1p+0,
};

static float table_sine(uint32_t n) {
    uint32_t rest = n & 15;
    float value = quarter[n & 16 ? 16 - rest : rest];
    return n & 32 && value != 0 ? -value : value;
}

mx_u32 mx_f32_sin_table(mx_u32 x) {
    mx_f32 r;
    EACH r[l] = table_sine(x[l]);
    return (mx_u32)r;
}

mx_u32 mx_f32_cos_table(mx_u32 x) {
    return mx_f32_sin_table(x + 16u);
}

// 2^(fraction / 2^24) = sqrt(2) e^y with abs y <= ln(2) / 2: the exponential series up to y^14 / 14!.
static mx_f64 exponential(mx_i32x8 fraction) {
    static const double factor[15] = {1,
                                      1,
                                      1.0 / 2,
                                      1.0 / 6,
                                      1.0 / 24,
                                      1.0 / 120,
                                      1.0 / 720,
                                      1.0 / 5040,
                                      1.0 / 40320,
                                      1.0 / 362880,
                                      1.0 / 3628800,
                                      1.0 / 39916800,
                                      1.0 / 479001600,
                                      1.0 / 6227020800,
                                      1.0 / 87178291200};
    mx_f64 y = __builtin_convertvector(fraction - 0x800000, mx_f64) * (M_LN2 / 0x1p24), sum = y * factor[14];
    for (unsigned n = 13; n > 0; n--)
        sum = (sum + factor[n]) * y;
    return (sum + factor[0]) * M_SQRT2;
}

// The ends of fixed's range are what F32_TO_S32 made of exponents beyond it.
mx_u32 mx_f32_exp(mx_u32 fixed, mx_u32 x) {
    union halves e = {fixed}, r;
    BOTH {
        mx_f64 value = exponential(e.integers[i] & 0xffffff) * power(e.integers[i] >> 24);
        r.floats[i] = __builtin_convertvector(value, mx_f32x8);
    }
    mx_u32 result = mx_select((mx_u32)(fixed == 0x7fffffffu), splat(INFINITY32), r.all);
    result &= ~(mx_u32)(fixed == SIGN32);
    return mx_select(mx_f32_is_nan(x), splat(NAN32), result);
}

// log2(m) / (m - 1), by the series of the inverse hyperbolic tangent: log(m) = 2 (s + s^3 / 3 + ...) with
// s = (m - 1) / (m + 1). In [0.75, 1.5) s^2 is at most 0.04; twelve terms.
static mx_f64 logarithm(mx_f64 m) {
    mx_f64 s = (m - 1) / (m + 1), square = s * s, sum = square * (1.0 / 23);
    for (unsigned n = 21; n > 1; n -= 2)
        sum = (sum + 1.0 / n) * square;
    return (sum + 1) * (2 * M_LOG2E) / (m + 1);
}

// The mantissa of a number above 0, in [0.75, 1.5); no fp32 number is subnormal as a double.
static mx_f64 reduced(mx_f64 x) {
    mx_i64 mantissa = (mx_i64)x & 0xfffffffffffff, upper = mantissa >= INT64_C(1) << 51;
    return (mx_f64)(mantissa | ((INT64_C(1023) + upper) << 52));
}

mx_u32 mx_f32_logd(mx_u32 x) {
    union halves a = {x}, r;
    BOTH r.floats[i] = __builtin_convertvector(logarithm(reduced(widened(a.floats[i]))), mx_f32x8);
    mx_u32 zero = (mx_u32)((x & ~SIGN32) == 0);
    mx_u32 result = mx_select((mx_u32)(x == INFINITY32), splat(0x3f800000u), r.all); // log2 is infinity times it
    result = mx_select((mx_u32)((mx_i32)x < 0) | mx_f32_is_nan(x), splat(NAN32), result);
    return mx_select(zero, splat(INFINITY32), result);
}
