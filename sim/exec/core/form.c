// SPDX-License-Identifier: MIT
#include "form.h"

#include <string.h>

#define FIELD static const struct mx_field

// ---- modifiers of operations: valhall-isa.md, section 1, modifier positions

const struct mx_field mx_field_flow = {59,
                                       4,
                                       {"", ".wait0", ".wait1", ".wait01", ".wait2", ".wait02", ".wait12", ".wait012",
                                        ".wait0126", ".wait", ".reconverge", NULL, NULL, NULL, NULL, ".end"}};

FIELD rounding = {30, 2, {"", ".rtp", ".rtn", ".rtz"}};
FIELD clamping = {32, 2, {"", ".clamp_0_inf", ".clamp_m1_1", ".clamp_0_1"}};
FIELD condition = {32, 3, {".eq", ".gt", ".ge", ".ne", ".lt", ".le", ".gtlt", ".total"}};
FIELD condition_integer = {32, 3, {".eq", ".gt", ".ge", ".ne", ".lt", ".le"}};
FIELD result = {30, 2, {".i1", ".f1", ".m1"}};
FIELD result_multi = {30, 2, {NULL, NULL, NULL, ".u1"}};
FIELD saturate = {30, 1, {"", ".saturate"}};
FIELD round_up = {30, 1, {"", ".rhadd"}};
FIELD invert = {30, 1, {"", ".not_result"}};
FIELD frexp_sqrt = {24, 1, {"", ".sqrt"}};
FIELD frexp_log = {25, 1, {"", ".log"}};
FIELD mux = {32, 2, {".neg", "", ".fp_zero", ".bit"}};
FIELD subgroup = {36, 2, {".subgroup2", ".subgroup4", ".subgroup8", ""}};
FIELD subgroup_whole = {36, 2, {NULL, NULL, NULL, ""}};
FIELD lane_operation = {32, 3, {"", ".xor", ".accumulate", ".shift"}};
FIELD inactive = {22,
                  4,
                  {"", ".umax", ".i1", ".v2i1", ".smin", ".smax", ".v2smin", ".v2smax", ".v4smin", ".v4smax", ".f1",
                   ".v2f1", ".infn", ".inf", ".v2infn", ".v2inf"}};
FIELD conservative = {35, 1, {"", ".conservative"}};
FIELD when_zero = {36, 1, {"", ".eq"}};
FIELD slot = {30, 3, {".slot0", ".slot1", ".slot2"}};
FIELD slot_barrier = {30, 3, {[7] = ".slot7"}};
FIELD access_hint = {24, 2, {"", ".istream", ".estream", ".force"}};
FIELD width = {27, 3, {".i8", ".i16", ".i24", ".i32", ".i48", ".i64", ".i96", ".i128"}};
FIELD width_atomic = {27, 3, {[3] = ".i32", [5] = ".i64"}};
FIELD zero_extends = {39, 1, {"", ".unsigned"}};
FIELD compares = {26, 1, {"", ".compare"}};
FIELD atomic = {
    22, 4, {[2] = ".aadd", [8] = ".asmin", ".asmax", ".aumin", ".aumax", ".aand", ".aor", ".axor", ".axchg"}};
FIELD atomic1 = {22, 4, {".ainc", ".adec", ".aumax1", ".asmax1", ".aor1"}};
FIELD clock_source = {0, 8, {[6] = "", [7] = ".timestamp"}};

// Where a loaded value goes: by width.
FIELD load_lane[8] = {{36, 3, {"", ".b1", ".b2", ".b3", ".h0", ".h1", ".w0", ".d0"}},
                      {36, 3, {"", ".h1", ".w0", ".d0"}},
                      {36, 3, {""}},
                      {36, 3, {""}},
                      {36, 3, {[4] = ""}},
                      {36, 3, {[7] = ""}},
                      {36, 3, {[6] = ""}},
                      {36, 3, {[7] = ""}}};
FIELD store_lane = {36, 4, {""}};

// What a destination is written with.
FIELD written = {46, 2, {NULL, ".h0", ".h1", ""}};
FIELD written_none = {46, 2, {"", NULL, NULL, ""}};
FIELD staging_read = {46, 2, {[1] = ""}};
FIELD staging_written = {46, 2, {[2] = ""}};
FIELD staging_both = {46, 2, {[3] = ""}};

// ---- of operands

FIELD negated[] = {{38, 1, {"", ".neg"}}, {36, 1, {"", ".neg"}}, {34, 1, {"", ".neg"}}};
FIELD absolute[] = {{39, 1, {"", ".abs"}}, {37, 1, {"", ".abs"}}, {35, 1, {"", ".abs"}}};
#define HALVES "", ".h0", ".h1"
FIELD half_widened[] = {{28, 2, {HALVES}}, {26, 2, {HALVES}}, {24, 2, {HALVES}}};
#define SWIZZLES ".h00", ".h10", "", ".h11"
FIELD swizzle[] = {{28, 2, {SWIZZLES}}, {26, 2, {SWIZZLES}}, {24, 2, {SWIZZLES}}};
#define WIDENS32 "", NULL, ".h0", ".h1", ".b0", ".b1", ".b2", ".b3"
FIELD widen32[] = {{36, 4, {WIDENS32}}, {26, 4, {WIDENS32}}};
#define WIDENS64 WIDENS32, ".w0", ".w1"
FIELD widen64[] = {{36, 4, {WIDENS64}}, {26, 4, {WIDENS64}}};
#define WIDENS16 SWIZZLES, ".b00", ".b20", ".b02", ".b22", ".b11", ".b31", ".b13", ".b33", ".b01", ".b23"
FIELD widen16[] = {{36, 4, {WIDENS16}}, {26, 4, {WIDENS16}}};
#define WIDENS8                                                                                                        \
    "", ".b3210", ".b0101", ".b2323", ".b0000", ".b1111", ".b2222", ".b3333", ".b2301", ".b1032", ".b0011", ".b2233"
FIELD widen8[] = {{36, 4, {WIDENS8}}, {26, 4, {WIDENS8}}};
FIELD amount32 = {26, 4, {[4] = ".b00", ".b11", ".b22", ".b33"}};
FIELD amount16 = {26, 4, {[0] = ".b02", [4] = ".b00", ".b11", ".b22", ".b33", [10] = ".b01", ".b23"}};
FIELD amount8 = {
    26, 4, {"", ".b3210", ".b0101", ".b2323", ".b00", ".b11", ".b22", ".b33", ".b2301", ".b1032", ".b0011", ".b2233"}};
FIELD inverted = {35, 1, {"", ".not"}};
FIELD byte_of = {28, 2, {".b0", ".b1", ".b2", ".b3"}};
FIELD half_of = {28, 1, {".h0", ".h1"}};
FIELD half_of_second = {26, 1, {".h0", ".h1"}};
FIELD byte_of_first = {38, 2, {".b0", ".b1", ".b2", ".b3"}};
FIELD byte_of_second = {36, 2, {".b0", ".b1", ".b2", ".b3"}};
FIELD byte_pair = {36,
                   4,
                   {".b00", ".b10", ".b20", ".b30", ".b01", ".b11", ".b21", ".b31", ".b02", ".b12", ".b22", ".b32",
                    ".b03", ".b13", ".b23", ".b33"}};
FIELD branch_part = {37, 3, {"", ".h0", ".h1", ".and", ".lowbits"}};

#define LIST(...)                                                                                                      \
    do {                                                                                                               \
        const struct mx_field *list[MX_MODIFIERS_MAX] = {__VA_ARGS__};                                                 \
        memcpy(modifiers, list, sizeof list);                                                                          \
        return;                                                                                                        \
    } while (0)

static const struct mx_field *compare_result(const struct mx_row *row) {
    return row->value == 2 ? &result_multi : &result;
}

// Of an addition and its kin, by the second opcode.
static const struct mx_field *integer_modifier(const struct mx_row *row) {
    return row->value == 11 ? &round_up : &saturate;
}

static void message_modifiers(const struct mx_row *row, uint64_t word,
                              const struct mx_field *modifiers[MX_MODIFIERS_MAX]) {
    const struct mx_field *lane = &load_lane[mx_bits(word, 27, 3)];
    switch ((enum mx_shape)row->shape) {
    case LOAD:
        LIST(&width, &access_hint, lane, &zero_extends, &slot);
    case STORE:
        LIST(&width, &access_hint, &slot);
    case LD_PKA:
        LIST(&width, lane, &zero_extends, &slot);
    case ATOM:
        LIST(&width_atomic, &slot, &atomic);
    case ATOM1:
        LIST(&width_atomic, &slot, &atomic1);
    case ATOM_RETURN:
        LIST(&width_atomic, &slot, &compares, &atomic);
    case CLOCK:
        LIST(&clock_source, &slot);
    default:
        LIST(&slot);
    }
}

void mx_form_modifiers(const struct mx_row *row, uint64_t word, const struct mx_field *modifiers[MX_MODIFIERS_MAX]) {
    if (row->unit == MX_UNIT_LS) {
        message_modifiers(row, word, modifiers);
        return;
    }
    switch ((enum mx_shape)row->shape) {
    case NONE:
        LIST(row->opcode == 0x45 ? &slot_barrier : NULL);
    case BRANCH:
        LIST(&conservative, &when_zero);
    case F32_1: // conversions; special functions have none
    case H2_1:
    case F32N_1:
    case HALF_F:
    case I16_S1:
    case I16_U1:
    case I32_S1:
    case I32_U1:
        LIST(row->opcode == 0x90 && row->value != 0x0b ? &rounding : NULL);
    case F32H_1:
        LIST(&frexp_sqrt, &frexp_log);
    case SWZ_1:
        if (row->opcode == 0x99)
            LIST(&frexp_sqrt, &frexp_log);
        LIST(NULL);
    case F32_2:
    case H2_2:
        if (row->value == 0)
            LIST(&rounding, &clamping);
        LIST(&clamping);
    case F32N_2:
        if (row->opcode == 0xa5)
            LIST(&clamping, &rounding);
        LIST(&clamping);
    case F32N_RAW:
    case H2N_RAW:
        LIST(&rounding);
    case RAW_F32N:
    case RSCALE:
        LIST(&clamping);
    case F32_3:
    case H2_3:
        LIST(&clamping, &rounding);
    case F32_2C:
    case H2_2C:
        LIST(&condition, &result);
    case I32_UC:
    case I32_SC:
    case I16_UC:
    case I16_SC:
    case I8_UC:
    case I8_SC:
        LIST(&condition_integer, compare_result(row));
    case I32_U:
    case I32_S:
    case I16_U:
    case I16_S:
    case I8_U:
    case I8_S:
        LIST(integer_modifier(row));
    case CLPER:
        LIST(&subgroup, &lane_operation, &inactive);
    case SHIFT8:
    case SHIFT16:
    case SHIFT32:
    case SHIFT64:
        LIST(&invert);
    case SWZ_3:
        LIST(&mux);
    case RAW_3:
        LIST(row->opcode == 0xc2 ? &saturate : &mux);
    case RAW_4:
        LIST(row->opcode == 0x154 || row->opcode == 0x155 ? &condition : &condition_integer);
    case RAW_1:
        LIST(row->opcode == 0x95 ? &subgroup_whole : NULL);
    default:
        LIST(NULL);
    }
}

void mx_form_operand(const struct mx_row *row, unsigned i, const struct mx_field *modifiers[MX_MODIFIERS_MAX]) {
    switch ((enum mx_shape)row->shape) {
    case BYTE_S:
    case BYTE_U:
        LIST(&byte_of);
    case BYTES_S:
    case BYTES_U:
        LIST(&byte_pair);
    case HALF_S:
    case HALF_U:
        LIST(&half_of);
    case HALF_F:
        LIST(&negated[0], &absolute[0], &half_of);
    case I16_S1:
    case I16_U1:
        LIST(&widen16[0]);
    case I32_S1:
    case I32_U1:
        LIST(&widen32[0]);
    case F32H_1:
        LIST(&half_widened[0]);
    case SWZ_1:
        LIST(&swizzle[0]);
    case F32_2C:
    case F32_1:
    case F32_2:
    case F32_3:
        if (row->shape == F32_2C && i == 2)
            LIST(NULL);
        LIST(&negated[i], &absolute[i], &half_widened[i]);
    case H2_2C:
    case H2_1:
    case F16_1:
    case H2_2:
    case H2_3:
        if (row->shape == H2_2C && i == 2)
            LIST(NULL);
        LIST(&negated[i], &absolute[i], &swizzle[i]);
    case F32N_1:
    case F32N_2:
        LIST(&negated[i], &absolute[i]);
    case F32N_RAW:
    case H2N_RAW:
        LIST(i == 0 ? &negated[0] : NULL, &absolute[0]);
    case RAW_F32N:
        LIST(i == 1 ? &negated[1] : NULL, &absolute[1]);
    case RSCALE:
        LIST(i < 3 ? &negated[i % 3] : NULL, &absolute[i % 3]);
    case I32_U:
    case I32_S:
    case I32_UC:
    case I32_SC:
        LIST(i < 2 ? &widen32[i] : NULL);
    case I16_U:
    case I16_S:
    case I16_UC:
    case I16_SC:
        LIST(i < 2 ? &widen16[i] : NULL);
    case I8_U:
    case I8_S:
    case I8_UC:
    case I8_SC:
        LIST(i < 2 ? &widen8[i] : NULL);
    case I64_U:
    case I64_S:
        LIST(row->value == 7 && i == 0 ? NULL : &widen64[i]);
    case MKVEC16:
        LIST(i == 0 ? &half_of : &half_of_second);
    case MKVEC8:
        LIST(i == 0 ? &byte_of_first : i == 1 ? &byte_of_second : NULL);
    case CLPER:
        LIST(i == 1 ? &amount32 : NULL);
    case SHIFT8:
        LIST(i == 0 ? &widen8[0] : i == 1 ? &amount8 : &inverted);
    case SHIFT16:
        LIST(i == 0 ? &widen16[0] : i == 1 ? &amount16 : &inverted);
    case SHIFT32:
        LIST(i == 0 ? &widen32[0] : i == 1 ? &amount32 : &inverted);
    case SHIFT64:
        LIST(i == 0 ? &widen64[0] : i == 1 ? &amount32 : &inverted);
    case SWZ_3:
        LIST(&swizzle[i]);
    case BRANCH:
        LIST(&branch_part);
    default:
        LIST(NULL);
    }
}

// ---- what is left of a word

// The field that says how the destination, or the staging registers, are used.
static const struct mx_field *written_field(const struct mx_row *row) {
    switch ((enum mx_shape)row->shape) {
    case NONE:
    case BRANCH:
        return &written_none;
    case STORE:
    case ATOM:
        return &staging_read;
    case ATOM_RETURN:
        return &staging_both;
    default:
        return row->unit == MX_UNIT_LS ? &staging_written : &written;
    }
}

static uint64_t field_bits(unsigned first, unsigned count) {
    return ((UINT64_C(1) << count) - 1) << first;
}

// Sources, immediates, registers: fields of which every value has a meaning.
static uint64_t plain_bits(const struct mx_row *row) {
    const uint64_t destination = field_bits(40, 6), count = field_bits(33, 3);
    switch ((enum mx_shape)row->shape) {
    case NONE:
        return 0;
    case BRANCH:
        return field_bits(0, 35);
    case CLOCK:
        return destination | count;
    case LOAD:
    case STORE:
        return field_bits(0, 24) | destination | count;
    case LD_PKA:
    case LEA_PKA:
    case ATOM:
    case ATOM1:
        return field_bits(0, 16) | destination | count;
    case ATOM_RETURN:
        return field_bits(0, 22) | destination | count | field_bits(36, 3);
    case IMM:
        return field_bits(0, 40) | destination;
    case I64_U:
    case I64_S:
        return field_bits(0, 16) | destination | (row->value == 7 ? field_bits(20, 3) : 0);
    case RAW_4:
    case RSCALE:
        return field_bits(0, 32) | destination;
    default:
        return field_bits(0, 8 * mx_form_sources(row)) | destination;
    }
}

unsigned mx_form_sources(const struct mx_row *row) {
    switch ((enum mx_shape)row->shape) {
    case NONE:
    case CLOCK:
        return 0;
    case RAW_4:
    case RSCALE:
        return 4;
    case F32_2C:
    case H2_2C:
    case I32_UC:
    case I32_SC:
    case I16_UC:
    case I16_SC:
    case I8_UC:
    case I8_SC:
    case F32_3:
    case H2_3:
    case RAW_3:
    case SWZ_3:
    case SHIFT8:
    case SHIFT16:
    case SHIFT32:
    case SHIFT64:
    case MKVEC8:
        return 3;
    case LD_PKA:
    case LEA_PKA:
    case F32_2:
    case F32N_2:
    case F32N_RAW:
    case RAW_F32N:
    case H2_2:
    case H2N_RAW:
    case MKVEC16:
    case CLPER:
    case I32_U:
    case I32_S:
    case I16_U:
    case I16_S:
    case I8_U:
    case I8_S:
    case I64_U:
    case I64_S:
        return 2;
    default:
        return 1;
    }
}

// Takes the field's bits off *rest. False: its value does not exist.
static bool field_take(const struct mx_field *field, uint64_t word, uint64_t *rest) {
    uint32_t value = mx_bits(word, field->first, field->count);
    *rest &= ~field_bits(field->first, field->count);
    return value < 16 && field->names[value] != NULL;
}

static bool list_take(const struct mx_field *const *list, uint64_t word, uint64_t *rest) {
    bool good = true;
    for (unsigned i = 0; list[i] != NULL; i++)
        good &= field_take(list[i], word, rest);
    return good;
}

bool mx_form_fits(const struct mx_row *row, uint64_t word) {
    const struct mx_field *list[MX_MODIFIERS_MAX];
    uint64_t opcodes = field_bits(48, 11) | (uint64_t)row->mask << row->shift; // and the FAU page
    uint64_t rest = word & ~(opcodes | plain_bits(row));
    mx_form_modifiers(row, word, list);
    bool good = list_take(list, word, &rest) && field_take(&mx_field_flow, word, &rest);
    for (unsigned i = 0; i < mx_form_sources(row); i++) {
        mx_form_operand(row, i, list);
        good &= list_take(list, word, &rest);
    }
    if (row->shape == STORE)
        good &= field_take(&store_lane, word, &rest);
    // An all-zero word is NOP, too.
    return good && field_take(written_field(row), word, &rest) && rest == 0;
}
