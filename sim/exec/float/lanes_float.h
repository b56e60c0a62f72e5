// SPDX-License-Identifier: MIT
// Floating-point operations of 16 lanes, as bit patterns; fp16 pairs have two halves a lane. Subnormals are kept, as
// the stock driver's programs ask for. A NaN result is the canonical quiet one (what the chip gives is not known).
#pragma once

#include <stdint.h>

#include "../lanes.h"

enum mx_round { MX_ROUND_NEAREST, MX_ROUND_UP, MX_ROUND_DOWN, MX_ROUND_ZERO };
enum mx_clamp { MX_CLAMP_NONE, MX_CLAMP_0_INF, MX_CLAMP_M1_1, MX_CLAMP_0_1 };
enum mx_frexp { MX_FREXP_PLAIN, MX_FREXP_SQRT, MX_FREXP_LOG };

mx_u32 mx_f32_fma_rounded(mx_u32 a, mx_u32 b, mx_u32 c, unsigned round);
mx_u32 mx_f32_min_slow(mx_u32 a, mx_u32 b);
mx_u32 mx_f32_max_slow(mx_u32 a, mx_u32 b);
mx_u32 mx_f32_clamp(mx_u32 x, unsigned clamp);
mx_u32 mx_f32_ldexp_nearest(mx_u32 x, mx_u32 exponent);
mx_u32 mx_f32_ldexp(mx_u32 x, mx_u32 exponent, unsigned round);
mx_u32 mx_f32_fma_rscale(mx_u32 a, mx_u32 b, mx_u32 c, mx_u32 exponent);
mx_u32 mx_f32_add_lscale(mx_u32 a, mx_u32 b);
mx_u32 mx_f32_rcp(mx_u32 x);
mx_u32 mx_f32_rsq(mx_u32 x);
mx_u32 mx_f32_sin_table(mx_u32 x);
mx_u32 mx_f32_cos_table(mx_u32 x);
mx_u32 mx_f32_logd(mx_u32 x);
mx_u32 mx_f32_exp(mx_u32 fixed, mx_u32 x);
mx_u32 mx_f32_frexpm(mx_u32 x, unsigned mode);
mx_u32 mx_f32_frexpe(mx_u32 x, unsigned mode);
mx_u32 mx_f32_round_slow(mx_u32 x, unsigned round);
mx_u32 mx_f32_compare_slow(mx_u32 a, mx_u32 b, unsigned condition);
mx_u32 mx_f32_to_s32_slow(mx_u32 x, unsigned round);
mx_u32 mx_f32_to_u32(mx_u32 x, unsigned round);
mx_u32 mx_s32_to_f32_slow(mx_u32 x, unsigned round);
mx_u32 mx_u32_to_f32_slow(mx_u32 x, unsigned round);
mx_u32 mx_f32_to_f16_slow(mx_u32 x, unsigned round);
mx_u32 mx_f16_to_f32_slow(mx_u32 x);
mx_u32 mx_h2_fma_slow(mx_u32 a, mx_u32 b, mx_u32 c, unsigned round);
mx_u32 mx_h2_add_slow(mx_u32 a, mx_u32 b, unsigned round);
mx_u32 mx_h2_min_slow(mx_u32 a, mx_u32 b);
mx_u32 mx_h2_max_slow(mx_u32 a, mx_u32 b);
mx_u32 mx_h2_clamp(mx_u32 x, unsigned clamp);
mx_u32 mx_h2_ldexp(mx_u32 x, mx_u32 exponents, unsigned round);
mx_u32 mx_h2_frexpm(mx_u32 x, unsigned mode);
mx_u32 mx_h2_frexpe(mx_u32 x, unsigned mode);
mx_u32 mx_h2_round(mx_u32 x, unsigned round);
mx_u32 mx_h2_compare_slow(mx_u32 a, mx_u32 b, unsigned condition);
mx_u32 mx_f16_rcp(mx_u32 x);
mx_u32 mx_f16_rsq(mx_u32 x);
mx_u32 mx_f16_to_s32(mx_u32 x, unsigned round);
mx_u32 mx_f16_to_u32(mx_u32 x, unsigned round);
mx_u32 mx_h2_to_s16(mx_u32 x, unsigned round);
mx_u32 mx_h2_to_u16(mx_u32 x, unsigned round);
mx_u32 mx_s16_to_h2_slow(mx_u32 x, unsigned round);
mx_u32 mx_u16_to_h2_slow(mx_u32 x, unsigned round);
mx_u32 mx_f32_to_h2_slow(mx_u32 a, mx_u32 b, unsigned round);

static inline mx_u32 mx_f32_quiet(mx_f32 value) {
    mx_u32 nan = (mx_u32)(value != value);
    return ((mx_u32)value & ~nan) | (nan & 0x7fc00000u);
}

static inline mx_u32 mx_f32_fma(mx_u32 a, mx_u32 b, mx_u32 c, unsigned round) {
    if (__builtin_expect(round != MX_ROUND_NEAREST, 0))
        return mx_f32_fma_rounded(a, b, c, round);
    mx_f32 x = (mx_f32)a, y = (mx_f32)b, z = (mx_f32)c, r;
    for (unsigned l = 0; l < MX_LANES; l++)
        r[l] = __builtin_fmaf(x[l], y[l], z[l]);
    return mx_f32_quiet(r);
}

static inline mx_u32 mx_f32_add(mx_u32 a, mx_u32 b, unsigned round) {
    if (__builtin_expect(round != MX_ROUND_NEAREST, 0))
        return mx_f32_fma_rounded(a, (mx_u32){0} + 0x3f800000u, b, round);
    return mx_f32_quiet((mx_f32)a + (mx_f32)b);
}

#include "lanes_fast.h"
