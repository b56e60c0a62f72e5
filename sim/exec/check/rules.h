// SPDX-License-Identifier: MIT
// How undefined bits of an instruction's operands become undefined bits of its result, one lane at a time. Written from
// the instruction's printed name and its word, so that it shares nothing with the core that it looks at. The rules are
// those of Valgrind's memcheck (Seward and Nethercote, "Using Valgrind to detect undefined value errors with
// bit-precision", 2005): exact where compilers rely on it (moves, logic, shifts, selects, packing), upwards from the
// lowest undefined bit for sums, the whole element otherwise.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum mx_rule {
    MX_RULE_DEFINED, // the result never is undefined: no operands, or those are checked where they are used
    MX_RULE_ELEMENT, // an undefined bit makes all of the element undefined
    MX_RULE_COPY,
    MX_RULE_SUM,
    MX_RULE_PRODUCT,
    MX_RULE_LOGIC,
    MX_RULE_COMPARE,
    MX_RULE_SELECT,
    MX_RULE_MUX,
    MX_RULE_DOT,
    MX_RULE_LOW_SIX, // only the low six bits count
    MX_RULE_PACK_HALVES,
    MX_RULE_PACK_BYTES,
    MX_RULE_NARROW,  // two floats to two halves
    MX_RULE_PERMUTE, // across lanes, as is the next: not for mx_rule_apply
    MX_RULE_BALLOT,
    MX_RULE_BRANCH, // from here on: no result, or one that memory gives
    MX_RULE_MESSAGE,
    MX_RULE_ADDRESS, // LEA_PKA
};

// Which part of a source the instruction reads; where the selector stands in the word follows from the source's number.
enum mx_pick {
    MX_PICK_WORD,
    MX_PICK_WIDEN, // of integers, by element size
    MX_PICK_FLOAT, // f32: a half or all of it; 2 x f16: swizzle
    MX_PICK_BYTE,  // of a conversion's source
    MX_PICK_HALF,  // likewise
    MX_PICK_BYTES, // two of them
};

// What a rule needs to know of an operation.
struct mx_rule_op {
    enum mx_rule rule;
    enum mx_pick pick[2];
    uint8_t bits;          // of an element: 8, 16, 32 or 64
    bool sign;             // widening extends the sign
    bool is_float;         // of a compare: how to decide it
    uint8_t float_sources; // bits: sources that are floats of `float_bits`; NaN origins
    uint8_t float_bits;    // of the sources
    uint8_t result_bits;   // 16 or 32: the result is such floats; 0: it is not a float
};

// Of the operation that the driver's disassembler prints like this (without modifiers); an unknown one counts as
// MX_RULE_ELEMENT over 64 bits, the strictest rule.
struct mx_rule_op mx_rule_of(const char *name);

// A source's bits as the instruction sees them. Values and undefined bits go the same way.
uint64_t mx_rule_pick(const struct mx_rule_op *op, uint64_t word, unsigned source, uint64_t bits);

// The undefined bits of one lane's result (64 bits: a register pair).
uint64_t mx_rule_apply(const struct mx_rule_op *op, uint64_t word, const uint64_t value[4],
                       const uint64_t undefined[4]);

// Whether undefined bits decide where a BRANCHZ goes.
bool mx_rule_branch(uint64_t word, uint32_t value, uint32_t undefined);
