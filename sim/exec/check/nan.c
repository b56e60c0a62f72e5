// SPDX-License-Identifier: MIT
// Where NaNs come from: instructions that give one although none of their float operands is one.
#include "compare.h"
#include "state.h"

static bool has_nan(uint64_t value, unsigned bits) {
    return bits == 16 ? mx_is_nan((uint32_t)value & 0xffff, 16) || mx_is_nan((uint32_t)value >> 16, 16)
                      : mx_is_nan((uint32_t)value, 32);
}

// A half that an f32 operand takes.
static bool is_half_operand(const struct mx_moment *moment, uint32_t source) {
    const struct mx_rule_op *op = &moment->known->op;
    uint32_t selector = (uint32_t)(moment->insn->word >> (28 - 2 * source)) & 3;
    return op->bits == 32 && op->pick[source < 2 ? source : 1] == MX_PICK_FLOAT && (selector == 1 || selector == 2);
}

// Quick: all lanes at once. Whole words only, so a half that is picked from a word may hide: then the lanes are asked.
static bool may_have_nan(const mx_u32 *value, unsigned bits) {
    mx_u32 found;
    if (bits == 16)
        found = (mx_u32)(((mx_u16)*value & 0x7fff) > 0x7c00);
    else
        found = (mx_u32)((*value & 0x7fffffff) > 0x7f800000);
    uint32_t any = 0;
    for (uint32_t lane = 0; lane < MX_LANES; lane++)
        any |= found[lane];
    return any != 0;
}

static uint32_t operand_lanes(const struct mx_moment *moment, uint32_t source, uint32_t lanes) {
    const struct mx_rule_op *op = &moment->known->op;
    const struct mx_source *operand = &moment->insn->sources[source];
    bool half = is_half_operand(moment, source);
    uint32_t found = 0;
    if (operand->kind == MX_SOURCE_REGISTER && !half &&
        !may_have_nan(&moment->warp->registers[operand->index & 63], op->float_bits))
        return 0;
    for (uint32_t bits = lanes; bits != 0; bits &= bits - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(bits);
        uint64_t value = mx_rule_pick(op, moment->insn->word, source, mx_operand(moment, source, lane));
        found |= (uint32_t)has_nan(value, half ? 16 : op->float_bits) << lane;
    }
    return found;
}

void mx_nan_before(const struct mx_moment *moment) {
    struct mx_pending *pending = &moment->worker->pending;
    pending->nan_operands = 0;
    for (uint32_t i = 0; i < moment->insn->source_count && i < 4; i++)
        if (moment->known->op.float_sources >> i & 1)
            pending->nan_operands |= operand_lanes(moment, i, moment->warp->active);
}

void mx_nan_after(const struct mx_moment *moment) {
    unsigned bits = moment->insn->written_half != 0 ? 16 : moment->known->op.result_bits;
    const mx_u32 *result = &moment->warp->registers[moment->insn->written & 63];
    uint32_t lanes = 0;
    if (moment->insn->written_count == 0 || !may_have_nan(result, bits))
        return;
    for (uint32_t left = moment->warp->active & ~moment->worker->pending.nan_operands; left != 0; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left), value = (*result)[lane];
        if (moment->insn->written_half != 0)
            value = value >> (moment->insn->written_half == 2 ? 16 : 0) & 0xffff;
        lanes |= (uint32_t)has_nan(value, bits) << lane;
    }
    if (lanes != 0)
        mx_moment_report(moment, MX_FINDING_NAN, lanes, NULL, "a NaN out of operands that are none");
}
