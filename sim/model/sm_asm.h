// SPDX-License-Identifier: MIT
// Reads the text that Mesa's panvk gives as a compute shader's final assembly (VK_KHR_pipeline_executable_properties,
// "Assembly") for Valhall GPUs. Pure.
//
// The text has one instruction a line and an empty line after each block, that is after a branch or an instruction that
// reconverges. An empty line anywhere else is ARSHIFT_OR, which the driver's disassembler does not name; with those the
// count agrees with the driver's own ("Instructions").
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sm_units.h"

#define SM_OPERANDS_MAX 6

enum sm_space {
    SM_SPACE_NONE,   // no memory access
    SM_SPACE_BUFFER, // through a descriptor or a pointer
    SM_SPACE_SHARED, // workgroup memory
    SM_SPACE_STACK,  // spills and private arrays: thread_local_pointer
};

enum sm_operand_kind {
    SM_OPERAND_NONE,
    SM_OPERAND_REGISTER,
    SM_OPERAND_UNIFORM,  // a word of the constant table, the same for all lanes; its value is not in the text
    SM_OPERAND_CONSTANT, // value known
    SM_OPERAND_LANE,     // lane_id
    SM_OPERAND_STACK,    // thread_local_pointer
    SM_OPERAND_SHARED,   // workgroup_local_pointer
    SM_OPERAND_OTHER,    // uniform, of no interest
};

struct sm_operand {
    enum sm_operand_kind kind;
    uint32_t value; // register number or constant; of a pointer: which word
    char select[5]; // "", "h0", "b2", "b33", ...: part of the word
    bool inverted;  // .not
};

struct sm_instruction {
    const char *text; // in the caller's text, not terminated; length below
    size_t text_length;
    char name[24];      // up to the first dot; "ARSHIFT_OR" for an empty line
    char modifiers[40]; // from the first dot, slots, waits and flow included
    enum sm_unit unit;
    bool known;                // the name is in the table of units
    uint32_t width_bytes;      // of a message, a lane
    struct sm_operand result;  // of messages: the first staging register
    uint32_t result_registers; // how many consecutive ones
    struct sm_operand source[SM_OPERANDS_MAX];
    size_t source_count;
    int64_t branch; // target's index minus the next instruction's; 0 when no branch
    int32_t offset; // of a message, bytes
};

struct sm_asm {
    struct sm_instruction *instructions;
    size_t count;
    // What the driver says, -1 where the text does not have it.
    int64_t stated_instructions, registers, spills, fills;
    size_t unknown; // instructions whose name is not in the table
};

// Parses a dump: statistics ("Name value" lines) up to a line that begins with "----", then the assembly; or assembly
// alone. `text` must outlive the result. false, with a line in `error`, when there is no assembly in it, its branches
// leave the program or memory runs out.
bool sm_asm_parse(const char *text, struct sm_asm *program, char *error, size_t error_bytes);
void sm_asm_free(struct sm_asm *program);
