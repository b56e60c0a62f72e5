// SPDX-License-Identifier: MIT
#include "lanes_float.h"

#include <fenv.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#define EACH for (unsigned l = 0; l < MX_LANES; l++)
#define NAN32 0x7fc00000u
#define NAN16 0x7e00u

static float f(uint32_t bits) {
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

static uint32_t u(float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return value != value ? NAN32 : bits;
}

static const int modes[4] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};

// A double to fp16 with one rounding.
static uint16_t half_from(double value, unsigned round) {
    if (value != value)
        return NAN16;
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    double a = fabs(value);
    if (isinf(a))
        return sign | 0x7c00;
    if (a == 0)
        return sign;
    int e;
    frexp(a, &e);
    e = e - 1 < -14 ? -14 : e - 1;
    double scaled = ldexp(a, 10 - e), whole = floor(scaled), rest = scaled - whole;
    bool up = round == MX_ROUND_NEAREST ? rest > 0.5 || (rest == 0.5 && fmod(whole, 2) == 1)
              : round == MX_ROUND_UP    ? rest > 0 && !sign
              : round == MX_ROUND_DOWN  ? rest > 0 && sign
                                        : false;
    whole += up;
    if (whole >= 2048) {
        whole /= 2;
        e++;
    }
    if (e > 15) {
        bool infinite =
            round == MX_ROUND_NEAREST || (round == MX_ROUND_UP && !sign) || (round == MX_ROUND_DOWN && sign);
        return sign | (infinite ? 0x7c00 : 0x7bff);
    }
    uint32_t bits = whole >= 1024 ? (uint32_t)(e + 15) << 10 | ((uint32_t)whole - 1024) : (uint32_t)whole;
    return sign | (uint16_t)bits;
}

static float half_to(uint16_t h) {
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, e = h >> 10 & 31, m = h & 1023;
    if (e == 31)
        return f(m ? NAN32 : sign | 0x7f800000u);
    if (e == 0)
        return f(sign | u((float)m * 0x1p-24f));
    return f(sign | (e + 112) << 23 | m << 13);
}

mx_u32 mx_f32_fma_rounded(mx_u32 a, mx_u32 b, mx_u32 c, unsigned round) {
    mx_u32 r;
    fesetround(modes[round]);
    EACH {
        volatile float x = f(a[l]), y = f(b[l]), z = f(c[l]);
        volatile float v = fmaf(x, y, z);
        r[l] = u(v);
    }
    fesetround(FE_TONEAREST);
    return r;
}

static uint32_t min32(uint32_t a, uint32_t b) {
    if (isnan(f(a)))
        return u(f(b));
    if (isnan(f(b)))
        return a;
    uint32_t ka = a >> 31 ? ~a : a | 0x80000000u, kb = b >> 31 ? ~b : b | 0x80000000u;
    return ka <= kb ? a : b;
}

static uint32_t max32(uint32_t a, uint32_t b) {
    if (isnan(f(a)) || isnan(f(b)))
        return min32(a, b);
    return min32(a, b) == a ? b : a;
}

mx_u32 mx_f32_min_slow(mx_u32 a, mx_u32 b) {
    mx_u32 r;
    EACH r[l] = min32(a[l], b[l]);
    return r;
}

mx_u32 mx_f32_max_slow(mx_u32 a, mx_u32 b) {
    mx_u32 r;
    EACH r[l] = max32(a[l], b[l]);
    return r;
}

mx_u32 mx_f32_clamp(mx_u32 x, unsigned clamp) {
    if (clamp == MX_CLAMP_NONE)
        return x;
    mx_u32 zero = {0}, one = zero + 0x3f800000u, minus = zero + 0xbf800000u;
    x = mx_f32_max(x, clamp == MX_CLAMP_M1_1 ? minus : zero);
    return clamp == MX_CLAMP_0_INF ? x : mx_f32_min(x, one);
}

mx_u32 mx_f32_ldexp(mx_u32 x, mx_u32 exponent, unsigned round) {
    if (round == MX_ROUND_NEAREST)
        return mx_f32_ldexp_nearest(x, exponent);
    mx_u32 r;
    fesetround(modes[round]);
    EACH {
        int32_t e = (int32_t)exponent[l];
        e = e > 400 ? 400 : e < -400 ? -400 : e;
        volatile double wide = ldexp((double)f(x[l]), e);
        volatile float v = (float)wide;
        r[l] = u(v);
    }
    fesetround(FE_TONEAREST);
    return r;
}

// The sum as a double is rounded to odd, so that the second rounding is right.
static double odd_fma(double a, double b, double c, unsigned round) {
    double p = a * b; // exact for floats
    double s = p + c;
    if (s == 0 && round == MX_ROUND_DOWN && (signbit(p) || signbit(c)))
        return -0.0; // what x - x is then
    if (!isfinite(s))
        return s;
    double t = s - p, error = (p - (s - t)) + (c - t);
    uint64_t bits;
    memcpy(&bits, &s, 8);
    if (error != 0 && !(bits & 1))
        s = nextafter(s, error > 0 ? INFINITY : -INFINITY);
    return s;
}

// Mantissa to [0.75, 1.5).
static float reduce_log(float x) {
    if (x == 0 || !isfinite(x))
        return x;
    int e;
    float m = frexpf(x, &e);
    return fabsf(m) < 0.75f ? m * 2 : m;
}

mx_u32 mx_f32_add_lscale(mx_u32 a, mx_u32 b) {
    mx_u32 r;
    EACH r[l] = u(f(a[l]) + reduce_log(f(b[l])));
    return r;
}

static double split(double x, unsigned mode, int *exponent) {
    *exponent = 0;
    if (x == 0 || !isfinite(x))
        return x;
    int e;
    double m = frexp(x, &e);
    if (mode & MX_FREXP_LOG && fabs(m) < 0.75) {
        m *= 2;
        e--;
    }
    if (mode & MX_FREXP_SQRT) {
        if (e & 1) {
            m *= 0.5;
            e++;
        }
        e /= 2;
    }
    *exponent = e;
    return m;
}

mx_u32 mx_f32_frexpm(mx_u32 x, unsigned mode) {
    mx_u32 r;
    int e;
    EACH r[l] = u((float)split(f(x[l]), mode, &e));
    return r;
}

mx_u32 mx_f32_frexpe(mx_u32 x, unsigned mode) {
    mx_u32 r;
    EACH {
        int e;
        split(f(x[l]), mode, &e);
        r[l] = (uint32_t)e;
    }
    return r;
}

static double integral(double x, unsigned round) {
    return round == MX_ROUND_NEAREST ? nearbyint(x)
           : round == MX_ROUND_UP    ? ceil(x)
           : round == MX_ROUND_DOWN  ? floor(x)
                                     : trunc(x);
}

mx_u32 mx_f32_round_slow(mx_u32 x, unsigned round) {
    mx_u32 r;
    EACH r[l] = u((float)integral(f(x[l]), round));
    return r;
}

static bool decide(unsigned condition, double a, double b) {
    switch (condition) {
    case 0:
        return a == b;
    case 1:
        return a > b;
    case 2:
        return a >= b;
    case 3:
        return a != b;
    case 4:
        return a < b;
    case 5:
        return a <= b;
    default:
        return a < b || a > b;
    }
}

mx_u32 mx_f32_compare_slow(mx_u32 a, mx_u32 b, unsigned condition) {
    mx_u32 r;
    if (condition == 7)
        return ~mx_f32_below(b, a);
    EACH r[l] = decide(condition, f(a[l]), f(b[l])) ? UINT32_MAX : 0;
    return r;
}

static int64_t to_int(double x, int64_t low, int64_t high, unsigned round) {
    if (x != x)
        return 0;
    x = integral(x, round);
    return x <= (double)low ? low : x >= (double)high ? high : (int64_t)x;
}

mx_u32 mx_f32_to_s32_slow(mx_u32 x, unsigned round) {
    mx_u32 r;
    EACH r[l] = (uint32_t)to_int(f(x[l]), INT32_MIN, INT32_MAX, round);
    return r;
}

mx_u32 mx_f32_to_u32(mx_u32 x, unsigned round) {
    mx_u32 r;
    EACH r[l] = (uint32_t)to_int(f(x[l]), 0, UINT32_MAX, round);
    return r;
}

mx_u32 mx_s32_to_f32_slow(mx_u32 x, unsigned round) {
    if (round == MX_ROUND_NEAREST)
        return (mx_u32) __builtin_convertvector((mx_i32)x, mx_f32);
    mx_u32 r;
    fesetround(modes[round]);
    EACH {
        volatile double d = (int32_t)x[l];
        volatile float v = (float)d;
        r[l] = u(v);
    }
    fesetround(FE_TONEAREST);
    return r;
}

mx_u32 mx_u32_to_f32_slow(mx_u32 x, unsigned round) {
    mx_u32 r;
    fesetround(modes[round]);
    EACH {
        volatile double d = x[l];
        volatile float v = (float)d;
        r[l] = u(v);
    }
    fesetround(FE_TONEAREST);
    return r;
}

mx_u32 mx_f32_to_f16_slow(mx_u32 x, unsigned round) {
    mx_u32 r;
    EACH r[l] = half_from(f(x[l]), round);
    return r;
}

mx_u32 mx_f16_to_f32_slow(mx_u32 x) {
    mx_u32 r;
    EACH r[l] = u(half_to((uint16_t)x[l]));
    return r;
}

#define HALVES(expression)                                                                                             \
    mx_u32 r;                                                                                                          \
    EACH {                                                                                                             \
        uint32_t both = 0;                                                                                             \
        for (unsigned i = 0; i < 32; i += 16)                                                                          \
            both |= (uint32_t)(uint16_t)(expression) << i;                                                             \
        r[l] = both;                                                                                                   \
    }                                                                                                                  \
    return r
#define H(v) half_to((uint16_t)((v)[l] >> i))
mx_u32 mx_h2_fma_slow(mx_u32 a, mx_u32 b, mx_u32 c, unsigned round) {
    HALVES(half_from(odd_fma(H(a), H(b), H(c), round), round));
}

mx_u32 mx_h2_add_slow(mx_u32 a, mx_u32 b, unsigned round) {
    HALVES(half_from(odd_fma(H(a), 1, H(b), round), round));
}

static uint16_t min16(uint16_t a, uint16_t b) {
    return half_from(f(min32(u(half_to(a)), u(half_to(b)))), 0);
}

static uint16_t max16(uint16_t a, uint16_t b) {
    return half_from(f(max32(u(half_to(a)), u(half_to(b)))), 0);
}

mx_u32 mx_h2_min_slow(mx_u32 a, mx_u32 b) {
    HALVES(min16((uint16_t)(a[l] >> i), (uint16_t)(b[l] >> i)));
}

mx_u32 mx_h2_max_slow(mx_u32 a, mx_u32 b) {
    HALVES(max16((uint16_t)(a[l] >> i), (uint16_t)(b[l] >> i)));
}

mx_u32 mx_h2_clamp(mx_u32 x, unsigned clamp) {
    if (clamp == MX_CLAMP_NONE)
        return x;
    mx_u32 zero = {0}, one = zero + 0x3c003c00u, minus = zero + 0xbc00bc00u;
    x = mx_h2_max(x, clamp == MX_CLAMP_M1_1 ? minus : zero);
    return clamp == MX_CLAMP_0_INF ? x : mx_h2_min(x, one);
}

mx_u32 mx_h2_compare_slow(mx_u32 a, mx_u32 b, unsigned condition) {
    if (condition == 7)
        return ~mx_h2_below(b, a);
    HALVES(decide(condition, H(a), H(b)) ? 0xffff : 0);
}

mx_u32 mx_f16_to_s32(mx_u32 x, unsigned round) {
    return mx_f32_to_s32(mx_f16_to_f32(x), round);
}

mx_u32 mx_f16_to_u32(mx_u32 x, unsigned round) {
    return mx_f32_to_u32(mx_f16_to_f32(x), round);
}

mx_u32 mx_s16_to_h2_slow(mx_u32 x, unsigned round) {
    HALVES(half_from((int16_t)(x[l] >> i), round));
}

mx_u32 mx_u16_to_h2_slow(mx_u32 x, unsigned round) {
    HALVES(half_from((uint16_t)(x[l] >> i), round));
}

mx_u32 mx_f32_to_h2_slow(mx_u32 a, mx_u32 b, unsigned round) {
    mx_u32 r;
    EACH r[l] = half_from(f(a[l]), round) | (uint32_t)half_from(f(b[l]), round) << 16;
    return r;
}

// ---- halves by way of fp32, which holds all that they are

static mx_u32 pair(mx_u32 low, mx_u32 high) {
    return (low & 0xffffu) | high << 16;
}

mx_u32 mx_h2_frexpm(mx_u32 x, unsigned mode) {
    return mx_f32_to_h2(mx_f32_frexpm(mx_f16_to_f32(x), mode), mx_f32_frexpm(mx_f16_to_f32(x >> 16), mode), 0);
}

mx_u32 mx_h2_frexpe(mx_u32 x, unsigned mode) {
    return pair(mx_f32_frexpe(mx_f16_to_f32(x), mode), mx_f32_frexpe(mx_f16_to_f32(x >> 16), mode));
}

mx_u32 mx_h2_round(mx_u32 x, unsigned round) {
    return mx_f32_to_h2(mx_f32_round(mx_f16_to_f32(x), round), mx_f32_round(mx_f16_to_f32(x >> 16), round), 0);
}

// Exact in fp32: beyond 2^60 every result is 0 or infinite.
static mx_u32 scaled(mx_u32 x, mx_i32 exponent) {
    mx_i32 high = exponent > 60, low = exponent < -60;
    exponent = (exponent & ~high & ~low) | (high & 60) | (low & -60);
    return (mx_u32)((mx_f32)mx_f16_to_f32(x) * (mx_f32)((exponent + 127) << 23));
}

mx_u32 mx_h2_ldexp(mx_u32 x, mx_u32 exponents, unsigned round) {
    mx_i32 low = (mx_i32)(exponents << 16) >> 16, high = (mx_i32)exponents >> 16;
    return mx_f32_to_h2(scaled(x, low), scaled(x >> 16, high), round);
}

static mx_u32 limited(mx_u32 x, int32_t least, int32_t most) {
    mx_i32 value = (mx_i32)x, high = value > most, low = value < least;
    return (mx_u32)((value & ~high & ~low) | (high & most) | (low & least));
}

mx_u32 mx_h2_to_s16(mx_u32 x, unsigned round) {
    mx_u32 low = mx_f16_to_s32(x, round), high = mx_f16_to_s32(x >> 16, round);
    return pair(limited(low, INT16_MIN, INT16_MAX), limited(high, INT16_MIN, INT16_MAX));
}

mx_u32 mx_h2_to_u16(mx_u32 x, unsigned round) {
    mx_u32 low = mx_f16_to_s32(x, round), high = mx_f16_to_s32(x >> 16, round);
    return pair(limited(low, 0, UINT16_MAX), limited(high, 0, UINT16_MAX));
}
