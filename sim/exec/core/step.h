// SPDX-License-Identifier: MIT
// An instruction as the core executes it: what decode.c makes of a word, with operands as places in the register file
// or in the job's pool of values that all lanes share.
#pragma once

#include "../insn.h"
#include "../lanes.h"

struct mx_worker;
struct mx_step;

// How an operand's modifier bits are to be read. Widths: of the operation, not of what is widened.
enum mx_operand_type {
    MX_RAW,
    MX_F32,          // code: half to widen from (0 none, 1 low, 2 high); sign
    MX_H2,           // code: halves (0 to 3); sign
    MX_F16,          // code: half (0, 1); sign. The half comes to the low bits
    MX_I32,          // code: widen; is_signed
    MX_I16,          // code: widen or swizzle; is_signed
    MX_I8,           // code: swizzle
    MX_I64,          // code: widen; is_signed. Two words
    MX_BYTE,         // code: byte 0 to 3; is_signed: to 32 bits
    MX_HALF,         // code: half 0, 1; is_signed: to 32 bits
    MX_BYTES,        // code: two bit pairs, a byte for each half; is_signed: to 16 bits
    MX_SHIFT_AMOUNT, // code: byte lanes, by the operation's width
    MX_NOT,          // code: 1 inverts
};

enum { MX_SIGN_NEG = 1, MX_SIGN_ABS = 2 };

struct mx_operand {
    uint8_t type; // enum mx_operand_type
    uint8_t code;
    uint8_t sign;
    uint8_t is_signed;
    uint8_t size;     // of MX_SHIFT_AMOUNT: 8, 16, 32 or 64 bits
    uint8_t pooled;   // in the pool, with its modifiers done
    uint8_t modified; // the modifiers do something, and are to be done at run time
    uint8_t place;    // register, or place in the pool; of two words the lower
};

typedef void mx_handler(struct mx_worker *worker, const struct mx_step *step);

// What may happen after an instruction: of MX_MESSAGE a fault, of the rest that other lanes run.
enum mx_control { MX_GO_ON, MX_MESSAGE, MX_BRANCH, MX_RECONVERGE, MX_BARRIER, MX_END, MX_STOP };

struct mx_step {
    mx_handler *run;
    struct mx_operand operand[4];
    uint8_t written;                         // register
    uint8_t half;                            // 0 whole, 1 low, 2 high
    uint8_t control;                         // enum mx_control
    uint8_t round, clamp, condition, result; // as in the instruction
    uint8_t saturate;                        // saturate, round up, invert the result
    uint8_t variant; // by operation: shift kind << 2 | logic, MUX condition, FREXP mode, combine, atomic operation
    uint8_t staging, staging_count, bytes, lane;
    int32_t offset; // bytes of a message; instructions of a branch
    uint32_t immediate;
    struct mx_insn insn;
};

// A value that all lanes share.
struct mx_pool_entry {
    uint8_t kind; // enum mx_source_kind: FAU, CONSTANT
    uint8_t words;
    uint16_t index;
    struct mx_operand operand; // what is done to it
};

// Fills *step from the word. False: not known, or unknown bits. Operands outside the register file are described in
// entries[], *entry_count of them so far; the pool has them from MX_POOL_FIRST on.
#define MX_POOL_MAX 254
enum { // the pool's own places
    MX_POOL_LANE_ID,
    MX_POOL_STACK, // and the next: low and high word
    MX_POOL_SHARED = MX_POOL_STACK + 2,
    MX_POOL_RESOURCES = MX_POOL_SHARED + 2,
    MX_POOL_WARP_ID = MX_POOL_RESOURCES + 2,
    MX_POOL_ZERO, // and the next: a zero word, as high word of constants
    MX_POOL_FIRST = MX_POOL_ZERO + 2,
};
struct mx_pool_plan {
    struct mx_pool_entry entry[MX_POOL_MAX];
    uint32_t count; // places in use, MX_POOL_FIRST included
};
bool mx_decode(uint64_t word, struct mx_step *step, struct mx_pool_plan *plan);

extern const uint32_t mx_small_constants[32];

// What the modifiers of an operand make of a value; for MX_I64 high comes along.
mx_u32 mx_operand_apply(const struct mx_operand *operand, mx_u32 value);
void mx_operand_apply64(const struct mx_operand *operand, mx_u32 *low, mx_u32 *high);
