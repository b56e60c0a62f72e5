// SPDX-License-Identifier: MIT
// Where NaNs come from: instructions that give one although none of their float operands is one.
#include <string.h>

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

// Of all lanes at once. In words of two halves, of either.
static bool any_nan(const mx_u32 *value, unsigned bits) {
    mx_u32 found = bits == 16 ? (mx_u32)(((mx_u16)*value << 1) > 0xf800) : (mx_u32)(*value << 1 > 0xff000000);
    uint64_t parts[sizeof found / 8], any = 0;
    memcpy(parts, &found, sizeof parts);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        any |= parts[i];
    return any != 0;
}

// Lanes whose operand was a NaN when the instruction began.
static uint32_t operand_lanes(const struct mx_moment *moment, uint32_t source, uint32_t lanes) {
    const struct mx_rule_op *op = &moment->known->op;
    const struct mx_source *operand = &moment->insn->sources[source];
    bool is_overwritten = operand->kind == MX_SOURCE_REGISTER && operand->index == moment->insn->written;
    unsigned bits = is_half_operand(moment, source) ? 16 : op->float_bits;
    uint32_t found = 0;
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        uint64_t value = is_overwritten ? moment->worker->pending.overwritten[lane] : mx_operand(moment, source, lane);
        found |= (uint32_t)has_nan(mx_rule_pick(op, moment->insn->word, source, value), bits) << lane;
    }
    return found;
}

void mx_nan_before(const struct mx_moment *moment) {
    uint32_t written = moment->insn->written & 63;
    if (moment->known->reads >> written & 1)
        moment->worker->pending.overwritten = moment->warp->registers[written];
}

void mx_nan_after(const struct mx_moment *moment) {
    unsigned bits = moment->insn->written_half != 0 ? 16 : moment->known->op.result_bits;
    const mx_u32 *result = &moment->warp->registers[moment->insn->written & 63];
    uint32_t lanes = 0;
    if (moment->insn->written_count == 0 || !any_nan(result, bits))
        return;
    for (uint32_t left = moment->warp->active; left != 0; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left), value = (*result)[lane];
        if (moment->insn->written_half != 0)
            value = value >> (moment->insn->written_half == 2 ? 16 : 0) & 0xffff;
        lanes |= (uint32_t)has_nan(value, bits) << lane;
    }
    for (uint32_t i = 0; lanes != 0 && i < moment->insn->source_count && i < 4; i++)
        if (moment->known->op.float_sources >> i & 1)
            lanes &= ~operand_lanes(moment, i, lanes);
    if (lanes != 0)
        mx_moment_report(moment, MX_FINDING_NAN, lanes, NULL, "a NaN out of operands that are none");
}
