// SPDX-License-Identifier: MIT
// Every operation that is decoded: X(id, opcode, shift, mask, value, printed, unit, shape, handler). An instruction is
// the first row whose opcode (bits 48-56) is its own and whose bits `mask` from `shift` on have this value. The shape
// says what its operands and modifiers are (decode.c). Source: the facts on the stock driver's binaries,
// valhall-isa.md.
#pragma once

#define MX_SHIFT_ROWS(X, size, opcode, printed)                                                                        \
    X(RSHIFT_AND_##size, opcode, 24, 0x703, 0x000, "RSHIFT_AND." printed, SFU, SHIFT##size, shift##size)               \
    X(RSHIFT_OR_##size, opcode, 24, 0x703, 0x001, "RSHIFT_OR." printed, SFU, SHIFT##size, shift##size)                 \
    X(RSHIFT_XOR_##size, opcode, 24, 0x703, 0x002, "RSHIFT_XOR." printed, SFU, SHIFT##size, shift##size)               \
    X(LSHIFT_AND_##size, opcode, 24, 0x703, 0x100, "LSHIFT_AND." printed, SFU, SHIFT##size, shift##size)               \
    X(LSHIFT_OR_##size, opcode, 24, 0x703, 0x101, "LSHIFT_OR." printed, SFU, SHIFT##size, shift##size)                 \
    X(LSHIFT_XOR_##size, opcode, 24, 0x703, 0x102, "LSHIFT_XOR." printed, SFU, SHIFT##size, shift##size)               \
    X(RROT_AND_##size, opcode, 24, 0x703, 0x200, "RROT_AND." printed, SFU, SHIFT##size, shift##size)                   \
    X(RROT_OR_##size, opcode, 24, 0x703, 0x201, "RROT_OR." printed, SFU, SHIFT##size, shift##size)                     \
    X(RROT_XOR_##size, opcode, 24, 0x703, 0x202, "RROT_XOR." printed, SFU, SHIFT##size, shift##size)                   \
    X(LROT_AND_##size, opcode, 24, 0x703, 0x300, "LROT_AND." printed, SFU, SHIFT##size, shift##size)                   \
    X(LROT_OR_##size, opcode, 24, 0x703, 0x301, "LROT_OR." printed, SFU, SHIFT##size, shift##size)                     \
    X(LROT_XOR_##size, opcode, 24, 0x703, 0x302, "LROT_XOR." printed, SFU, SHIFT##size, shift##size)                   \
    X(ARSHIFT_AND_##size, opcode, 24, 0x703, 0x400, "ARSHIFT_AND." printed, SFU, SHIFT##size, shift##size)             \
    X(ARSHIFT_OR_##size, opcode, 24, 0x703, 0x401, "ARSHIFT_OR." printed, SFU, SHIFT##size, shift##size)               \
    X(ARSHIFT_XOR_##size, opcode, 24, 0x703, 0x402, "ARSHIFT_XOR." printed, SFU, SHIFT##size, shift##size)

#define MX_INTEGER_ROWS(X, id, opcode, printed, product, shape)                                                        \
    X(IADD_##id, opcode, 16, 15, 0, "IADD." printed, CVT, shape, iadd)                                                 \
    X(ISUB_##id, opcode, 16, 15, 1, "ISUB." printed, CVT, shape, isub)                                                 \
    X(IMUL_##id, opcode, 16, 15, 10, "IMUL." product, SFU, shape, imul)                                                \
    X(HADD_##id, opcode, 16, 15, 11, "HADD." printed, CVT, shape, hadd)                                                \
    X(ICMP_OR_##id, opcode + 0x50, 24, 3, 0, "ICMP_OR." printed, CVT, shape##C, icmp)                                  \
    X(ICMP_AND_##id, opcode + 0x50, 24, 3, 1, "ICMP_AND." printed, CVT, shape##C, icmp)                                \
    X(ICMP_MULTI_##id, opcode + 0x50, 24, 3, 2, "ICMP_MULTI." printed, CVT, shape##C, icmp)

#define MX_OPS(X)                                                                                                      \
    X(NOP, 0x000, 0, 0, 0, "NOP", CVT, NONE, nop)                                                                      \
    X(BRANCHZ, 0x01f, 0, 0, 0, "BRANCHZ", CVT, BRANCH, nop)                                                            \
    X(LD_GCLK, 0x044, 0, 0, 0, "LD_GCLK_U64", LS, CLOCK, clock)                                                        \
    X(BARRIER, 0x045, 0, 0, 0, "BARRIER", NONE, NONE, nop)                                                             \
    X(LOAD, 0x060, 0, 0, 0, "LOAD", LS, LOAD, load)                                                                    \
    X(STORE, 0x061, 0, 0, 0, "STORE", LS, STORE, store)                                                                \
    X(LD_PKA, 0x06a, 0, 0, 0, "LD_PKA", LS, LD_PKA, ld_pka)                                                            \
    X(LEA_PKA, 0x06b, 0, 0, 0, "LEA_PKA", LS, LEA_PKA, lea_pka)                                                        \
    X(ATOM, 0x068, 0, 0, 0, "ATOM", LS, ATOM, atom)                                                                    \
    X(ATOM1_RETURN, 0x069, 0, 0, 0, "ATOM1_RETURN", LS, ATOM1, atom)                                                   \
    X(ATOM_RETURN, 0x120, 0, 0, 0, "ATOM_RETURN", LS, ATOM_RETURN, atom)                                               \
    X(S8_TO_S32, 0x090, 16, 31, 0x00, "S8_TO_S32", CVT, BYTE_S, mov)                                                   \
    X(U8_TO_U32, 0x090, 16, 31, 0x10, "U8_TO_U32", CVT, BYTE_U, mov)                                                   \
    X(S8_TO_F32, 0x090, 16, 31, 0x01, "S8_TO_F32", CVT, BYTE_S, s32_to_f32)                                            \
    X(U8_TO_F32, 0x090, 16, 31, 0x11, "U8_TO_F32", CVT, BYTE_U, u32_to_f32)                                            \
    X(V2S8_TO_V2S16, 0x090, 16, 31, 0x02, "V2S8_TO_V2S16", CVT, BYTES_S, mov)                                          \
    X(V2U8_TO_V2U16, 0x090, 16, 31, 0x12, "V2U8_TO_V2U16", CVT, BYTES_U, mov)                                          \
    X(V2S8_TO_V2F16, 0x090, 16, 31, 0x03, "V2S8_TO_V2F16", CVT, BYTES_S, s16_to_h2)                                    \
    X(V2U8_TO_V2F16, 0x090, 16, 31, 0x13, "V2U8_TO_V2F16", CVT, BYTES_U, u16_to_h2)                                    \
    X(S16_TO_S32, 0x090, 16, 31, 0x04, "S16_TO_S32", CVT, HALF_S, mov)                                                 \
    X(U16_TO_U32, 0x090, 16, 31, 0x14, "U16_TO_U32", CVT, HALF_U, mov)                                                 \
    X(S16_TO_F32, 0x090, 16, 31, 0x05, "S16_TO_F32", CVT, HALF_S, s32_to_f32)                                          \
    X(U16_TO_F32, 0x090, 16, 31, 0x15, "U16_TO_F32", CVT, HALF_U, u32_to_f32)                                          \
    X(V2S16_TO_V2F16, 0x090, 16, 31, 0x07, "V2S16_TO_V2F16", CVT, I16_S1, s16_to_h2)                                   \
    X(V2U16_TO_V2F16, 0x090, 16, 31, 0x17, "V2U16_TO_V2F16", CVT, I16_U1, u16_to_h2)                                   \
    X(S32_TO_F32, 0x090, 16, 31, 0x09, "S32_TO_F32", CVT, I32_S1, s32_to_f32)                                          \
    X(U32_TO_F32, 0x090, 16, 31, 0x19, "U32_TO_F32", CVT, I32_U1, u32_to_f32)                                          \
    X(F16_TO_S32, 0x090, 16, 31, 0x0a, "F16_TO_S32", CVT, HALF_F, f16_to_s32)                                          \
    X(F16_TO_U32, 0x090, 16, 31, 0x1a, "F16_TO_U32", CVT, HALF_F, f16_to_u32)                                          \
    X(F16_TO_F32, 0x090, 16, 31, 0x0b, "F16_TO_F32", CVT, HALF_F, f16_to_f32)                                          \
    X(F32_TO_S32, 0x090, 16, 31, 0x0c, "F32_TO_S32", CVT, F32N_1, f32_to_s32)                                          \
    X(F32_TO_U32, 0x090, 16, 31, 0x1c, "F32_TO_U32", CVT, F32N_1, f32_to_u32)                                          \
    X(FROUND_F32, 0x090, 16, 31, 0x0d, "FROUND.f32", CVT, F32_1, fround_f32)                                           \
    X(V2F16_TO_V2S16, 0x090, 16, 31, 0x0e, "V2F16_TO_V2S16", CVT, H2_1, h2_to_s16)                                     \
    X(V2F16_TO_V2U16, 0x090, 16, 31, 0x1e, "V2F16_TO_V2U16", CVT, H2_1, h2_to_u16)                                     \
    X(FROUND_V2F16, 0x090, 16, 31, 0x0f, "FROUND.v2f16", CVT, H2_1, fround_h2)                                         \
    X(MOV, 0x091, 16, 31, 0x00, "MOV.i32", CVT, RAW_1, mov)                                                            \
    X(CLZ_U32, 0x091, 16, 31, 0x04, "CLZ.u32", CVT, RAW_1, clz32)                                                      \
    X(CLZ_V2U16, 0x091, 16, 31, 0x05, "CLZ.v2u16", CVT, SWZ_1, clz16)                                                  \
    X(CLZ_V4U8, 0x091, 16, 31, 0x06, "CLZ.v4u8", CVT, RAW_1, clz8)                                                     \
    X(IABS_S32, 0x091, 16, 31, 0x08, "IABS.s32", CVT, I32_S1, iabs32)                                                  \
    X(IABS_V2S16, 0x091, 16, 31, 0x09, "IABS.v2s16", CVT, I16_S1, iabs16)                                              \
    X(IABS_V4S8, 0x091, 16, 31, 0x0a, "IABS.v4s8", CVT, RAW_1, iabs8)                                                  \
    X(POPCOUNT, 0x091, 16, 31, 0x0c, "POPCOUNT.i32", SFU, RAW_1, popcount)                                             \
    X(BITREV, 0x091, 16, 31, 0x0d, "BITREV.i32", SFU, RAW_1, bitrev)                                                   \
    X(WMASK, 0x095, 0, 0, 0, "WMASK", CVT, RAW_1, wmask)                                                               \
    X(FREXPM_F32, 0x099, 16, 31, 0x00, "FREXPM.f32", CVT, F32H_1, frexpm_f32)                                          \
    X(FREXPM_V2F16, 0x099, 16, 31, 0x01, "FREXPM.v2f16", CVT, SWZ_1, frexpm_h2)                                        \
    X(FREXPE_F32, 0x099, 16, 31, 0x02, "FREXPE.f32", CVT, F32H_1, frexpe_f32)                                          \
    X(FREXPE_V2F16, 0x099, 16, 31, 0x03, "FREXPE.v2f16", CVT, SWZ_1, frexpe_h2)                                        \
    X(FRCP_F32, 0x09c, 16, 31, 0x00, "FRCP.f32", SFU, F32_1, frcp_f32)                                                 \
    X(FRCP_F16, 0x09c, 16, 31, 0x01, "FRCP.f16", SFU, F16_1, frcp_f16)                                                 \
    X(FRSQ_F32, 0x09c, 16, 31, 0x02, "FRSQ.f32", SFU, F32_1, frsq_f32)                                                 \
    X(FRSQ_F16, 0x09c, 16, 31, 0x03, "FRSQ.f16", SFU, F16_1, frsq_f16)                                                 \
    X(FSIN_TABLE, 0x09c, 16, 31, 0x04, "FSIN_TABLE.u6", SFU, RAW_1, fsin_table)                                        \
    X(FCOS_TABLE, 0x09c, 16, 31, 0x05, "FCOS_TABLE.u6", SFU, RAW_1, fcos_table)                                        \
    X(FLOGD, 0x09c, 16, 31, 0x08, "FLOGD.f32", SFU, F32_1, flogd)                                                      \
    X(FADD_F32, 0x0a4, 16, 15, 0, "FADD.f32", FMA, F32_2, fadd_f32)                                                    \
    X(FMIN_F32, 0x0a4, 16, 15, 2, "FMIN.f32", CVT, F32_2, fmin_f32)                                                    \
    X(FMAX_F32, 0x0a4, 16, 15, 3, "FMAX.f32", CVT, F32_2, fmax_f32)                                                    \
    X(LDEXP_F32, 0x0a4, 16, 15, 6, "LDEXP.f32", FMA, F32N_RAW, ldexp_f32)                                              \
    X(FEXP, 0x0a4, 16, 15, 8, "FEXP.f32", SFU, RAW_F32N, fexp)                                                         \
    X(FADD_LSCALE, 0x0a4, 16, 15, 9, "FADD_LSCALE.f32", FMA, F32N_2, fadd_lscale)                                      \
    X(FADD_V2F16, 0x0a5, 16, 15, 0, "FADD.v2f16", FMA, H2_2, fadd_h2)                                                  \
    X(FMIN_V2F16, 0x0a5, 16, 15, 2, "FMIN.v2f16", CVT, H2_2, fmin_h2)                                                  \
    X(FMAX_V2F16, 0x0a5, 16, 15, 3, "FMAX.v2f16", CVT, H2_2, fmax_h2)                                                  \
    X(V2F32_TO_V2F16, 0x0a5, 16, 15, 4, "V2F32_TO_V2F16", CVT, F32N_2, f32_to_h2)                                      \
    X(LDEXP_V2F16, 0x0a5, 16, 15, 6, "LDEXP.v2f16", FMA, H2N_RAW, ldexp_h2)                                            \
    X(MKVEC_V2I16, 0x0a1, 16, 15, 5, "MKVEC.v2i16", CVT, MKVEC16, mkvec16)                                             \
    X(CLPER, 0x0a0, 16, 15, 15, "CLPER.i32", SFU, CLPER, clper)                                                        \
    MX_INTEGER_ROWS(X, U32, 0x0a0, "u32", "i32", I32_U)                                                                \
    MX_INTEGER_ROWS(X, V2U16, 0x0a1, "v2u16", "v2i16", I16_U)                                                          \
    MX_INTEGER_ROWS(X, V4U8, 0x0a2, "v4u8", "v4i8", I8_U)                                                              \
    MX_INTEGER_ROWS(X, S32, 0x0a8, "s32", "s32", I32_S)                                                                \
    MX_INTEGER_ROWS(X, V2S16, 0x0a9, "v2s16", "v2s16", I16_S)                                                          \
    MX_INTEGER_ROWS(X, V4S8, 0x0aa, "v4s8", "v4s8", I8_S)                                                              \
    X(IADD_U64, 0x1a3, 16, 15, 0, "IADD.u64", CVT, I64_U, iadd64)                                                      \
    X(ISUB_U64, 0x1a3, 16, 15, 1, "ISUB.u64", CVT, I64_U, isub64)                                                      \
    X(SHADDX_U64, 0x1a3, 16, 15, 7, "SHADDX.u64", CVT, I64_U, shaddx)                                                  \
    X(IADD_S64, 0x1ab, 16, 15, 0, "IADD.s64", CVT, I64_S, iadd64)                                                      \
    X(ISUB_S64, 0x1ab, 16, 15, 1, "ISUB.s64", CVT, I64_S, isub64)                                                      \
    X(SHADDX_S64, 0x1ab, 16, 15, 7, "SHADDX.s64", CVT, I64_S, shaddx)                                                  \
    X(FMA_F32, 0x0b2, 0, 0, 0, "FMA.f32", FMA, F32_3, fma_f32)                                                         \
    X(FMA_V2F16, 0x0b3, 0, 0, 0, "FMA.v2f16", FMA, H2_3, fma_h2)                                                       \
    MX_SHIFT_ROWS(X, 32, 0x0b4, "i32")                                                                                 \
    MX_SHIFT_ROWS(X, 16, 0x0b5, "v2i16")                                                                               \
    MX_SHIFT_ROWS(X, 8, 0x0b6, "v4i8")                                                                                 \
    MX_SHIFT_ROWS(X, 64, 0x1b7, "i64")                                                                                 \
    X(MUX_I32, 0x0b8, 0, 0, 0, "MUX.i32", SFU, RAW_3, mux32)                                                           \
    X(MUX_V2I16, 0x0b9, 0, 0, 0, "MUX.v2i16", SFU, SWZ_3, mux16)                                                       \
    X(MUX_V4I8, 0x0ba, 0, 0, 0, "MUX.v4i8", SFU, RAW_3, mux8)                                                          \
    X(MKVEC_V2I8, 0x0bd, 0, 0, 0, "MKVEC.v2i8", CVT, MKVEC8, mkvec8)                                                   \
    X(IDPADD_V4S8, 0x0c2, 24, 1, 0, "IDPADD.v4s8", FMA, RAW_3, idpadd_s8)                                              \
    X(IDPADD_V4U8, 0x0c2, 24, 1, 1, "IDPADD.v4u8", FMA, RAW_3, idpadd_u8)                                              \
    X(FCMP_OR_F32, 0x0f4, 24, 3, 0, "FCMP_OR.f32", CVT, F32_2C, fcmp_f32)                                              \
    X(FCMP_AND_F32, 0x0f4, 24, 3, 1, "FCMP_AND.f32", CVT, F32_2C, fcmp_f32)                                            \
    X(FCMP_OR_V2F16, 0x0f5, 24, 3, 0, "FCMP_OR.v2f16", CVT, H2_2C, fcmp_h2)                                            \
    X(FCMP_AND_V2F16, 0x0f5, 24, 3, 1, "FCMP_AND.v2f16", CVT, H2_2C, fcmp_h2)                                          \
    X(IADD_IMM_I32, 0x110, 0, 0, 0, "IADD_IMM.i32", CVT, IMM, iadd_imm32)                                              \
    X(IADD_IMM_V2I16, 0x111, 0, 0, 0, "IADD_IMM.v2i16", CVT, IMM, iadd_imm16)                                          \
    X(IADD_IMM_V4I8, 0x112, 0, 0, 0, "IADD_IMM.v4i8", CVT, IMM, iadd_imm8)                                             \
    X(FADD_IMM_F32, 0x114, 0, 0, 0, "FADD_IMM.f32", FMA, IMM, fadd_imm32)                                              \
    X(FADD_IMM_V2F16, 0x115, 0, 0, 0, "FADD_IMM.v2f16", FMA, IMM, fadd_imm16)                                          \
    X(CSEL_U32, 0x150, 0, 0, 0, "CSEL.u32", CVT, RAW_4, csel_u32)                                                      \
    X(CSEL_V2U16, 0x151, 0, 0, 0, "CSEL.v2u16", CVT, RAW_4, csel_u16)                                                  \
    X(CSEL_F32, 0x154, 0, 0, 0, "CSEL.f32", CVT, RAW_4, csel_f32)                                                      \
    X(CSEL_V2F16, 0x155, 0, 0, 0, "CSEL.v2f16", CVT, RAW_4, csel_h2)                                                   \
    X(CSEL_S32, 0x158, 0, 0, 0, "CSEL.s32", CVT, RAW_4, csel_s32)                                                      \
    X(CSEL_V2S16, 0x159, 0, 0, 0, "CSEL.v2s16", CVT, RAW_4, csel_s16)                                                  \
    X(FMA_RSCALE, 0x160, 0, 0, 0, "FMA_RSCALE.f32", FMA, RSCALE, fma_rscale)
