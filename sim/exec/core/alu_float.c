// SPDX-License-Identifier: MIT
#include "../float/lanes_float.h"
#include "handlers.h"
#include "worker.h"

#define UNARY(name, call)                                                                                              \
    void mx_run_##name(struct mx_worker *w, const struct mx_step *s) {                                                 \
        mx_u32 a = mx_fetch(w, s, 0);                                                                                  \
        mx_put(w, s, call);                                                                                            \
    }
#define BINARY(name, call)                                                                                             \
    void mx_run_##name(struct mx_worker *w, const struct mx_step *s) {                                                 \
        mx_u32 a = mx_fetch(w, s, 0), b = mx_fetch(w, s, 1);                                                           \
        mx_put(w, s, call);                                                                                            \
    }

UNARY(s32_to_f32, mx_s32_to_f32(a, s->round))
UNARY(u32_to_f32, mx_u32_to_f32(a, s->round))
UNARY(s16_to_h2, mx_s16_to_h2(a, s->round))
UNARY(u16_to_h2, mx_u16_to_h2(a, s->round))
UNARY(f16_to_s32, mx_f16_to_s32(a, s->round))
UNARY(f16_to_u32, mx_f16_to_u32(a, s->round))
UNARY(f16_to_f32, mx_f16_to_f32(a))
UNARY(f32_to_s32, mx_f32_to_s32(a, s->round))
UNARY(f32_to_u32, mx_f32_to_u32(a, s->round))
UNARY(fround_f32, mx_f32_round(a, s->round))
UNARY(h2_to_s16, mx_h2_to_s16(a, s->round))
UNARY(h2_to_u16, mx_h2_to_u16(a, s->round))
UNARY(fround_h2, mx_h2_round(a, s->round))
UNARY(frexpm_f32, mx_f32_frexpm(a, s->variant))
UNARY(frexpe_f32, mx_f32_frexpe(a, s->variant))
UNARY(frexpm_h2, mx_h2_frexpm(a, s->variant))
UNARY(frexpe_h2, mx_h2_frexpe(a, s->variant))
UNARY(frcp_f32, mx_f32_rcp(a))
UNARY(frcp_f16, mx_f16_rcp(a))
UNARY(frsq_f32, mx_f32_rsq(a))
UNARY(frsq_f16, mx_f16_rsq(a))
UNARY(fsin_table, mx_f32_sin_table(a))
UNARY(fcos_table, mx_f32_cos_table(a))
UNARY(flogd, mx_f32_logd(a))

static mx_u32 clamp32(const struct mx_step *s, mx_u32 value) {
    return s->clamp ? mx_f32_clamp(value, s->clamp) : value;
}

static mx_u32 clamp16(const struct mx_step *s, mx_u32 value) {
    return s->clamp ? mx_h2_clamp(value, s->clamp) : value;
}

// A 32-bit result that only half a register takes is narrowed: the stock conversion from f32 to f16.
static void put32(struct mx_worker *w, const struct mx_step *s, mx_u32 value) {
    value = clamp32(s, value);
    mx_put(w, s, s->half ? mx_f32_to_f16(value, s->round) : value);
}

void mx_run_fadd_f32(struct mx_worker *w, const struct mx_step *s) {
    put32(w, s, mx_f32_add(mx_fetch(w, s, 0), mx_fetch(w, s, 1), s->half ? 0 : s->round));
}

void mx_run_fma_f32(struct mx_worker *w, const struct mx_step *s) {
    put32(w, s, mx_f32_fma(mx_fetch(w, s, 0), mx_fetch(w, s, 1), mx_fetch(w, s, 2), s->half ? 0 : s->round));
}

void mx_run_fma_h2(struct mx_worker *w, const struct mx_step *s) {
    mx_put(w, s, clamp16(s, mx_h2_fma(mx_fetch(w, s, 0), mx_fetch(w, s, 1), mx_fetch(w, s, 2), s->round)));
}

void mx_run_fma_rscale(struct mx_worker *w, const struct mx_step *s) {
    put32(w, s, mx_f32_fma_rscale(mx_fetch(w, s, 0), mx_fetch(w, s, 1), mx_fetch(w, s, 2), mx_fetch(w, s, 3)));
}

BINARY(fmin_f32, clamp32(s, mx_f32_min(a, b)))
BINARY(fmax_f32, clamp32(s, mx_f32_max(a, b)))
BINARY(ldexp_f32, mx_f32_ldexp(a, b, s->round))
BINARY(fexp, clamp32(s, mx_f32_exp(a, b)))
BINARY(fadd_lscale, clamp32(s, mx_f32_add_lscale(a, b)))
BINARY(fadd_h2, clamp16(s, mx_h2_add(a, b, s->round)))
BINARY(fmin_h2, clamp16(s, mx_h2_min(a, b)))
BINARY(fmax_h2, clamp16(s, mx_h2_max(a, b)))
BINARY(ldexp_h2, mx_h2_ldexp(a, b, s->round))
BINARY(f32_to_h2, mx_f32_to_h2(clamp32(s, a), clamp32(s, b), s->round))

UNARY(fadd_imm32, mx_f32_add(a, mx_splat(s->immediate), 0))
UNARY(fadd_imm16, mx_h2_add(a, mx_splat(s->immediate), 0))

static mx_u32 combine(const struct mx_step *s, mx_u32 yes, mx_u32 also) {
    return s->variant == 0 ? yes | also : yes & also;
}

static mx_u32 result_of(const struct mx_step *s, uint32_t one, uint32_t one_float) {
    return mx_splat(s->result == 0 ? one : s->result == 1 ? one_float : s->result == 2 ? UINT32_MAX : one);
}

void mx_run_fcmp_f32(struct mx_worker *w, const struct mx_step *s) {
    mx_u32 yes = mx_f32_compare(mx_fetch(w, s, 0), mx_fetch(w, s, 1), s->condition);
    mx_u32 also = (mx_u32)(mx_fetch(w, s, 2) != 0);
    mx_put(w, s, combine(s, yes, also) & result_of(s, 1, 0x3f800000));
}

void mx_run_fcmp_h2(struct mx_worker *w, const struct mx_step *s) {
    mx_u32 yes = mx_h2_compare(mx_fetch(w, s, 0), mx_fetch(w, s, 1), s->condition);
    mx_u32 also = (mx_u32)((mx_u16)mx_fetch(w, s, 2) != 0);
    mx_put(w, s, combine(s, yes, also) & result_of(s, 0x10001, 0x3c003c00));
}

void mx_run_csel_f32(struct mx_worker *w, const struct mx_step *s) {
    mx_u32 yes = mx_f32_compare(mx_fetch(w, s, 0), mx_fetch(w, s, 1), s->condition);
    mx_put(w, s, mx_blend(yes, mx_fetch(w, s, 2), mx_fetch(w, s, 3)));
}

void mx_run_csel_h2(struct mx_worker *w, const struct mx_step *s) {
    mx_u32 yes = mx_h2_compare(mx_fetch(w, s, 0), mx_fetch(w, s, 1), s->condition);
    mx_put(w, s, mx_blend(yes, mx_fetch(w, s, 2), mx_fetch(w, s, 3)));
}
