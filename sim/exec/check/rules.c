// SPDX-License-Identifier: MIT
#include "rules.h"

#include <string.h>

#include "compare.h"

// By the beginning of the printed name; the first that fits.
static const struct {
    const char *prefix;
    enum mx_rule rule;
    enum mx_pick pick[2];
    uint8_t float_sources;
    bool float_result;
} operations[] = {
    {"NOP", MX_RULE_DEFINED, {0}, 0, false},
    {"BRANCHZ", MX_RULE_BRANCH, {0}, 0, false},
    {"LD_GCLK", MX_RULE_DEFINED, {0}, 0, false},
    {"BARRIER", MX_RULE_DEFINED, {0}, 0, false},
    {"LOAD", MX_RULE_MESSAGE, {0}, 0, false},
    {"STORE", MX_RULE_MESSAGE, {0}, 0, false},
    {"LD_PKA", MX_RULE_MESSAGE, {0}, 0, false},
    {"ATOM", MX_RULE_MESSAGE, {0}, 0, false},
    {"LEA_", MX_RULE_ADDRESS, {0}, 0, false},
    {"S8_TO", MX_RULE_ELEMENT, {MX_PICK_BYTE}, 0, false},
    {"U8_TO", MX_RULE_ELEMENT, {MX_PICK_BYTE}, 0, false},
    {"V2S8_TO", MX_RULE_ELEMENT, {MX_PICK_BYTES}, 0, false},
    {"V2U8_TO", MX_RULE_ELEMENT, {MX_PICK_BYTES}, 0, false},
    {"S16_TO", MX_RULE_ELEMENT, {MX_PICK_HALF}, 0, false},
    {"U16_TO", MX_RULE_ELEMENT, {MX_PICK_HALF}, 0, false},
    {"V2S16_TO", MX_RULE_ELEMENT, {MX_PICK_WIDEN}, 0, false},
    {"V2U16_TO", MX_RULE_ELEMENT, {MX_PICK_WIDEN}, 0, false},
    {"S32_TO", MX_RULE_ELEMENT, {MX_PICK_WIDEN}, 0, false},
    {"U32_TO", MX_RULE_ELEMENT, {MX_PICK_WIDEN}, 0, false},
    {"F16_TO", MX_RULE_ELEMENT, {MX_PICK_HALF}, 0, false},
    {"F32_TO", MX_RULE_ELEMENT, {MX_PICK_WORD}, 0, false},
    {"V2F16_TO", MX_RULE_ELEMENT, {MX_PICK_FLOAT}, 0, false},
    {"V2F32_TO", MX_RULE_NARROW, {0}, 3, true},
    {"MOV", MX_RULE_COPY, {0}, 0, false},
    {"NOT", MX_RULE_COPY, {0}, 0, false},
    {"CLZ", MX_RULE_ELEMENT, {MX_PICK_FLOAT}, 0, false},
    {"IABS", MX_RULE_ELEMENT, {MX_PICK_WIDEN}, 0, false},
    {"WMASK", MX_RULE_BALLOT, {0}, 0, false},
    {"FLUSH", MX_RULE_ELEMENT, {MX_PICK_FLOAT}, 1, true},
    {"FROUND", MX_RULE_ELEMENT, {MX_PICK_FLOAT}, 1, true},
    {"FREXPM", MX_RULE_ELEMENT, {MX_PICK_FLOAT}, 1, true},
    {"FREXPE", MX_RULE_ELEMENT, {MX_PICK_FLOAT}, 0, false},
    {"FRCP", MX_RULE_ELEMENT, {MX_PICK_FLOAT}, 1, true},
    {"FRSQ", MX_RULE_ELEMENT, {MX_PICK_FLOAT}, 1, true},
    {"FSIN_TABLE", MX_RULE_LOW_SIX, {0}, 0, false},
    {"FCOS_TABLE", MX_RULE_LOW_SIX, {0}, 0, false},
    {"FLOGD", MX_RULE_ELEMENT, {MX_PICK_FLOAT}, 1, true},
    {"FADD_LSCALE", MX_RULE_ELEMENT, {0}, 3, true},
    {"FADD_IMM", MX_RULE_ELEMENT, {0}, 1, true},
    {"FADD", MX_RULE_ELEMENT, {MX_PICK_FLOAT, MX_PICK_FLOAT}, 3, true},
    {"FMIN", MX_RULE_ELEMENT, {MX_PICK_FLOAT, MX_PICK_FLOAT}, 3, true},
    {"FMAX", MX_RULE_ELEMENT, {MX_PICK_FLOAT, MX_PICK_FLOAT}, 3, true},
    {"LDEXP", MX_RULE_ELEMENT, {0}, 1, true},
    {"FEXP", MX_RULE_ELEMENT, {0}, 2, true},
    {"FMA_RSCALE", MX_RULE_ELEMENT, {0}, 7, true},
    {"FMA", MX_RULE_ELEMENT, {MX_PICK_FLOAT, MX_PICK_FLOAT}, 7, true},
    {"IADD_IMM", MX_RULE_SUM, {0}, 0, false},
    {"IADD", MX_RULE_SUM, {MX_PICK_WIDEN, MX_PICK_WIDEN}, 0, false},
    {"ISUB", MX_RULE_SUM, {MX_PICK_WIDEN, MX_PICK_WIDEN}, 0, false},
    {"SEG_ADD", MX_RULE_SUM, {MX_PICK_WORD, MX_PICK_WIDEN}, 0, false},
    {"SHADDX", MX_RULE_SUM, {MX_PICK_WORD, MX_PICK_WIDEN}, 0, false},
    {"IMUL", MX_RULE_PRODUCT, {MX_PICK_WIDEN, MX_PICK_WIDEN}, 0, false},
    {"HADD", MX_RULE_ELEMENT, {MX_PICK_WIDEN, MX_PICK_WIDEN}, 0, false},
    {"MKVEC.v2i16", MX_RULE_PACK_HALVES, {0}, 0, false},
    {"MKVEC.v2i8", MX_RULE_PACK_BYTES, {0}, 0, false},
    {"CLPER", MX_RULE_PERMUTE, {0}, 0, false},
    {"RSHIFT_", MX_RULE_LOGIC, {MX_PICK_WIDEN}, 0, false},
    {"LSHIFT_", MX_RULE_LOGIC, {MX_PICK_WIDEN}, 0, false},
    {"ARSHIFT_", MX_RULE_LOGIC, {MX_PICK_WIDEN}, 0, false},
    {"RROT_", MX_RULE_LOGIC, {MX_PICK_WIDEN}, 0, false},
    {"LROT_", MX_RULE_LOGIC, {MX_PICK_WIDEN}, 0, false},
    {"MUX", MX_RULE_MUX, {MX_PICK_FLOAT, MX_PICK_FLOAT}, 0, false},
    {"IDPADD", MX_RULE_DOT, {0}, 0, false},
    {"ICMP", MX_RULE_COMPARE, {MX_PICK_WIDEN, MX_PICK_WIDEN}, 0, false},
    {"FCMP", MX_RULE_COMPARE, {MX_PICK_FLOAT, MX_PICK_FLOAT}, 0, false},
    {"CSEL", MX_RULE_SELECT, {0}, 0, false},
    {"POPCOUNT", MX_RULE_ELEMENT, {0}, 0, false},
    {"BITREV", MX_RULE_ELEMENT, {0}, 0, false},
};

// Of a result's element: "V2S8_TO_V2S16", "IADD.v2u16", "FRCP.f16", "IMULD.u64", ...
static uint8_t element_bits(const char *name) {
    const char *result = strstr(name, "_TO_");
    result = result != NULL ? result + 4 : strchr(name, '.');
    if (result == NULL)
        return 32;
    if (strstr(result, "64") != NULL)
        return 64;
    if (strstr(result, "v4") != NULL)
        return 8;
    return strstr(result, "v2") != NULL || strstr(result, "V2") != NULL || strcmp(result, ".f16") == 0 ? 16 : 32;
}

// Whether the operation's type, or a conversion's source, is signed.
static bool is_signed(const char *name) {
    const char *type = strchr(name, '.');
    if (strstr(name, "_TO_") != NULL)
        return name[0] == 'S' || strncmp(name, "V2S", 3) == 0;
    return type != NULL && (type[1] == 's' || strncmp(type, ".v2s", 4) == 0 || strncmp(type, ".v4s", 4) == 0);
}

struct mx_rule_op mx_rule_of(const char *name) {
    struct mx_rule_op op = {.rule = MX_RULE_ELEMENT, .bits = 64};
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        if (strncmp(name, operations[i].prefix, strlen(operations[i].prefix)) != 0)
            continue;
        op.rule = operations[i].rule;
        memcpy(op.pick, operations[i].pick, sizeof op.pick);
        op.bits = element_bits(name);
        op.sign = is_signed(name);
        op.is_float = strstr(name, ".f32") != NULL || strstr(name, "f16") != NULL;
        op.float_sources = operations[i].float_sources;
        op.float_bits = op.rule == MX_RULE_NARROW ? 32 : op.bits;
        op.result_bits = operations[i].float_result ? op.bits : 0;
        break;
    }
    return op;
}

static uint64_t ones(unsigned bits) {
    return bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

static uint64_t field(uint64_t word, unsigned start, unsigned bits) {
    return word >> start & ones(bits);
}

// Part number `index` of that width, extended.
static uint64_t part(uint64_t bits, unsigned width, unsigned index, bool sign) {
    uint64_t value = bits >> width * index & ones(width);
    return sign && value >> (width - 1) ? value | ~ones(width) : value;
}

static uint64_t widen_halves(uint64_t bits, unsigned selector, bool sign) {
    // Halves 0 and 1, bytes 0-3 as 2-5.
    static const uint8_t chosen[16][2] = {{0, 0}, {1, 0}, {0, 1}, {1, 1}, {2, 2}, {4, 2}, {2, 4},
                                          {4, 4}, {3, 3}, {5, 3}, {3, 5}, {5, 5}, {2, 3}, {4, 5}};
    uint64_t result = 0;
    for (unsigned i = 0; i < 2; i++) {
        unsigned c = chosen[selector][i];
        uint64_t half = c < 2 ? part(bits, 16, c, false) : part(bits, 8, c - 2, sign);
        result |= (half & ones(16)) << 16 * i;
    }
    return result;
}

// Which byte each of four is; shared with the amounts of shifts.
static const uint8_t bytes_of[16][4] = {{0, 1, 2, 3}, {3, 2, 1, 0}, {0, 1, 0, 1}, {2, 3, 2, 3},
                                        {0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3},
                                        {2, 3, 0, 1}, {1, 0, 3, 2}, {0, 0, 1, 1}, {2, 2, 3, 3}};

static uint64_t widen_bytes(uint64_t bits, unsigned selector) {
    uint64_t result = 0;
    for (unsigned i = 0; i < 4; i++)
        result |= part(bits, 8, bytes_of[selector][i], false) << 8 * i;
    return result;
}

static uint64_t widen(const struct mx_rule_op *op, uint64_t word, unsigned source, uint64_t bits) {
    unsigned selector = (unsigned)field(word, source == 0 ? 36 : 26, 4);
    if (op->bits == 8)
        return widen_bytes(bits, selector);
    if (op->bits == 16)
        return widen_halves(bits, selector, op->sign);
    uint64_t result = bits;
    if (selector >= 8)
        result = part(bits, 32, selector - 8, op->sign);
    else if (selector >= 4)
        result = part(bits, 8, selector - 4, op->sign);
    else if (selector >= 2)
        result = part(bits, 16, selector - 2, op->sign);
    return result & ones(op->bits);
}

uint64_t mx_rule_pick(const struct mx_rule_op *op, uint64_t word, unsigned source, uint64_t bits) {
    // FMA's and MUX's third source is chosen as their first two.
    unsigned selector = (unsigned)field(word, 28 - 2 * source, 2);
    switch (op->pick[source < 2 ? source : 1]) {
    case MX_PICK_WIDEN:
        return source < 2 ? widen(op, word, source, bits) : bits;
    case MX_PICK_FLOAT:
        if (source == 2 && op->rule == MX_RULE_COMPARE)
            return bits;
        if (op->bits == 16)
            return widen_halves(bits, selector, false);
        return selector == 1 || selector == 2 ? part(bits, 16, selector - 1, false) : bits;
    case MX_PICK_BYTE:
        return part(bits, 8, selector, op->sign) & ones(op->bits);
    case MX_PICK_HALF:
        return part(bits, 16, selector & 1, op->sign) & ones(op->bits);
    case MX_PICK_BYTES: {
        uint64_t low = part(bits, 8, (unsigned)field(word, 36, 2), op->sign) & ones(16);
        return low | (part(bits, 8, (unsigned)field(word, 38, 2), op->sign) & ones(16)) << 16;
    }
    case MX_PICK_WORD:
        break;
    }
    return bits;
}

// All of each element that has an undefined bit.
static uint64_t spread(uint64_t undefined, unsigned bits) {
    uint64_t result = 0;
    for (unsigned i = 0; i < 64 / bits; i++)
        if (part(undefined, bits, i, false) != 0)
            result |= ones(bits) << bits * i;
    return result;
}

// From each element's lowest undefined bit upwards: where carries can come to.
static uint64_t carry(uint64_t undefined, unsigned bits) {
    uint64_t result = 0;
    for (unsigned i = 0; i < 64 / bits; i++) {
        uint64_t element = part(undefined, bits, i, false);
        result |= ((element | (0 - element)) & ones(bits)) << bits * i;
    }
    return result;
}

static uint64_t rule_sum(const struct mx_rule_op *op, uint64_t word, const uint64_t undefined[4]) {
    bool saturates = field(word, 30, 1) && op->pick[0] == MX_PICK_WIDEN;
    bool shifts = op->pick[0] == MX_PICK_WORD && op->pick[1] == MX_PICK_WIDEN; // SHADDX
    uint64_t both = undefined[0] | undefined[1] << (shifts ? field(word, 20, 3) : 0);
    return saturates ? spread(both, op->bits) : carry(both, op->bits);
}

static uint64_t rule_product(const struct mx_rule_op *op, const uint64_t value[4], const uint64_t undefined[4]) {
    uint64_t both = undefined[0] | undefined[1];
    for (unsigned i = 0; i < 64 / op->bits; i++)
        for (unsigned s = 0; s < 2; s++)
            if (part(value[s] | undefined[s], op->bits, i, false) == 0)
                both &= ~(ones(op->bits) << op->bits * i); // times zero
    return carry(both, op->bits);
}

// Source 0 of one element, shifted; what comes in is defined, but for copies of an undefined sign.
static uint64_t shifted(uint64_t bits, unsigned kind, unsigned amount, unsigned width) {
    uint64_t back = amount > 0 ? width - amount : 0;
    switch (kind) {
    case 0:
        return bits >> amount;
    case 1:
        return bits << amount & ones(width);
    case 2:
        return amount > 0 ? (bits >> amount | bits << back) & ones(width) : bits;
    case 3:
        return amount > 0 ? (bits << amount | bits >> back) & ones(width) : bits;
    default:
        return (bits >> amount | (bits >> (width - 1) ? ~(ones(width) >> amount) : 0)) & ones(width);
    }
}

// The byte of source 1 that says how far element i is shifted.
static unsigned amount_byte(unsigned selector, unsigned width, unsigned i) {
    if (width >= 32)
        return bytes_of[selector][0];
    if (width == 16 && selector == 0)
        return 2 * i;
    if (width == 16 && selector >= 10)
        return selector == 10 ? i : 2 + i;
    return bytes_of[selector][i];
}

static uint64_t rule_logic(const struct mx_rule_op *op, uint64_t word, const uint64_t value[4],
                           const uint64_t undefined[4]) {
    unsigned width = op->bits, kind = (unsigned)field(word, 32, 3), logic = (unsigned)field(word, 24, 2);
    uint64_t right_value = field(word, 35, 1) ? ~value[2] : value[2], result = 0;
    for (unsigned i = 0; i < 64 / width; i++) {
        if (width < 64 && i * width >= 32)
            break;
        unsigned byte = amount_byte((unsigned)field(word, 26, 4), width, i);
        unsigned amount = (unsigned)part(value[1], 8, byte, false) & (width - 1);
        uint64_t left = part(value[0], width, i, false), left_bad = part(undefined[0], width, i, false);
        uint64_t right = part(right_value, width, i, false), right_bad = part(undefined[2], width, i, false);
        if (part(undefined[1], 8, byte, false) & (width - 1)) {
            left_bad = ones(width);
        } else {
            left = shifted(left, kind, amount, width);
            left_bad = shifted(left_bad, kind, amount, width);
        }
        uint64_t bad = left_bad | right_bad;
        if (logic == 0) // a defined 0 decides AND
            bad &= (left | left_bad) & (right | right_bad);
        else if (logic == 1) // a defined 1 decides OR
            bad &= (~left | left_bad) & (~right | right_bad);
        result |= (bad & ones(width)) << (width == 64 ? 0 : width * i);
    }
    return result;
}

// The condition of element i: does it depend on undefined bits, and else does it hold?
struct condition {
    bool undefined, holds;
};

static struct condition condition_of(const struct mx_rule_op *op, uint64_t word, unsigned i, const uint64_t value[4],
                                     const uint64_t undefined[4]) {
    unsigned width = op->bits;
    if (part(undefined[0] | undefined[1], width, i, false) != 0)
        return (struct condition){.undefined = true};
    struct mx_comparison comparison = {
        .bits = (uint8_t)width, .is_float = op->is_float, .is_signed = op->sign, .condition = field(word, 32, 3)};
    return (struct condition){.holds = mx_compare(&comparison, (uint32_t)part(value[0], width, i, false),
                                                  (uint32_t)part(value[1], width, i, false))};
}

// A condition that decides an OR or an AND by itself makes the other side's bits irrelevant: compilers evaluate both.
static uint64_t rule_compare(const struct mx_rule_op *op, uint64_t word, const uint64_t value[4],
                             const uint64_t undefined[4]) {
    unsigned width = op->bits, combine = (unsigned)field(word, 24, 2);
    uint64_t result = 0;
    for (unsigned i = 0; i < 32 / width; i++) {
        struct condition own = condition_of(op, word, i, value, undefined);
        bool other_bad = part(undefined[2], width, i, false) != 0;
        bool other = part(value[2], width, i, false) != 0;
        bool deciding = combine == 0; // true decides OR, false AND
        bool decided = combine < 2 && ((!own.undefined && own.holds == deciding) || (!other_bad && other == deciding));
        if ((own.undefined || other_bad) && !decided)
            result |= ones(width) << width * i;
    }
    return result;
}

static uint64_t rule_select(const struct mx_rule_op *op, uint64_t word, const uint64_t value[4],
                            const uint64_t undefined[4]) {
    unsigned width = op->bits;
    uint64_t result = 0;
    for (unsigned i = 0; i < 32 / width; i++) {
        struct condition own = condition_of(op, word, i, value, undefined);
        uint64_t bad =
            own.undefined ? undefined[2] | undefined[3] | (value[2] ^ value[3]) : undefined[own.holds ? 2 : 3];
        result |= part(bad, width, i, false) << width * i;
    }
    return result;
}

// Whether MUX's condition holds of an element of source 2.
static bool mux_holds(unsigned mode, uint64_t element, unsigned width) {
    if (mode == 0)
        return element >> (width - 1);
    return (mode == 2 ? element & ones(width - 1) : element) == 0;
}

static uint64_t rule_mux(const struct mx_rule_op *op, uint64_t word, const uint64_t value[4],
                         const uint64_t undefined[4]) {
    unsigned width = op->bits, mode = (unsigned)field(word, 32, 2);
    uint64_t either = undefined[0] | undefined[1] | (value[0] ^ value[1]), result = 0;
    if (mode == 3)
        return (undefined[0] & value[2]) | (undefined[1] & ~value[2]) | (undefined[2] & either);
    for (unsigned i = 0; i < 32 / width; i++) {
        uint64_t relevant = mode == 0 ? UINT64_C(1) << (width - 1) : ones(width);
        bool unknown = part(undefined[2], width, i, false) & relevant;
        bool first = mux_holds(mode, part(value[2], width, i, false), width);
        uint64_t bad = unknown ? either : undefined[first ? 0 : 1];
        result |= part(bad, width, i, false) << width * i;
    }
    return result;
}

// A defined zero makes its product defined: kernels multiply the padding of a row by zeros.
static uint64_t rule_dot(const uint64_t value[4], const uint64_t undefined[4]) {
    for (unsigned i = 0; i < 4; i++) {
        bool zero = part(value[0] | undefined[0], 8, i, false) == 0 || part(value[1] | undefined[1], 8, i, false) == 0;
        if (part(undefined[0] | undefined[1], 8, i, false) != 0 && !zero)
            return ones(32);
    }
    return carry(undefined[2], 32);
}

static uint64_t rule_pack(enum mx_rule rule, uint64_t word, const uint64_t undefined[4]) {
    if (rule == MX_RULE_PACK_HALVES)
        return part(undefined[0], 16, (unsigned)field(word, 28, 1), false) |
               part(undefined[1], 16, (unsigned)field(word, 26, 1), false) << 16;
    return part(undefined[0], 8, (unsigned)field(word, 38, 2), false) |
           part(undefined[1], 8, (unsigned)field(word, 36, 2), false) << 8 | part(undefined[2], 16, 0, false) << 16;
}

uint64_t mx_rule_apply(const struct mx_rule_op *op, uint64_t word, const uint64_t value[4],
                       const uint64_t undefined[4]) {
    switch (op->rule) {
    case MX_RULE_ELEMENT:
        return spread(undefined[0] | undefined[1] | undefined[2] | undefined[3], op->bits);
    case MX_RULE_COPY:
        return undefined[0];
    case MX_RULE_SUM:
        return rule_sum(op, word, undefined);
    case MX_RULE_PRODUCT:
        return rule_product(op, value, undefined);
    case MX_RULE_LOGIC:
        return rule_logic(op, word, value, undefined);
    case MX_RULE_COMPARE:
        return rule_compare(op, word, value, undefined);
    case MX_RULE_SELECT:
        return rule_select(op, word, value, undefined);
    case MX_RULE_MUX:
        return rule_mux(op, word, value, undefined);
    case MX_RULE_DOT:
        return rule_dot(value, undefined);
    case MX_RULE_LOW_SIX:
        return spread(undefined[0] & ones(6), 32);
    case MX_RULE_PACK_HALVES:
    case MX_RULE_PACK_BYTES:
        return rule_pack(op->rule, word, undefined);
    case MX_RULE_NARROW:
        return (undefined[0] != 0 ? ones(16) : 0) | (undefined[1] != 0 ? ones(16) << 16 : 0);
    default:
        return 0;
    }
}

bool mx_rule_branch(uint64_t word, uint32_t value, uint32_t undefined) {
    unsigned combine = (unsigned)field(word, 37, 3);
    uint32_t relevant = combine == 1 ? 0xffff : combine == 2 ? 0xffff0000 : 0xffffffff;
    if (combine == 3 || combine == 4) // all ones, low bits: no single bit decides
        return undefined != 0;
    bool decided = (value & ~undefined & relevant) != 0; // a defined one: it is not zero, whatever the others are
    return (undefined & relevant) != 0 && !decided;
}
