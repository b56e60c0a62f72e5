// SPDX-License-Identifier: MIT
// One function for each kind of operation: reads the operands, computes all lanes, writes the active ones.
#pragma once

#include "step.h"

// warp.c: an instruction that is not known, or a place where there is none
mx_handler mx_run_unknown;
// alu_int.c
mx_handler mx_run_nop, mx_run_mov, mx_run_clz32, mx_run_clz16, mx_run_clz8, mx_run_iabs32, mx_run_iabs16, mx_run_iabs8,
    mx_run_popcount, mx_run_bitrev, mx_run_wmask, mx_run_mkvec16, mx_run_mkvec8, mx_run_clper, mx_run_iadd, mx_run_isub,
    mx_run_imul, mx_run_hadd, mx_run_icmp, mx_run_iadd64, mx_run_isub64, mx_run_shaddx, mx_run_shift32, mx_run_shift16,
    mx_run_shift8, mx_run_shift64, mx_run_mux32, mx_run_mux16, mx_run_mux8, mx_run_idpadd_s8, mx_run_idpadd_u8,
    mx_run_iadd_imm32, mx_run_iadd_imm16, mx_run_iadd_imm8, mx_run_csel_u32, mx_run_csel_u16, mx_run_csel_s32,
    mx_run_csel_s16;
// alu_float.c
mx_handler mx_run_s32_to_f32, mx_run_u32_to_f32, mx_run_s16_to_h2, mx_run_u16_to_h2, mx_run_f16_to_s32,
    mx_run_f16_to_u32, mx_run_f16_to_f32, mx_run_f32_to_s32, mx_run_f32_to_u32, mx_run_fround_f32, mx_run_h2_to_s16,
    mx_run_h2_to_u16, mx_run_fround_h2, mx_run_frexpm_f32, mx_run_frexpm_h2, mx_run_frexpe_f32, mx_run_frexpe_h2,
    mx_run_frcp_f32, mx_run_frcp_f16, mx_run_frsq_f32, mx_run_frsq_f16, mx_run_fsin_table, mx_run_fcos_table,
    mx_run_flogd, mx_run_fadd_f32, mx_run_fmin_f32, mx_run_fmax_f32, mx_run_ldexp_f32, mx_run_fexp, mx_run_fadd_lscale,
    mx_run_fadd_h2, mx_run_fmin_h2, mx_run_fmax_h2, mx_run_f32_to_h2, mx_run_ldexp_h2, mx_run_fma_f32, mx_run_fma_h2,
    mx_run_fcmp_f32, mx_run_fcmp_h2, mx_run_fadd_imm32, mx_run_fadd_imm16, mx_run_csel_f32, mx_run_csel_h2,
    mx_run_fma_rscale;
// message.c
mx_handler mx_run_clock, mx_run_load, mx_run_store, mx_run_ld_pka, mx_run_lea_pka, mx_run_atom;
