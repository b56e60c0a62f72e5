// SPDX-License-Identifier: MIT
#include "form.h"
#include "handlers.h"

const uint32_t mx_small_constants[32] = {
    0x00000000, 0xffffffff, 0x7fffffff, 0xfafcfdfe, 0x01000000, 0x80002000, 0x70605030, 0xc0b0a090,
    0x03020100, 0x07060504, 0x0b0a0908, 0x0f0e0d0c, 0x13121110, 0x17161514, 0x1b1a1918, 0x1f1e1d1c,
    0x3f800000, 0x3dcccccd, 0x3ea2f983, 0x3f317218, 0x40490fdb, 0x00000000, 0x477fff00, 0x5c005bf8,
    0x2e660000, 0x34000000, 0x38000000, 0x3c000000, 0x40000000, 0x44000000, 0x48000000, 0x42480000,
};

#define ROW(id, op, sh, m, v, text, u, s, h)                                                                           \
    [MX_OP_##id] = {.opcode = (op),                                                                                    \
                    .mask = (m),                                                                                       \
                    .shift = (sh),                                                                                     \
                    .unit = MX_UNIT_##u,                                                                               \
                    .shape = s,                                                                                        \
                    .value = (v),                                                                                      \
                    .run = mx_run_##h,                                                                                 \
                    .printed = text},
const struct mx_row mx_rows[MX_OP_COUNT] = {MX_OPS(ROW)};

static const struct mx_row *row_find(uint64_t word) {
    uint32_t opcode = mx_bits(word, 48, 9);
    for (uint32_t i = 0; i < MX_OP_COUNT; i++)
        if (mx_rows[i].opcode == opcode && (word >> mx_rows[i].shift & mx_rows[i].mask) == mx_rows[i].value)
            return &mx_rows[i];
    return NULL;
}

// ---- where operands come from

static bool operand_equal(const struct mx_operand *a, const struct mx_operand *b) {
    return a->type == b->type && a->code == b->code && a->sign == b->sign && a->is_signed == b->is_signed &&
           a->size == b->size;
}

static bool pool_place(struct mx_pool_plan *plan, uint8_t kind, uint16_t index, uint8_t words,
                       struct mx_operand *operand) {
    for (uint32_t i = MX_POOL_FIRST; i < plan->count; i += plan->entry[i].words) {
        const struct mx_pool_entry *entry = &plan->entry[i];
        if (entry->kind == kind && entry->index == index && entry->words == words &&
            operand_equal(&entry->operand, operand)) {
            operand->place = (uint8_t)i;
            return true;
        }
    }
    if (plan->count + words > MX_POOL_MAX)
        return false;
    plan->entry[plan->count] = (struct mx_pool_entry){kind, words, index, *operand};
    operand->place = (uint8_t)plan->count;
    plan->count += words;
    return true;
}

// valhall-isa.md, special FAU entries: by page and number.
static int special_place(uint32_t page, uint32_t entry) {
    static const struct {
        uint8_t page, entry, place;
    } known[] = {{0, 2, MX_POOL_WARP_ID},   {1, 1, MX_POOL_STACK},   {1, 3, MX_POOL_SHARED},
                 {1, 7, MX_POOL_RESOURCES}, {3, 1, MX_POOL_LANE_ID}, {3, 3, MX_POOL_ZERO}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].page == page && known[i].entry == entry)
            return known[i].place;
    return -1;
}

static bool modifies(const struct mx_operand *o) {
    switch ((enum mx_operand_type)o->type) {
    case MX_RAW:
        return false;
    case MX_H2:
        return o->code != 2 || o->sign;
    case MX_I16:
        return o->code != 2;
    case MX_BYTE:
    case MX_BYTES:
    case MX_HALF:
    case MX_F16:
        return true;
    case MX_SHIFT_AMOUNT:
        return true;
    default:
        return o->code != 0 || o->sign;
    }
}

static bool operand_place(const struct mx_step *step, struct mx_pool_plan *plan, unsigned i, uint8_t words,
                          struct mx_operand *o, struct mx_source *source) {
    uint64_t word = step->insn.word;
    uint32_t byte = mx_bits(word, 8 * i, 8), kind = byte >> 6, n = byte & 63, page = mx_bits(word, 57, 2);
    *source = (struct mx_source){MX_SOURCE_REGISTER, (uint8_t)n, words};
    o->modified = modifies(o);
    if (kind < 2) {
        o->place = (uint8_t)n;
        return n + words <= 64;
    }
    o->pooled = 1;
    if (kind == 2) {
        *source = (struct mx_source){MX_SOURCE_FAU, (uint8_t)(n + 64 * page), words};
        if (!pool_place(plan, MX_SOURCE_FAU, (uint16_t)(n + 64 * page), words, o))
            return false;
        o->modified = 0;
        return page < 2;
    }
    if (n < 32) {
        *source = (struct mx_source){MX_SOURCE_CONSTANT, (uint8_t)n, words};
        if (!pool_place(plan, MX_SOURCE_CONSTANT, (uint16_t)n, words, o))
            return false;
        o->modified = 0;
        return true;
    }
    int place = special_place(page, (n - 32) / 2);
    *source = (struct mx_source){MX_SOURCE_SPECIAL, (uint8_t)n, words};
    o->place = (uint8_t)(place + (n & 1 && place != MX_POOL_LANE_ID && place != MX_POOL_WARP_ID ? 1 : 0));
    return place >= 0;
}

// ---- what a shape's operands are

static uint8_t sign_bits(uint64_t word, unsigned i) {
    return (uint8_t)((mx_bits(word, 38 - 2 * i, 1) ? MX_SIGN_NEG : 0) |
                     (mx_bits(word, 39 - 2 * i, 1) ? MX_SIGN_ABS : 0));
}

static struct mx_operand operand_f32(uint64_t w, unsigned i, bool half) {
    return (struct mx_operand){
        .type = MX_F32, .sign = sign_bits(w, i), .code = half ? (uint8_t)mx_bits(w, 28 - 2 * i, 2) : 0};
}

static struct mx_operand operand_h2(uint64_t w, unsigned i, bool sign) {
    return (struct mx_operand){
        .type = MX_H2, .sign = sign ? sign_bits(w, i) : 0, .code = (uint8_t)mx_bits(w, 28 - 2 * i, 2)};
}

static struct mx_operand operand_int(uint64_t w, unsigned i, enum mx_operand_type type, bool is_signed) {
    return (struct mx_operand){
        .type = (uint8_t)type, .is_signed = is_signed, .code = (uint8_t)mx_bits(w, i == 0 ? 36 : 26, 4)};
}

static struct mx_operand operand_amount(uint64_t w, uint8_t size) {
    return (struct mx_operand){.type = MX_SHIFT_AMOUNT, .code = (uint8_t)mx_bits(w, 26, 4), .size = size};
}

#define RAW ((struct mx_operand){.type = MX_RAW})
#define TYPED(t, c, s) ((struct mx_operand){.type = (t), .code = (uint8_t)(c), .is_signed = (s)})

// What is done to each operand; words[i] is set where one takes two. How many there are: mx_form_sources.
static void operands_describe(enum mx_shape shape, uint64_t w, struct mx_operand o[4], uint8_t words[4]) {
    switch (shape) {
    case NONE:
    case CLOCK:
        return;
    case BRANCH:
    case RAW_1:
    case IMM:
        o[0] = RAW;
        return;
    case LOAD:
    case STORE:
    case ATOM:
    case ATOM1:
    case ATOM_RETURN:
        o[0] = RAW;
        words[0] = 2;
        return;
    case LD_PKA:
    case LEA_PKA:
        o[0] = o[1] = RAW;
        return;
    case BYTE_S:
    case BYTE_U:
        o[0] = TYPED(MX_BYTE, mx_bits(w, 28, 2), shape == BYTE_S);
        return;
    case BYTES_S:
    case BYTES_U:
        o[0] = TYPED(MX_BYTES, mx_bits(w, 36, 4), shape == BYTES_S);
        return;
    case HALF_S:
    case HALF_U:
        o[0] = TYPED(MX_HALF, mx_bits(w, 28, 1), shape == HALF_S);
        return;
    case HALF_F:
        o[0] = (struct mx_operand){.type = MX_F16, .code = (uint8_t)mx_bits(w, 28, 1), .sign = sign_bits(w, 0)};
        return;
    case F16_1: // the low half of a swizzle
        o[0] = (struct mx_operand){
            .type = MX_F16, .code = mx_bits(w, 28, 2) == 1 || mx_bits(w, 28, 2) == 3, .sign = sign_bits(w, 0)};
        return;
    case I16_S1:
    case I16_U1:
        o[0] = operand_int(w, 0, MX_I16, shape == I16_S1);
        return;
    case I32_S1:
    case I32_U1:
        o[0] = operand_int(w, 0, MX_I32, shape == I32_S1);
        return;
    case F32H_1:
        o[0] = operand_f32(w, 0, true);
        o[0].sign = 0;
        return;
    case F32_1:
    case F32N_1:
        o[0] = operand_f32(w, 0, shape == F32_1);
        return;
    case H2_1:
    case SWZ_1:
        o[0] = operand_h2(w, 0, shape == H2_1);
        return;
    case F32_2:
    case F32N_2:
        o[0] = operand_f32(w, 0, shape == F32_2);
        o[1] = operand_f32(w, 1, shape == F32_2);
        return;
    case F32N_RAW:
        o[0] = operand_f32(w, 0, false);
        o[1] = RAW;
        return;
    case RAW_F32N:
        o[0] = RAW;
        o[1] = operand_f32(w, 1, false);
        return;
    case H2_2:
        o[0] = operand_h2(w, 0, true);
        o[1] = operand_h2(w, 1, true);
        return;
    case H2N_RAW:
        o[0] = operand_h2(w, 0, true);
        o[0].code = 2; // no choice of halves
        o[1] = RAW;
        return;
    case F32_2C:
        o[0] = operand_f32(w, 0, true);
        o[1] = operand_f32(w, 1, true);
        o[2] = RAW;
        return;
    case H2_2C:
        o[0] = operand_h2(w, 0, true);
        o[1] = operand_h2(w, 1, true);
        o[2] = RAW;
        return;
    case MKVEC16:
        o[0] = TYPED(MX_HALF, mx_bits(w, 28, 1), 0);
        o[1] = TYPED(MX_HALF, mx_bits(w, 26, 1), 0);
        return;
    case MKVEC8:
        o[0] = TYPED(MX_BYTE, mx_bits(w, 38, 2), 0);
        o[1] = TYPED(MX_BYTE, mx_bits(w, 36, 2), 0);
        o[2] = RAW;
        return;
    case CLPER:
        o[0] = RAW;
        o[1] = operand_amount(w, 32);
        return;
    case I32_U:
    case I32_S:
    case I32_UC:
    case I32_SC:
        o[0] = operand_int(w, 0, MX_I32, shape == I32_S || shape == I32_SC);
        o[1] = operand_int(w, 1, MX_I32, shape == I32_S || shape == I32_SC);
        o[2] = RAW;
        return;
    case I16_U:
    case I16_S:
    case I16_UC:
    case I16_SC:
        o[0] = operand_int(w, 0, MX_I16, shape == I16_S || shape == I16_SC);
        o[1] = operand_int(w, 1, MX_I16, shape == I16_S || shape == I16_SC);
        o[2] = RAW;
        return;
    case I8_U:
    case I8_S:
    case I8_UC:
    case I8_SC:
        o[0] = operand_int(w, 0, MX_I8, false);
        o[1] = operand_int(w, 1, MX_I8, false);
        o[2] = RAW;
        return;
    case I64_U:
    case I64_S:
        o[0] = mx_bits(w, 48, 9) == 0x1a3 || mx_bits(w, 48, 9) == 0x1ab ? TYPED(MX_I64, 0, shape == I64_S) : RAW;
        if (mx_bits(w, 16, 4) != 7) // SHADDX's first source has no widening
            o[0].code = (uint8_t)mx_bits(w, 36, 4);
        o[1] = operand_int(w, 1, MX_I64, shape == I64_S);
        words[0] = words[1] = 2;
        if (o[1].code != 0)
            words[1] = o[1].code == 9 ? 2 : 1;
        return;
    case F32_3:
        for (unsigned i = 0; i < 3; i++)
            o[i] = operand_f32(w, i, true);
        return;
    case H2_3:
    case SWZ_3:
        for (unsigned i = 0; i < 3; i++)
            o[i] = operand_h2(w, i, shape == H2_3);
        return;
    case RAW_3:
        o[0] = o[1] = o[2] = RAW;
        return;
    case RAW_4:
        o[0] = o[1] = o[2] = o[3] = RAW;
        return;
    case RSCALE:
        for (unsigned i = 0; i < 3; i++)
            o[i] = operand_f32(w, i, false);
        o[3] = RAW;
        return;
    case SHIFT8:
    case SHIFT16:
    case SHIFT32:
        o[0] = operand_int(w, 0, shape == SHIFT8 ? MX_I8 : shape == SHIFT16 ? MX_I16 : MX_I32, false);
        o[1] = operand_amount(w, shape == SHIFT8 ? 8 : shape == SHIFT16 ? 16 : 32);
        o[2] = TYPED(MX_NOT, mx_bits(w, 35, 1), 0);
        return;
    case SHIFT64:
        o[0] = operand_int(w, 0, MX_I64, false);
        o[1] = operand_amount(w, 64);
        o[2] = TYPED(MX_NOT, mx_bits(w, 35, 1), 0);
        words[0] = words[2] = 2;
        return;
    }
}

static void modifiers_read(struct mx_step *s, enum mx_shape shape) {
    uint64_t w = s->insn.word;
    s->round = (uint8_t)mx_bits(w, 30, 2);
    s->result = (uint8_t)mx_bits(w, 30, 2);
    s->clamp = (uint8_t)mx_bits(w, 32, 2);
    s->condition = (uint8_t)mx_bits(w, 32, 3);
    s->saturate = (uint8_t)mx_bits(w, 30, 1);
    switch (shape) {
    case SHIFT8:
    case SHIFT16:
    case SHIFT32:
    case SHIFT64:
        s->variant = (uint8_t)(mx_bits(w, 32, 3) << 2 | mx_bits(w, 24, 2));
        break;
    case F32H_1:
    case SWZ_1:
        s->variant = (uint8_t)mx_bits(w, 24, 2);
        break;
    case CLPER:
        s->variant = (uint8_t)mx_bits(w, 22, 4); // value of inactive lanes
        s->staging_count = (uint8_t)(2u << mx_bits(w, 36, 2));
        break;
    case F32_2C:
    case H2_2C:
    case I32_UC:
    case I32_SC:
    case I16_UC:
    case I16_SC:
    case I8_UC:
    case I8_SC:
        s->variant = (uint8_t)mx_bits(w, 24, 2); // combine
        break;
    case I64_U:
    case I64_S:
        s->variant = (uint8_t)mx_bits(w, 20, 3); // shift
        break;
    case IMM:
        s->immediate = mx_bits(w, 8, 32);
        break;
    case BRANCH:
        s->offset = (int32_t)(mx_bits(w, 8, 27) << 5) >> 5;
        s->saturate = (uint8_t)mx_bits(w, 36, 1); // jump when zero
        s->variant = (uint8_t)mx_bits(w, 37, 3);
        break;
    default:
        break;
    }
}

static const uint8_t message_bytes[8] = {1, 2, 3, 4, 6, 8, 12, 16};

static void message_read(struct mx_step *s, enum mx_shape shape) {
    uint64_t w = s->insn.word;
    s->bytes = message_bytes[mx_bits(w, 27, 3)];
    s->staging = (uint8_t)mx_bits(w, 40, 6);
    s->staging_count = (uint8_t)mx_bits(w, 33, 3);
    s->lane = (uint8_t)mx_bits(w, 36, 3);
    s->saturate = (uint8_t)mx_bits(w, 39, 1); // zero-extends
    s->variant = (uint8_t)mx_bits(w, 22, 4);
    if (shape == LOAD || shape == STORE)
        s->offset = (int16_t)mx_bits(w, 8, 16);
    else if (shape == ATOM || shape == ATOM1 || shape == ATOM_RETURN)
        s->offset = (int32_t)mx_bits(w, 8, 8);
    if (shape == ATOM_RETURN)
        s->condition = (uint8_t)mx_bits(w, 26, 1); // compare
}

static void written_set(struct mx_step *s, enum mx_shape shape) {
    struct mx_insn *insn = &s->insn;
    uint64_t w = insn->word;
    s->written = insn->written = (uint8_t)mx_bits(w, 40, 6);
    insn->written_count = 1;
    switch (shape) {
    case NONE:
    case BRANCH:
    case STORE:
    case ATOM:
        insn->written_count = 0;
        return;
    case LEA_PKA:
    case CLOCK:
    case I64_U:
    case I64_S:
    case SHIFT64:
        insn->written_count = 2;
        return;
    case LOAD:
    case LD_PKA:
        insn->written_count = s->staging_count;
        return;
    case ATOM1:
        insn->written_count = s->staging_count;
        return;
    case ATOM_RETURN:
        s->written = insn->written = (uint8_t)mx_bits(w, 16, 6);
        insn->written_count = (uint8_t)(mx_bits(w, 36, 3) + 1);
        return;
    default:
        s->half = insn->written_half = (uint8_t)(mx_bits(w, 46, 2) == 3 ? 0 : mx_bits(w, 46, 2));
    }
}

// Whether the staging registers that the word names hold what the message moves.
static bool staging_fits(const struct mx_step *s, enum mx_shape shape) {
    unsigned needed = (s->bytes + 3u) / 4, count = s->staging_count;
    switch (shape) {
    case LOAD:
    case LD_PKA:
        return count == needed + (s->bytes <= 2 && s->lane == (s->bytes == 1 ? 7 : 3)); // to 64 bits
    case STORE:
    case ATOM:
    case ATOM1:
        return count == needed;
    case ATOM_RETURN:
        return count == needed * (1u + s->condition) && s->insn.written_count == needed;
    default:
        return true;
    }
}

static uint8_t control_of(const struct mx_insn *insn) {
    if (insn->flow == 15)
        return MX_END;
    if (insn->op == MX_OP_BRANCHZ)
        return MX_BRANCH;
    if (insn->op == MX_OP_BARRIER)
        return MX_BARRIER;
    if (insn->flow == 10)
        return MX_RECONVERGE;
    return insn->unit == MX_UNIT_LS ? MX_MESSAGE : MX_GO_ON;
}

bool mx_decode(uint64_t word, struct mx_step *s, struct mx_pool_plan *plan) {
    const struct mx_row *row = row_find(word);
    uint32_t flow = mx_bits(word, 59, 4);
    if (row == NULL || !mx_form_fits(row, word))
        return false;
    struct mx_insn insn = {.word = word, .op = (uint16_t)(row - mx_rows), .unit = row->unit, .flow = (uint8_t)flow};
    *s = (struct mx_step){.run = row->run, .insn = insn};
    enum mx_shape shape = (enum mx_shape)row->shape;
    modifiers_read(s, shape);
    if (row->unit == MX_UNIT_LS)
        message_read(s, shape);
    uint8_t words[4] = {1, 1, 1, 1};
    unsigned count = mx_form_sources(row);
    operands_describe(shape, word, s->operand, words);
    for (unsigned i = 0; i < count; i++)
        if (!operand_place(s, plan, i, words[i], &s->operand[i], &s->insn.sources[i]))
            return false;
    if (shape == STORE || shape == ATOM || shape == ATOM_RETURN)
        s->insn.sources[count++] = (struct mx_source){MX_SOURCE_REGISTER, s->staging, s->staging_count};
    s->insn.source_count = (uint8_t)count;
    written_set(s, shape);
    s->control = control_of(&s->insn);
    return staging_fits(s, shape) && s->written + s->insn.written_count <= 64 &&
           s->staging + s->staging_count <= 64 + (shape == CLPER) * 64;
}
