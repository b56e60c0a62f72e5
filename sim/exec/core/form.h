// SPDX-License-Identifier: MIT
// The form of instructions: which bits of a word mean what, by operation, and how the driver's disassembler writes
// them. Both the decoder, which takes no word with a bit whose meaning is not known, and print.c go by it.
#pragma once

#include "step.h"

// What an operation's operands are. Names: number of operands; N: signs only; H: halves only; C: compares; RAW: as they
// are.
enum mx_shape {
    NONE,
    BRANCH,
    CLOCK,
    LOAD,
    STORE,
    LD_PKA,
    LEA_PKA,
    ATOM,
    ATOM1,
    ATOM_RETURN,
    BYTE_S,
    BYTE_U,
    BYTES_S,
    BYTES_U,
    HALF_S,
    HALF_U,
    HALF_F,
    I16_S1,
    I16_U1,
    I32_S1,
    I32_U1,
    F32_1,
    F32N_1,
    F32H_1,
    H2_1,
    F16_1,
    RAW_1,
    SWZ_1,
    F32_2,
    F32N_2,
    F32N_RAW,
    RAW_F32N,
    H2_2,
    H2N_RAW,
    F32_2C,
    H2_2C,
    MKVEC16,
    CLPER,
    I32_U,
    I32_S,
    I16_U,
    I16_S,
    I8_U,
    I8_S,
    I32_UC,
    I32_SC,
    I16_UC,
    I16_SC,
    I8_UC,
    I8_SC,
    I64_U,
    I64_S,
    F32_3,
    H2_3,
    RAW_3,
    SWZ_3,
    RAW_4,
    SHIFT8,
    SHIFT16,
    SHIFT32,
    SHIFT64,
    MKVEC8,
    IMM,
    RSCALE,
};

// A row of ops.h.
struct mx_row {
    uint16_t opcode, mask;
    uint8_t shift, unit, shape;
    uint16_t value;
    mx_handler *run;
    const char *printed;
};
extern const struct mx_row mx_rows[MX_OP_COUNT];

static inline uint32_t mx_bits(uint64_t word, unsigned first, unsigned count) {
    return (uint32_t)(word >> first & ((UINT64_C(1) << count) - 1));
}

// A field of a word, and what its values are written as: "" for none; NULL for values that do not exist.
struct mx_field {
    uint8_t first, count;
    const char *names[16];
};
extern const struct mx_field mx_field_flow;

// The fields of the operation's modifiers, in the order in which they are written; the list ends with NULL.
#define MX_MODIFIERS_MAX 6
void mx_form_modifiers(const struct mx_row *row, uint64_t word, const struct mx_field *modifiers[MX_MODIFIERS_MAX]);

unsigned mx_form_sources(const struct mx_row *row); // in the low bytes of the word

// The fields that modify a source, likewise.
void mx_form_operand(const struct mx_row *row, unsigned source, const struct mx_field *modifiers[MX_MODIFIERS_MAX]);

// Whether every bit that is set, and every value, has a meaning. The word is the row's: opcodes agree.
bool mx_form_fits(const struct mx_row *row, uint64_t word);
