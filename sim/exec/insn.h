// SPDX-License-Identifier: MIT
// Valhall v10 instructions, decoded. The format: bits as found in the stock driver's binaries (Mesa 26.1.6 and others),
// names as its disassembler prints them.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/ops.h"

// The execution unit that an instruction occupies.
enum mx_unit { MX_UNIT_NONE, MX_UNIT_FMA, MX_UNIT_CVT, MX_UNIT_SFU, MX_UNIT_LS };

// One operation a number, types folded in (MX_OP_IADD_U32, ...): the list stands in ops.h as
// X(name, printed, unit, sources, ...), from which the enumeration and the table of names are made.
#define MX_OP_ENUM(id, ...) MX_OP_##id,
enum mx_op_number { MX_OPS(MX_OP_ENUM) MX_OP_COUNT };

enum mx_source_kind { MX_SOURCE_REGISTER, MX_SOURCE_FAU, MX_SOURCE_CONSTANT, MX_SOURCE_SPECIAL };

struct mx_source {
    uint8_t kind;  // enum mx_source_kind
    uint8_t index; // register, FAU word, constant's number, special entry
    uint8_t words; // 1, or 2 for 64-bit operands (index is the low one), or the staging registers of a message
};

struct mx_insn {
    uint64_t word;
    uint32_t index; // in the program
    uint16_t op;    // enum mx_op_number
    uint8_t unit;   // enum mx_unit
    uint8_t flow;   // bits 59-62
    uint8_t source_count;
    struct mx_source sources[4];    // of a STORE and an atomic, staging registers come last
    uint8_t written, written_count; // first register written and how many; 0: none
    uint8_t written_half;           // 0: whole, 1 low, 2 high half only
};

// A decoded kernel.
struct mx_program;
uint64_t mx_program_hash(const struct mx_program *program);   // of the instruction words up to the last one
uint32_t mx_program_length(const struct mx_program *program); // instructions
const struct mx_insn *mx_program_insn(const struct mx_program *program, uint32_t index);

const char *mx_op_name(uint16_t op); // as the driver's disassembler prints it, without modifiers

// One line of assembly in the driver's style, for reports. Returns what snprintf does.
int mx_insn_print(const struct mx_insn *insn, char *text, size_t size);
