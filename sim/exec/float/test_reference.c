// SPDX-License-Identifier: MIT
#include <math.h>
#include <string.h>

#include "exact.h"
#include "float_test.h"
#include "lanes_float.h"

// ---- the lanes' functions, all with the same arguments

#define LANES(name, ...)                                                                                               \
    static mx_u32 lanes_##name(mx_u32 a, mx_u32 b, mx_u32 c, unsigned mode) {                                          \
        (void)a, (void)b, (void)c, (void)mode;                                                                         \
        return mx_##name(__VA_ARGS__);                                                                                 \
    }
LANES(f32_fma, a, b, c, mode)
LANES(f32_add, a, b, mode)
LANES(f32_min, a, b)
LANES(f32_max, a, b)
LANES(f32_min_slow, a, b)
LANES(f32_max_slow, a, b)
LANES(f32_clamp, a, mode)
LANES(f32_ldexp, a, b, mode)
LANES(f32_add_lscale, a, b)
LANES(f32_rcp, a)
LANES(f32_rsq, a)
LANES(f32_sin_table, a)
LANES(f32_cos_table, a)
LANES(f32_logd, a)
LANES(f32_exp, a, b)
LANES(f32_frexpm, a, mode)
LANES(f32_frexpe, a, mode)
LANES(f32_round, a, mode)
LANES(f32_round_slow, a, mode)
LANES(f32_compare, a, b, mode)
LANES(f32_compare_slow, a, b, mode)
LANES(f32_to_s32, a, mode)
LANES(f32_to_s32_slow, a, mode)
LANES(f32_to_u32, a, mode)
LANES(s32_to_f32, a, mode)
LANES(s32_to_f32_slow, a, mode)
LANES(u32_to_f32, a, mode)
LANES(u32_to_f32_slow, a, mode)
LANES(f32_to_f16, a, mode)
LANES(f32_to_f16_slow, a, mode)
LANES(f16_to_f32, a)
LANES(f16_to_f32_slow, a)
LANES(h2_fma, a, b, c, mode)
LANES(h2_fma_slow, a, b, c, mode)
LANES(h2_add, a, b, mode)
LANES(h2_add_slow, a, b, mode)
LANES(h2_min, a, b)
LANES(h2_max, a, b)
LANES(h2_min_slow, a, b)
LANES(h2_max_slow, a, b)
LANES(h2_clamp, a, mode)
LANES(h2_ldexp, a, b, mode)
LANES(h2_frexpm, a, mode)
LANES(h2_frexpe, a, mode)
LANES(h2_round, a, mode)
LANES(h2_compare, a, b, mode)
LANES(h2_compare_slow, a, b, mode)
LANES(f16_rcp, a)
LANES(f16_rsq, a)
LANES(f16_to_s32, a, mode)
LANES(f16_to_u32, a, mode)
LANES(h2_to_s16, a, mode)
LANES(h2_to_u16, a, mode)
LANES(s16_to_h2, a, mode)
LANES(s16_to_h2_slow, a, mode)
LANES(u16_to_h2, a, mode)
LANES(u16_to_h2_slow, a, mode)

// The exponent comes from the third operand, too.
static mx_u32 lanes_f32_fma_rscale(mx_u32 a, mx_u32 b, mx_u32 c, unsigned mode) {
    static const int32_t added[] = {0, 24, -130, 700, -700};
    return mx_f32_fma_rscale(a, b, c, (mx_u32)((mx_i32)c % 160 + added[mode]));
}

// The second half comes from the second operand.
static mx_u32 lanes_f32_to_h2(mx_u32 a, mx_u32 b, mx_u32 c, unsigned mode) {
    (void)c;
    return mx_f32_to_h2(a, b, mode);
}

static mx_u32 lanes_f32_to_h2_slow(mx_u32 a, mx_u32 b, mx_u32 c, unsigned mode) {
    (void)c;
    return mx_f32_to_h2_slow(a, b, mode);
}

// ---- references

#define REFERENCE(name) static uint32_t name(uint32_t a, uint32_t b, uint32_t c, unsigned mode)
#define UNUSED (void)a, (void)b, (void)c, (void)mode
#define F16 MX_EXACT_F16
#define F32 MX_EXACT_F32

static struct mx_exact wide(uint32_t a) {
    return mx_exact_from(a, F32);
}

static struct mx_exact narrow(uint32_t a) {
    return mx_exact_from(a, F16);
}

REFERENCE(fma32) {
    return mx_exact_to(mx_exact_add(mx_exact_multiply(wide(a), wide(b)), wide(c), mode), F32, mode);
}

REFERENCE(fma16) {
    return mx_exact_to(mx_exact_add(mx_exact_multiply(narrow(a), narrow(b)), narrow(c), mode), F16, mode);
}

REFERENCE(add32) {
    UNUSED;
    return mx_exact_to(mx_exact_add(wide(a), wide(b), mode), F32, mode);
}

uint32_t reference_h2_add(uint32_t a, uint32_t b, uint32_t c, unsigned mode) {
    UNUSED;
    return mx_exact_to(mx_exact_add(narrow(a), narrow(b), mode), F16, mode);
}

static uint32_t least(uint32_t a, uint32_t b, enum mx_exact_format format) {
    struct mx_exact x = mx_exact_from(a, format), y = mx_exact_from(b, format);
    int order = mx_exact_compare(x, y);
    if (order == 2)
        return mx_exact_to(x.kind == MX_EXACT_NAN ? y : x, format, 0);
    return order < 0 || (order == 0 && x.negative) ? a : b;
}

static uint32_t most(uint32_t a, uint32_t b, enum mx_exact_format format) {
    struct mx_exact x = mx_exact_from(a, format), y = mx_exact_from(b, format);
    return mx_exact_compare(x, y) == 2 ? least(a, b, format) : least(a, b, format) == a ? b : a;
}

REFERENCE(min32) {
    UNUSED;
    return least(a, b, F32);
}

REFERENCE(max32) {
    UNUSED;
    return most(a, b, F32);
}

REFERENCE(min16) {
    UNUSED;
    return least(a, b, F16);
}

REFERENCE(max16) {
    UNUSED;
    return most(a, b, F16);
}

static uint32_t clamped(uint32_t a, unsigned clamp, enum mx_exact_format format, uint32_t one, uint32_t sign) {
    if (clamp != 0)
        a = most(a, clamp == 2 ? one | sign : 0, format);
    return clamp >= 2 ? least(a, one, format) : a;
}

REFERENCE(clamp32) {
    UNUSED;
    return clamped(a, mode, F32, 0x3f800000, 0x80000000);
}

REFERENCE(clamp16) {
    UNUSED;
    return clamped(a, mode, F16, 0x3c00, 0x8000);
}

REFERENCE(ldexp32) {
    UNUSED;
    return mx_exact_to(mx_exact_scale(wide(a), (int32_t)b), F32, mode);
}

REFERENCE(ldexp16) {
    UNUSED;
    return mx_exact_to(mx_exact_scale(narrow(a), (int16_t)b), F16, mode);
}

REFERENCE(rscale32) {
    static const int32_t added[] = {0, 24, -130, 700, -700};
    struct mx_exact sum = mx_exact_add(mx_exact_multiply(wide(a), wide(b)), wide(c), 0);
    return mx_exact_to(mx_exact_scale(sum, (int32_t)c % 160 + added[mode]), F32, 0);
}

// The mantissa by definition, found by halving and doubling.
static uint32_t frexp_of(uint32_t a, unsigned mode, enum mx_exact_format format, int32_t *exponent) {
    struct mx_exact x = mx_exact_from(a, format), m = x;
    *exponent = 0;
    if (x.kind != MX_EXACT_NUMBER || x.mantissa == 0)
        return mx_exact_to(x, format, 0);
    m.negative = false;
    int32_t shift = mode == MX_FREXP_SQRT ? 2 : 1, quarters = mode == MX_FREXP_LOG ? 6 : 4; // of the upper bound
    struct mx_exact high = mx_exact_scale(mx_exact_from_integer(quarters), -2), low = mx_exact_scale(high, -shift);
    while (mx_exact_compare(m, high) >= 0) {
        m = mx_exact_scale(m, -shift);
        ++*exponent;
    }
    while (mx_exact_compare(m, low) < 0) {
        m = mx_exact_scale(m, shift);
        --*exponent;
    }
    m.negative = x.negative;
    return mx_exact_to(m, format, 0);
}

REFERENCE(frexpm32) {
    UNUSED;
    int32_t exponent;
    return frexp_of(a, mode, F32, &exponent);
}

REFERENCE(frexpe32) {
    UNUSED;
    int32_t exponent;
    frexp_of(a, mode, F32, &exponent);
    return (uint32_t)exponent;
}

REFERENCE(frexpm16) {
    UNUSED;
    int32_t exponent;
    return frexp_of(a, mode, F16, &exponent);
}

REFERENCE(frexpe16) {
    UNUSED;
    int32_t exponent;
    frexp_of(a, mode, F16, &exponent);
    return (uint16_t)exponent;
}

REFERENCE(lscale32) {
    UNUSED;
    int32_t exponent;
    uint32_t mantissa = frexp_of(b, MX_FREXP_LOG, F32, &exponent);
    return mx_exact_to(mx_exact_add(wide(a), wide(mantissa), 0), F32, 0);
}

static uint32_t flushed(uint32_t a) {
    return (a & 0x7f800000) == 0 ? a & 0x80000000 : a;
}

REFERENCE(rcp32) {
    UNUSED;
    return flushed(mx_exact_to(mx_exact_reciprocal(wide(flushed(a))), F32, 0));
}

REFERENCE(rcp16) {
    UNUSED;
    return mx_exact_to(mx_exact_reciprocal(narrow(a)), F16, 0);
}

REFERENCE(rsq32) {
    UNUSED;
    return mx_exact_to(mx_exact_reciprocal_root(wide(flushed(a))), F32, 0);
}

REFERENCE(rsq16) {
    UNUSED;
    return mx_exact_to(mx_exact_reciprocal_root(narrow(a)), F16, 0);
}

static uint32_t from_long(long double value) {
    float narrowed = (float)value;
    uint32_t bits;
    memcpy(&bits, &narrowed, 4);
    return value != value ? 0x7fc00000 : bits;
}

#define PI 3.141592653589793238462643383279502884L

REFERENCE(sine) {
    UNUSED;
    return a % 32 == 0 ? 0 : from_long(sinl((long double)(a % 64) * PI / 32));
}

REFERENCE(cosine) {
    UNUSED;
    return a % 32 == 16 ? 0 : from_long(cosl((long double)(a % 64) * PI / 32));
}

REFERENCE(logd32) {
    UNUSED;
    int32_t exponent;
    uint32_t mantissa = frexp_of(a, MX_FREXP_LOG, F32, &exponent);
    float m;
    memcpy(&m, &mantissa, 4);
    if ((a & 0x7fffffff) == 0)
        return 0x7f800000;
    if (a == 0x7f800000)
        return 0x3f800000;
    return from_long(m < 0 ? NAN : m == 1 ? 1.442695040888963407359924681001892137L : log2l(m) / ((long double)m - 1));
}

REFERENCE(exp32) {
    UNUSED;
    if (wide(b).kind == MX_EXACT_NAN)
        return 0x7fc00000;
    if (a == 0x7fffffff || a == 0x80000000) // saturated: beyond the range
        return a == 0x80000000 ? 0 : 0x7f800000;
    return from_long(exp2l((long double)(int32_t)a / 16777216));
}

REFERENCE(round32) {
    UNUSED;
    return mx_exact_to(mx_exact_integral(wide(a), mode), F32, 0);
}

REFERENCE(round16) {
    UNUSED;
    return mx_exact_to(mx_exact_integral(narrow(a), mode), F16, 0);
}

// By order: -1, 0, 1, 2 unordered.
static bool holds(int order, unsigned condition) {
    static const uint8_t by_condition[7] = {2, 4, 6, 13, 1, 3, 5}; // bits: less, equal, greater, unordered
    return by_condition[condition] >> (order + 1) & 1;
}

// A key that grows in the total order.
static int64_t place(uint32_t a, uint32_t sign) {
    return a & sign ? -1 - (int64_t)(a & (sign - 1)) : (int64_t)a;
}

REFERENCE(compare32) {
    UNUSED;
    bool yes =
        mode == 7 ? place(a, 0x80000000) <= place(b, 0x80000000) : holds(mx_exact_compare(wide(a), wide(b)), mode);
    return yes ? UINT32_MAX : 0;
}

REFERENCE(compare16) {
    UNUSED;
    bool yes = mode == 7 ? place(a, 0x8000) <= place(b, 0x8000) : holds(mx_exact_compare(narrow(a), narrow(b)), mode);
    return yes ? UINT16_MAX : 0;
}

REFERENCE(f32_to_s32) {
    UNUSED;
    return (uint32_t)mx_exact_to_integer(wide(a), INT32_MIN, INT32_MAX, mode);
}

REFERENCE(f32_to_u32) {
    UNUSED;
    return (uint32_t)mx_exact_to_integer(wide(a), 0, UINT32_MAX, mode);
}

REFERENCE(s32_to_f32) {
    UNUSED;
    return mx_exact_to(mx_exact_from_integer((int32_t)a), F32, mode);
}

REFERENCE(u32_to_f32) {
    UNUSED;
    return mx_exact_to(mx_exact_from_integer(a), F32, mode);
}

REFERENCE(f32_to_f16) {
    UNUSED;
    return mx_exact_to(wide(a), F16, mode);
}

REFERENCE(f32_to_h2) {
    UNUSED;
    return mx_exact_to(wide(a), F16, mode) | mx_exact_to(wide(b), F16, mode) << 16;
}

REFERENCE(f16_to_f32) {
    UNUSED;
    return mx_exact_to(narrow(a), F32, 0);
}

REFERENCE(f16_to_s32) {
    UNUSED;
    return (uint32_t)mx_exact_to_integer(narrow(a), INT32_MIN, INT32_MAX, mode);
}

REFERENCE(f16_to_u32) {
    UNUSED;
    return (uint32_t)mx_exact_to_integer(narrow(a), 0, UINT32_MAX, mode);
}

REFERENCE(f16_to_s16) {
    UNUSED;
    return (uint16_t)mx_exact_to_integer(narrow(a), INT16_MIN, INT16_MAX, mode);
}

REFERENCE(f16_to_u16) {
    UNUSED;
    return (uint16_t)mx_exact_to_integer(narrow(a), 0, UINT16_MAX, mode);
}

REFERENCE(s16_to_f16) {
    UNUSED;
    return mx_exact_to(mx_exact_from_integer((int16_t)a), F16, mode);
}

REFERENCE(u16_to_f16) {
    UNUSED;
    return mx_exact_to(mx_exact_from_integer((uint16_t)a), F16, mode);
}

const struct function functions[] = {
    {"f32_fma", WORDS, 3, 4, 0, lanes_f32_fma, fma32},
    {"f32_add", WORDS, 2, 4, 0, lanes_f32_add, add32},
    {"f32_min", WORDS, 2, 1, 0, lanes_f32_min, min32},
    {"f32_max", WORDS, 2, 1, 0, lanes_f32_max, max32},
    {"f32_min_slow", WORDS, 2, 1, 0, lanes_f32_min_slow, min32},
    {"f32_max_slow", WORDS, 2, 1, 0, lanes_f32_max_slow, max32},
    {"f32_clamp", WORDS, 1, 4, 0, lanes_f32_clamp, clamp32},
    {"f32_ldexp", WORDS, 2, 4, 0, lanes_f32_ldexp, ldexp32},
    {"f32_fma_rscale", WORDS, 3, 5, 0, lanes_f32_fma_rscale, rscale32},
    {"f32_add_lscale", WORDS, 2, 1, 0, lanes_f32_add_lscale, lscale32},
    {"f32_rcp", WORDS, 1, 1, 0, lanes_f32_rcp, rcp32},
    {"f32_rsq", WORDS, 1, 1, 1, lanes_f32_rsq, rsq32},
    {"f32_sin_table", WORDS, 1, 1, 0, lanes_f32_sin_table, sine},
    {"f32_cos_table", WORDS, 1, 1, 0, lanes_f32_cos_table, cosine},
    {"f32_logd", WORDS, 1, 1, 1, lanes_f32_logd, logd32},
    {"f32_exp", WORDS, 2, 1, 1, lanes_f32_exp, exp32},
    {"f32_frexpm", WORDS, 1, 3, 0, lanes_f32_frexpm, frexpm32},
    {"f32_frexpe", WORDS, 1, 3, 0, lanes_f32_frexpe, frexpe32},
    {"f32_round", WORDS, 1, 4, 0, lanes_f32_round, round32},
    {"f32_round_slow", WORDS, 1, 4, 0, lanes_f32_round_slow, round32},
    {"f32_compare", WORDS, 2, 8, 0, lanes_f32_compare, compare32},
    {"f32_compare_slow", WORDS, 2, 8, 0, lanes_f32_compare_slow, compare32},
    {"f32_to_s32", WORDS, 1, 4, 0, lanes_f32_to_s32, f32_to_s32},
    {"f32_to_s32_slow", WORDS, 1, 4, 0, lanes_f32_to_s32_slow, f32_to_s32},
    {"f32_to_u32", WORDS, 1, 4, 0, lanes_f32_to_u32, f32_to_u32},
    {"s32_to_f32", WORDS, 1, 4, 0, lanes_s32_to_f32, s32_to_f32},
    {"s32_to_f32_slow", WORDS, 1, 4, 0, lanes_s32_to_f32_slow, s32_to_f32},
    {"u32_to_f32", WORDS, 1, 4, 0, lanes_u32_to_f32, u32_to_f32},
    {"u32_to_f32_slow", WORDS, 1, 4, 0, lanes_u32_to_f32_slow, u32_to_f32},
    {"f32_to_f16", WORDS, 1, 4, 0, lanes_f32_to_f16, f32_to_f16},
    {"f32_to_f16_slow", WORDS, 1, 4, 0, lanes_f32_to_f16_slow, f32_to_f16},
    {"f32_to_h2", WORDS, 2, 4, 0, lanes_f32_to_h2, f32_to_h2},
    {"f32_to_h2_slow", WORDS, 2, 4, 0, lanes_f32_to_h2_slow, f32_to_h2},
    {"f16_to_f32", LOW, 1, 1, 0, lanes_f16_to_f32, f16_to_f32},
    {"f16_to_f32_slow", LOW, 1, 1, 0, lanes_f16_to_f32_slow, f16_to_f32},
    {"f16_rcp", LOW, 1, 1, 0, lanes_f16_rcp, rcp16},
    {"f16_rsq", LOW, 1, 1, 0, lanes_f16_rsq, rsq16},
    {"f16_to_s32", LOW, 1, 4, 0, lanes_f16_to_s32, f16_to_s32},
    {"f16_to_u32", LOW, 1, 4, 0, lanes_f16_to_u32, f16_to_u32},
    {"h2_fma", HALVES, 3, 4, 0, lanes_h2_fma, fma16},
    {"h2_fma_slow", HALVES, 3, 4, 0, lanes_h2_fma_slow, fma16},
    {"h2_add", HALVES, 2, 4, 0, lanes_h2_add, reference_h2_add},
    {"h2_add_slow", HALVES, 2, 4, 0, lanes_h2_add_slow, reference_h2_add},
    {"h2_min", HALVES, 2, 1, 0, lanes_h2_min, min16},
    {"h2_max", HALVES, 2, 1, 0, lanes_h2_max, max16},
    {"h2_min_slow", HALVES, 2, 1, 0, lanes_h2_min_slow, min16},
    {"h2_max_slow", HALVES, 2, 1, 0, lanes_h2_max_slow, max16},
    {"h2_clamp", HALVES, 1, 4, 0, lanes_h2_clamp, clamp16},
    {"h2_ldexp", HALVES, 2, 4, 0, lanes_h2_ldexp, ldexp16},
    {"h2_frexpm", HALVES, 1, 3, 0, lanes_h2_frexpm, frexpm16},
    {"h2_frexpe", HALVES, 1, 3, 0, lanes_h2_frexpe, frexpe16},
    {"h2_round", HALVES, 1, 4, 0, lanes_h2_round, round16},
    {"h2_compare", HALVES, 2, 8, 0, lanes_h2_compare, compare16},
    {"h2_compare_slow", HALVES, 2, 8, 0, lanes_h2_compare_slow, compare16},
    {"h2_to_s16", HALVES, 1, 4, 0, lanes_h2_to_s16, f16_to_s16},
    {"h2_to_u16", HALVES, 1, 4, 0, lanes_h2_to_u16, f16_to_u16},
    {"s16_to_h2", HALVES, 1, 4, 0, lanes_s16_to_h2, s16_to_f16},
    {"s16_to_h2_slow", HALVES, 1, 4, 0, lanes_s16_to_h2_slow, s16_to_f16},
    {"u16_to_h2", HALVES, 1, 4, 0, lanes_u16_to_h2, u16_to_f16},
    {"u16_to_h2_slow", HALVES, 1, 4, 0, lanes_u16_to_h2_slow, u16_to_f16},
    {0},
};
