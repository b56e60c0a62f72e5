// SPDX-License-Identifier: MIT
#include "check_test.h"
#include "compare.h"
#include "rules.h"

static const struct {
    const char *name;
    uint64_t word;
    uint64_t value[4], undefined[4];
    uint64_t result;
} cases[] = {
    {"MOV.i32", 0, {0}, {0xf0}, 0xf0},
    {"IADD.u32", 0, {0}, {0x100}, 0xffffff00},
    {"IADD.u32", UINT64_C(1) << 30, {0}, {0x100}, 0xffffffff},      // saturates
    {"IADD.u32", UINT64_C(4) << 36, {0}, {0xffffff00}, 0},          // byte 0 of source 0
    {"IADD.u32", UINT64_C(5) << 36, {0}, {0xff00}, 0xffffffff},     // byte 1
    {"IADD.s32", UINT64_C(3) << 36, {0}, {0x80000000}, 0xffff8000}, // the sign of half 1
    {"IADD.v2u16", UINT64_C(0x808000000), {0}, {0x10}, 0xfff0fff0}, // selector 0: half 0 to both
    {"IADD.v4u8", 0, {0}, {0x00010000}, 0x00ff0000},
    {"IADD.u64", 0, {0}, {UINT64_C(1) << 33}, ~UINT64_C(0) << 33},
    {"SHADDX.s64", UINT64_C(4) << 20, {0}, {0, 1}, ~UINT64_C(0) << 4},
    {"IADD_IMM.i32", 0, {0}, {2}, 0xfffffffe},
    {"IMUL.i32", 0, {7, 0}, {0, 4}, 0xfffffffc},
    {"IMUL.i32", 0, {0, 0}, {0, 4}, 0}, // times zero
    {"LSHIFT_OR.i32", UINT64_C(1) << 32 | 1 << 24 | 4 << 26, {0, 8, 0}, {0xff, 0, 0}, 0xff00},
    {"LSHIFT_OR.i32", UINT64_C(1) << 32 | 1 << 24 | 4 << 26, {0, 8, 0xff00}, {0xff, 0, 0}, 0}, // or ones
    {"LSHIFT_OR.i32", UINT64_C(1) << 32 | 1 << 24 | 4 << 26, {0, 0, 0}, {0, 1, 0}, 0xffffffff},
    {"RSHIFT_AND.i32", 0, {0, 0, 0xff}, {0xffff, 0, 0}, 0xff},
    {"RSHIFT_AND.i32", UINT64_C(1) << 35, {0, 0, 0xff}, {0xffff, 0, 0}, 0xff00}, // and not
    {"ARSHIFT_OR.i32", UINT64_C(4) << 32 | 1 << 24 | 4 << 26, {0, 4, 0}, {0x80000000, 0, 0}, 0xf8000000},
    {"RSHIFT_XOR.v2i16", 2 << 24 | UINT64_C(2) << 36 | 0 << 26, {0, 4 << 16, 0}, {0x00f00000, 0, 0}, 0x000f0000},
    {"LSHIFT_OR.i64", UINT64_C(1) << 32 | 1 << 24 | 4 << 26, {0, 32, 0}, {0xff, 0, 0}, UINT64_C(0xff00000000)},
    {"FMA.f32", 0, {0}, {0, 1, 0}, 0xffffffff},
    {"FMA.f32", UINT64_C(1) << 24, {0}, {0, 0, 0xffff0000}, 0}, // the low half of source 2
    {"FADD.v2f16", UINT64_C(2) << 28 | 2 << 26, {0}, {0x10000}, 0xffff0000},
    {"F16_TO_F32", 0, {0}, {0xffff0000}, 0},
    {"F16_TO_F32", 1 << 28, {0}, {0x10000}, 0xffffffff},
    {"U8_TO_U32", UINT64_C(2) << 28, {0}, {0xff00ffff}, 0},
    {"S8_TO_S32", UINT64_C(2) << 28, {0}, {0x800000}, 0xffffffff},
    {"V2U8_TO_V2U16", UINT64_C(13) << 36, {0}, {0xff000000}, 0xffff0000}, // bytes 1 and 3
    {"V2F32_TO_V2F16", 0, {0}, {0, 1}, 0xffff0000},
    {"MKVEC.v2i16", 1 << 28, {0}, {0xffff, 0x8000}, 0x80000000},
    {"MKVEC.v2i8", UINT64_C(1) << 38, {0}, {0xff00, 0, 0xffff0000}, 0xff},
    {"CSEL.u32", 0, {1, 1, 5, 6}, {0, 0, 0, 0xff}, 0},                          // equal: source 2
    {"CSEL.u32", 0, {1, 2, 5, 6}, {0, 0, 0, 0xff}, 0xff},                       // not
    {"CSEL.u32", 0, {1, 1, 5, 6}, {1, 0, 0, 0}, 3},                             // unknown: where both differ
    {"CSEL.u32", 0, {1, 1, 5, 5}, {1, 0, 0, 0}, 0},                             // both the same
    {"CSEL.f32", UINT64_C(4) << 32, {0xbf800000, 0, 5, 6}, {0, 0, 0, 0xff}, 0}, // -1 < 0
    {"CSEL.v2s16", UINT64_C(4) << 32, {0xffff0001, 0, 5, 6}, {0, 0, 0xffffffff, 0}, 0xffff0000},
    {"MUX.i32", UINT64_C(1) << 32, {5, 6, 0}, {0xff, 0, 0}, 0xff},
    {"MUX.i32", UINT64_C(1) << 32, {5, 6, 9}, {0xff, 0, 0}, 0},
    {"MUX.i32", UINT64_C(3) << 32, {5, 6, 0xf}, {0xff, 0, 0}, 0xf},
    {"MUX.v2i16", UINT64_C(1) << 32 | 3 << 28 | 3 << 24, {5, 6, 0}, {0xff0000, 0, 0xffff}, 0x00ff00ff}, // high halves
    {"ICMP_OR.u32", 0, {1, 2, 0}, {0, 1, 0}, 0xffffffff},
    {"ICMP_OR.u32", 0, {1, 1, 0}, {0, 0, 0xff}, 0},                                     // true or unknown
    {"ICMP_AND.u32", 1 << 24, {1, 2, 0}, {0, 0, 0xff}, 0},                              // false and unknown
    {"ICMP_AND.u32", 1 << 24, {1, 1, 0}, {0, 0, 0xff}, 0xffffffff},                     // true and unknown
    {"ICMP_AND.u32", 1 << 24, {1, 1, 0}, {8, 0, 0}, 0},                                 // unknown and false
    {"FCMP_AND.f32", UINT64_C(4) << 32 | 1 << 24, {0x7fc00000, 0, 0}, {0, 0, 0xff}, 0}, // NaN < 0 is false
    {"IDPADD.v4s8", 0, {0x01010101, 0x00010101}, {0xff000000, 0}, 0},                   // times zero
    {"IDPADD.v4s8", 0, {0x01010101, 0x01010101}, {0xff000000, 0}, 0xffffffff},
    {"FSIN_TABLE.u6", 0, {0}, {0xffffffc0}, 0},
    {"a new operation", 0, {0}, {0, 0, 1}, UINT64_MAX},
};

static void rules(struct fake *fake) {
    (void)fake;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct mx_rule_op op = mx_rule_of(cases[i].name);
        uint64_t value[4], undefined[4];
        for (unsigned s = 0; s < 4; s++) {
            value[s] = mx_rule_pick(&op, cases[i].word, s, cases[i].value[s]);
            undefined[s] = mx_rule_pick(&op, cases[i].word, s, cases[i].undefined[s]);
        }
        uint64_t result = mx_rule_apply(&op, cases[i].word, value, undefined);
        test_check_equal((int64_t)result, (int64_t)cases[i].result, __FILE__, (int)i, cases[i].name);
    }
}

static void branches(struct fake *fake) {
    (void)fake;
    CHECK(mx_rule_branch(0, 0, 1));
    CHECK(!mx_rule_branch(0, 2, 1)); // a defined bit is set: not zero, whatever the other is
    CHECK(mx_rule_branch(0, 1, 1));
    CHECK(!mx_rule_branch(UINT64_C(1) << 37, 0, 0x10000)); // the low half decides
    CHECK(mx_rule_branch(UINT64_C(2) << 37, 0, 0x10000));
}

static void comparisons(struct fake *fake) {
    (void)fake;
    const struct mx_comparison less = {.bits = 16, .is_float = true, .condition = 4};
    CHECK(mx_compare(&less, 0xbc00, 0x8000));  // -1 < -0
    CHECK(!mx_compare(&less, 0x8000, 0));      // -0 < 0
    CHECK(!mx_compare(&less, 0x7e00, 0x3c00)); // NaN
    CHECK(mx_compare(&(struct mx_comparison){.bits = 8, .is_signed = true, .condition = 1}, 1, 0xff));
    CHECK(!mx_compare(&(struct mx_comparison){.bits = 8, .condition = 1}, 1, 0xff));
    CHECK(mx_compare(&(struct mx_comparison){.bits = 32, .is_float = true, .condition = 3}, 0x7fc00000, 0x7fc00000));
}

const struct test rule_tests[] = {{"rules", rules}, {"branches", branches}, {"comparisons", comparisons}, {0}};
