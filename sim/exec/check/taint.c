// SPDX-License-Identifier: MIT
#include "state.h"

#include <string.h>

// The small constants that an operand can name.
static const uint32_t constants[32] = {
    0x00000000, 0xffffffff, 0x7fffffff, 0xfafcfdfe, 0x01000000, 0x80002000, 0x70605030, 0xc0b0a090,
    0x03020100, 0x07060504, 0x0b0a0908, 0x0f0e0d0c, 0x13121110, 0x17161514, 0x1b1a1918, 0x1f1e1d1c,
    0x3f800000, 0x3dcccccd, 0x3ea2f983, 0x3f317218, 0x40490fdb, 0x00000000, 0x477fff00, 0x5c005bf8,
    0x2e660000, 0x34000000, 0x38000000, 0x3c000000, 0x40000000, 0x44000000, 0x48000000, 0x42480000};

static uint64_t pair(uint32_t low, uint32_t high, uint32_t words) {
    return words > 1 ? low | (uint64_t)high << 32 : low;
}

uint64_t mx_operand(const struct mx_moment *moment, uint32_t source, uint32_t lane) {
    const struct mx_source *operand = &moment->insn->sources[source];
    uint32_t index = operand->index, next = operand->words > 1 ? index + 1 : index;
    switch (operand->kind) {
    case MX_SOURCE_REGISTER:
        return pair(moment->warp->registers[index & 63][lane], moment->warp->registers[next & 63][lane],
                    operand->words);
    case MX_SOURCE_FAU:
        if (next >= MX_FAU_WORDS_MAX)
            return 0;
        return pair(moment->group->job->fau[index], moment->group->job->fau[next], operand->words);
    case MX_SOURCE_CONSTANT:
        return constants[moment->insn->word >> 8 * source & 31];
    default:
        return 0; // the special ones: addresses and numbers of lanes, which no rule looks at
    }
}

static uint64_t operand_undefined(const struct mx_moment *moment, uint32_t source, uint32_t lane) {
    const struct mx_source *operand = &moment->insn->sources[source];
    if (operand->kind != MX_SOURCE_REGISTER)
        return 0;
    const mx_u32 *undefined = moment->shadow->undefined;
    return pair(undefined[operand->index & 63][lane], undefined[(operand->index + 1) & 63][lane], operand->words);
}

// Bits: those of `lanes` that are not all zero.
static uint32_t lanes_set(const mx_u32 *value, uint32_t mask, uint32_t lanes) {
    uint32_t set = 0;
    for (uint32_t lane = 0; lane < MX_LANES; lane++)
        set |= (uint32_t)(((*value)[lane] & mask) != 0) << lane;
    return set & lanes;
}

// Lanes that have anything undefined in these registers.
static uint32_t lanes_tainted(const struct mx_shadow *shadow, uint64_t registers, uint32_t lanes) {
    uint32_t tainted = 0;
    for (uint64_t left = registers & shadow->tainted; left != 0; left &= left - 1)
        tainted |= lanes_set(&shadow->undefined[__builtin_ctzll(left)], UINT32_MAX, lanes);
    return tainted;
}

uint32_t mx_taint_lanes(const struct mx_shadow *shadow, uint32_t first_register, uint32_t bytes, uint32_t lanes) {
    uint32_t tainted = 0;
    for (uint32_t r = first_register; bytes > 0 && r < 64; r++) {
        uint32_t now = bytes < 4 ? bytes : 4;
        uint32_t mask = now == 4 ? UINT32_MAX : (UINT32_C(1) << 8 * now) - 1;
        if (shadow->tainted >> r & 1)
            tainted |= lanes_set(&shadow->undefined[r], mask, lanes);
        bytes -= now;
    }
    return tainted;
}

// The strongest origin of what is undefined in these registers.
static uint8_t origin_of(const struct mx_shadow *shadow, uint64_t registers, uint32_t lane) {
    uint8_t origin = MX_ORIGIN_NONE;
    for (uint64_t left = registers & shadow->tainted; left != 0; left &= left - 1) {
        uint32_t r = (uint32_t)__builtin_ctzll(left);
        if (shadow->undefined[r][lane] != 0 && shadow->origin[r][lane] > origin)
            origin = shadow->origin[r][lane];
    }
    return origin;
}

static void forgive(struct mx_shadow *shadow, uint64_t registers, uint32_t lanes) {
    for (uint64_t left = registers & shadow->tainted; left != 0; left &= left - 1) {
        uint32_t r = (uint32_t)__builtin_ctzll(left);
        for (uint32_t bits = lanes; bits != 0; bits &= bits - 1)
            shadow->undefined[r][__builtin_ctz(bits)] = 0;
        if (lanes_set(&shadow->undefined[r], UINT32_MAX, UINT32_MAX) == 0)
            shadow->tainted &= ~(UINT64_C(1) << r);
    }
}

void mx_taint_report(const struct mx_moment *moment, uint64_t registers, uint32_t lanes, const uint64_t *address,
                     const char *const text[2]) {
    uint32_t of_register = 0, of_memory = 0;
    for (uint32_t bits = lanes; bits != 0; bits &= bits - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(bits);
        bool is_memory = origin_of(moment->shadow, registers, lane) > MX_ORIGIN_REGISTER;
        *(is_memory ? &of_memory : &of_register) |= UINT32_C(1) << lane;
    }
    if (of_register != 0)
        mx_moment_report(moment, MX_FINDING_REGISTER, of_register, address, text[0]);
    if (of_memory != 0)
        mx_moment_report(moment, MX_FINDING_MEMORY, of_memory, address, text[1]);
    forgive(moment->shadow, registers, lanes);
}

static void branch_before(const struct mx_moment *moment, uint32_t lanes) {
    static const char *const text[2] = {"a branch depends on a register that nobody wrote",
                                        "a branch depends on memory that nobody wrote"};
    uint32_t deciding = 0;
    for (uint32_t bits = lanes; bits != 0; bits &= bits - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(bits);
        if (mx_rule_branch(moment->insn->word, (uint32_t)mx_operand(moment, 0, lane),
                           (uint32_t)operand_undefined(moment, 0, lane)))
            deciding |= UINT32_C(1) << lane;
    }
    if (deciding != 0)
        mx_taint_report(moment, moment->known->reads, deciding, NULL, text);
}

static void address_before(const struct mx_moment *moment) {
    static const char *const text[2] = {"an address comes from a register that nobody wrote",
                                        "an address comes from memory that nobody wrote"};
    uint64_t registers = moment->known->address_reads;
    uint32_t lanes = lanes_tainted(moment->shadow, registers, moment->warp->active);
    if (lanes != 0)
        mx_taint_report(moment, registers, lanes, NULL, text);
}

static void lane_before(const struct mx_moment *moment, uint32_t lane) {
    struct mx_pending *pending = &moment->worker->pending;
    const struct mx_rule_op *op = &moment->known->op;
    uint64_t value[4] = {0}, undefined[4] = {0}, word = moment->insn->word;
    for (uint32_t i = 0; i < moment->insn->source_count && i < 4; i++) {
        value[i] = mx_rule_pick(op, word, i, mx_operand(moment, i, lane));
        undefined[i] = mx_rule_pick(op, word, i, operand_undefined(moment, i, lane));
    }
    uint64_t result = mx_rule_apply(op, word, value, undefined);
    pending->undefined[0][lane] = (uint32_t)result;
    pending->undefined[1][lane] = (uint32_t)(result >> 32);
    pending->tainted |= result != 0;
}

// CLPER: the value is another lane's; which one, source 1 says relative to the own or not. An undefined choice makes
// all undefined.
static void permute_before(const struct mx_moment *moment) {
    struct mx_pending *pending = &moment->worker->pending;
    uint64_t word = moment->insn->word;
    uint32_t size = 2u << (word >> 36 & 3), byte = (uint32_t)(word >> 26 & 3), operation = word >> 32 & 7;
    for (uint32_t lane = 0; lane < MX_LANES; lane++) {
        uint32_t number = (uint32_t)mx_operand(moment, 1, lane) >> 8 * byte & 0xff, other = number;
        if ((uint32_t)operand_undefined(moment, 1, lane) >> 8 * byte & (size - 1)) {
            pending->undefined[0][lane] = UINT32_MAX;
        } else {
            if (operation == 1)
                other = lane ^ number;
            else if (operation == 2 || operation == 3)
                other = operation == 2 ? lane + number : lane - number;
            other = (lane & ~(size - 1)) | (other & (size - 1));
            bool there = moment->warp->active >> other & 1;
            pending->undefined[0][lane] = there ? (uint32_t)operand_undefined(moment, 0, other) : 0;
            pending->origin[lane] = origin_of(moment->shadow, moment->known->reads, other);
        }
        pending->tainted |= pending->undefined[0][lane] != 0;
    }
}

// WMASK: bit i of every lane's result depends on lane i's operand.
static void ballot_before(const struct mx_moment *moment, uint32_t lanes) {
    struct mx_pending *pending = &moment->worker->pending;
    uint32_t undefined = 0;
    uint8_t origin = MX_ORIGIN_REGISTER;
    for (uint32_t bits = lanes; bits != 0; bits &= bits - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(bits), unknown = (uint32_t)operand_undefined(moment, 0, lane);
        bool decided = ((uint32_t)mx_operand(moment, 0, lane) & ~unknown) != 0;
        uint8_t own = origin_of(moment->shadow, moment->known->reads, lane);
        undefined |= decided ? 0 : UINT32_C(1) << lane;
        origin = own > origin ? own : origin;
    }
    pending->undefined[0] = (mx_u32){0} + undefined;
    memset(pending->origin, origin, sizeof pending->origin);
    pending->tainted = undefined != 0;
}

static void values_before(const struct mx_moment *moment, uint32_t lanes) {
    struct mx_pending *pending = &moment->worker->pending;
    memset(pending->undefined, 0, sizeof pending->undefined);
    for (uint32_t lane = 0; lane < MX_LANES; lane++)
        pending->origin[lane] = origin_of(moment->shadow, moment->known->reads, lane);
    if (moment->known->op.rule == MX_RULE_PERMUTE)
        permute_before(moment);
    else if (moment->known->op.rule == MX_RULE_BALLOT)
        ballot_before(moment, lanes);
    else
        for (uint32_t bits = lanes; bits != 0; bits &= bits - 1)
            lane_before(moment, (uint32_t)__builtin_ctz(bits));
}

static uint16_t special_range(const struct mx_check_insn *known, uint32_t source) {
    if (known->stack_sources >> source & 1)
        return MX_RANGE_STACK;
    return known->shared_sources >> source & 1 ? MX_RANGE_SHARED : MX_RANGE_NONE;
}

// The first operand that points somewhere says where the result may.
static void pointers_before(const struct mx_moment *moment) {
    struct mx_pending *pending = &moment->worker->pending;
    memset(pending->pointer, 0, sizeof pending->pointer);
    for (uint32_t i = moment->insn->source_count; i-- > 0;) {
        const struct mx_source *operand = &moment->insn->sources[i];
        uint16_t special = special_range(moment->known, i);
        bool has = operand->kind == MX_SOURCE_REGISTER && moment->shadow->pointers >> (operand->index & 63) & 1;
        for (uint32_t lane = 0; lane < MX_LANES && (has || special != 0); lane++) {
            uint16_t range = has ? moment->shadow->pointer[operand->index & 63][lane] : special;
            if (range != MX_RANGE_NONE)
                pending->pointer[lane] = range;
        }
    }
    pending->has_pointer = true;
}

void mx_taint_before(const struct mx_moment *moment) {
    const struct mx_check_insn *known = moment->known;
    if (known->carries_pointer &&
        ((known->reads & moment->shadow->pointers) || known->stack_sources != 0 || known->shared_sources != 0))
        pointers_before(moment);
    if (!(known->reads & moment->shadow->tainted))
        return;
    if (known->op.rule >= MX_RULE_MESSAGE) {
        address_before(moment);
        return;
    }
    uint32_t lanes = lanes_tainted(moment->shadow, known->reads, moment->warp->active);
    if (known->op.rule == MX_RULE_BRANCH && lanes != 0)
        branch_before(moment, lanes);
    else if (lanes != 0 || known->op.rule == MX_RULE_PERMUTE)
        values_before(moment, lanes);
}

static uint32_t written_mask(const struct mx_insn *insn) {
    return insn->written_half == 1 ? 0xffff : insn->written_half == 2 ? 0xffff0000 : UINT32_MAX;
}

static void register_commit(const struct mx_moment *moment, uint32_t r, const mx_u32 *undefined, uint32_t lanes) {
    struct mx_shadow *shadow = moment->shadow;
    uint32_t mask = written_mask(moment->insn);
    for (uint32_t bits = lanes; bits != 0; bits &= bits - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(bits), added = 0;
        if (moment->worker->pending.tainted)
            added = mask == UINT32_MAX || (*undefined)[lane] == 0 ? (*undefined)[lane] : mask;
        uint32_t old = shadow->undefined[r][lane] & ~mask;
        shadow->undefined[r][lane] = old | added;
        if (added != 0 && (old == 0 || shadow->origin[r][lane] < moment->worker->pending.origin[lane]))
            shadow->origin[r][lane] = moment->worker->pending.origin[lane];
    }
    uint64_t bit = UINT64_C(1) << r;
    bool tainted = lanes_set(&shadow->undefined[r], UINT32_MAX, UINT32_MAX) != 0;
    shadow->tainted = tainted ? shadow->tainted | bit : shadow->tainted & ~bit;
}

static void pointer_commit(const struct mx_moment *moment, uint32_t r) {
    struct mx_shadow *shadow = moment->shadow;
    uint16_t any = 0;
    for (uint32_t lane = 0; lane < MX_LANES; lane++) {
        if (moment->warp->active >> lane & 1)
            shadow->pointer[r][lane] = moment->worker->pending.has_pointer ? moment->worker->pending.pointer[lane] : 0;
        any |= shadow->pointer[r][lane];
    }
    uint64_t bit = UINT64_C(1) << r;
    shadow->pointers = any != 0 ? shadow->pointers | bit : shadow->pointers & ~bit;
}

void mx_taint_after(const struct mx_moment *moment) {
    const struct mx_pending *pending = &moment->worker->pending;
    uint64_t writes = moment->known->writes;
    bool taints = pending->tainted || (writes & moment->shadow->tainted);
    bool points = pending->has_pointer || (writes & moment->shadow->pointers);
    if (!taints && !points)
        return;
    for (uint32_t i = 0; i < moment->insn->written_count && i < 4 && moment->insn->written + i < 64; i++) {
        if (taints)
            register_commit(moment, moment->insn->written + i, &pending->undefined[i], moment->warp->active);
        if (points)
            pointer_commit(moment, moment->insn->written + i);
    }
}
