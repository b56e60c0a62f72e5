// SPDX-License-Identifier: MIT
// Words of real binaries, what the stock driver's disassembler says about them, and words that nobody knows.
#include <stdio.h>

#include "core_test.h"
#include "form.h"

static const struct {
    uint64_t word;
    const char *text;
} vectors[] = {
    {UINT64_C(0x501fc0200000a953), "BRANCHZ.reconverge r19^.h0, offset:169"},
    {UINT64_C(0x106a9cf878008913), "LD_PKA.i128.unsigned.slot1.wait1 @r28:r29:r30:r31, r19, u9"},
    {UINT64_C(0x206a8a8280008600), "LD_PKA.i8.unsigned.slot2.wait2 @r10, r0, u6"},
    {UINT64_C(0x206b880480008400), "LEA_PKA.slot2.wait2 @r8:r9, r0, u4"},
    {UINT64_C(0x00615208b8000044), "STORE.i128.slot2 @r18:r19:r20:r21, r4^, offset:0"},
    {UINT64_C(0x0a608ef4280000e6), "LOAD.i64.unsigned.slot0.wait0 @r14:r15, workgroup_local_pointer.w0, offset:0"},
    {UINT64_C(0x1069840258000044), "ATOM1_RETURN.i32.slot1.ainc.wait1 @r4, r4^, offset:0x0"},
    {UINT64_C(0x1120c8045fc8004a), "ATOM_RETURN.i32.slot1.compare.axchg.wait1 @r8, @r8:r9, r10^, offset:0x0"},
    {UINT64_C(0x4845c001c0000000), "BARRIER.slot7.wait"},
    {UINT64_C(0x0120f018afc80048), "ATOM_RETURN.i64.slot2.compare.axchg @r8:r9, @r48:r49:r50:r51, r8^, offset:0x0"},
    {UINT64_C(0x00c2d70040c01c18), "IDPADD.v4s8.saturate r23, r24, r28, 0x0"},
    {UINT64_C(0x00b2cd0400c08a4d), "FMA.f32 r13, r13^, u10, 0x0.neg"},
    {UINT64_C(0x00b3c60416c00501), "FMA.v2f16 r6, r1.h10, r5.h10, 0x0.neg"},
    {UINT64_C(0x08a445100000c002), "FADD.f32.wait0 r5.h0, r2, 0x0.neg"},
    {UINT64_C(0x00a5c6132800c001), "FADD.v2f16.clamp_0_1 r6, r1, 0x0.neg"},
    {UINT64_C(0x30a1f4100800c007), "IADD.v2u16.wait12 r52, r7.h10, 0x0"},
    {UINT64_C(0x5110d200000000c0), "IADD_IMM.i32.reconverge r18, 0x0, #0x0"},
    {UINT64_C(0x08f0c70498c0c800), "ICMP_OR.u32.lt.m1.wait0 r7, r0, 0x3020100.b2, 0x0"},
    {UINT64_C(0x00f4f18488c0da03), "FCMP_OR.f32.lt.m1 r49, r3.abs, 0x38000000.h1, 0x0"},
    {UINT64_C(0x3150cc0089c0c007), "CSEL.u32.eq.wait12 r12, r7, 0x0, 0x0, u9"},
    {UINT64_C(0x00b9f60130360808), "MUX.v2i16 r54, r8.h11, r8.h00, r54.h00"},
    {UINT64_C(0x00b4c00119c04080), "LSHIFT_OR.i32 r0, u0, r0^.b22, 0x0"},
    {UINT64_C(0x00b6c2511dc0c404), "LSHIFT_OR.v4i8 r2, r4.b1111, 0x1000000.b33, 0x0"},
    {UINT64_C(0x30b4c20419c0c842), "ARSHIFT_OR.i32.wait12 r2, r2^, 0x3020100.b22, 0x0"},
    {UINT64_C(0x00bdc1b000c00404), "MKVEC.v2i8 r1, r4.b2, r4.b3, 0x0"},
    {UINT64_C(0x10a1c60004057170), "MKVEC.v2i16.wait1 r6, r48^.h0, r49^.h1"},
    {UINT64_C(0x00a0c7301c0fc802), "CLPER.i32 r7, r2, 0x3020100.b33"},
    {UINT64_C(0x0095c53000000045), "WMASK r5, r5^"},
    {UINT64_C(0x0160f40485c07406), "FMA_RSCALE.f32 r52, r6, r52^, 0x0.neg, u5"},
    {UINT64_C(0x09abc20000074204), "SHADDX.s64.wait0 r2, r4, r2^, shift:0x0"},
    {UINT64_C(0x0090f200100b0001), "F16_TO_F32 r50, r1.h1"},
    {UINT64_C(0x3090c50010110001), "U8_TO_F32.wait12 r5, r1.b1"},
    {UINT64_C(0x0090c0e000130041), "V2U8_TO_V2F16 r0, r1^.b23"},
    {UINT64_C(0x0890c700c00c0002), "F32_TO_S32.rtz.wait0 r7, r2"},
    {UINT64_C(0x00a0c300140aca01), "IMUL.i32 r3, r1, 0xB0A0908.b1"},
    {UINT64_C(0x00a5c00000044302), "V2F32_TO_V2F16 r0, r2, r3^"},
};

static struct mx_pool_plan plan;

static bool decoded(uint64_t word, struct mx_step *step) {
    plan.count = MX_POOL_FIRST;
    return mx_decode(word, step, &plan);
}

static void driver_text(void) {
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        struct mx_step step;
        char text[160];
        CHECK(decoded(vectors[i].word, &step));
        mx_insn_print(&step.insn, text, sizeof text);
        CHECK_TEXT(text, vectors[i].text);
    }
}

static void text_is_cut(void) {
    struct mx_step step;
    char text[10];
    CHECK(decoded(vectors[0].word, &step));
    CHECK_EQUAL(mx_insn_print(&step.insn, text, sizeof text), strlen(vectors[0].text));
    CHECK_TEXT(text, "BRANCHZ.r");
}

// Each: a word that is known, and bits that make it unknown.
static void unknown_bits(void) {
    static const struct {
        uint64_t word, bits;
    } wrong[] = {
        {UINT64_C(0x0091c000000000c9), UINT64_C(1) << 63},  // beyond the flow
        {UINT64_C(0x0091c000000000c9), UINT64_C(11) << 59}, // a flow that does not exist
        {UINT64_C(0x0091c000000000c9), UINT64_C(1) << 30},  // a modifier that MOV has not
        {UINT64_C(0x0091c000000000c9), UINT64_C(1) << 8},   // a source too many
        {UINT64_C(0x00a8c0000000407c), UINT64_C(1) << 26},  // a reserved widening
        {UINT64_C(0x00b2cd0400c08a4d), UINT64_C(3) << 28},  // a half that there is not
        {UINT64_C(0x0095c53000000045), UINT64_C(1) << 36},  // a subgroup of eight
        {UINT64_C(0x0a608ef4280000e6), UINT64_C(1) << 33},  // three registers for 64 bits
        {UINT64_C(0x00615208b8000044), UINT64_C(1) << 36},  // a lane of a store
        {UINT64_C(0x1069840258000044), UINT64_C(15) << 22}, // an atomic operation that does not exist
        {UINT64_C(0x4845c001c0000000), UINT64_C(1) << 8},   {0, UINT64_C(1) << 40},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct mx_step step;
        CHECK(decoded(wrong[i].word, &step));
        CHECK(!decoded(wrong[i].word ^ wrong[i].bits, &step));
    }
}

static void unknown_text(void) {
    struct mx_insn insn = {.word = UINT64_C(0x0091c000400000c9), .op = MX_OP_MOV};
    char text[32];
    mx_insn_print(&insn, text, sizeof text);
    CHECK_TEXT(text, "0x0091c000400000c9");
}

static uint64_t next_random(uint64_t *state) { // splitmix64
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

// Whatever is taken stays within the register file, and can be printed.
static void random_words(void) {
    uint64_t state = 5, taken = 0;
    for (int i = 0; i < 300000; i++) {
        uint64_t word = next_random(&state);
        if (i & 1) // near to what is known
            word = vectors[word % (sizeof vectors / sizeof vectors[0])].word ^ UINT64_C(1) << (word >> 40) % 63 ^
                   UINT64_C(1) << (word >> 50) % 63;
        struct mx_step step;
        char text[200];
        if (!decoded(word, &step))
            continue;
        taken++;
        mx_insn_print(&step.insn, text, sizeof text);
        bool good = text[0] != '0' && step.insn.written + step.insn.written_count <= 64;
        for (unsigned s = 0; s < step.insn.source_count; s++)
            good &= step.insn.sources[s].kind != MX_SOURCE_REGISTER ||
                    step.insn.sources[s].index + step.insn.sources[s].words <= 64;
        CHECK(good);
    }
    CHECK(taken > 1000);
}

// Every operation of the list is found by its own opcode, under its own name.
static void all_rows(void) {
    for (uint32_t op = 0; op < MX_OP_COUNT; op++) {
        const struct mx_row *row = &mx_rows[op];
        uint64_t base = (uint64_t)row->opcode << 48 | (uint64_t)row->value << row->shift;
        struct mx_step step;
        bool found = false;
        if (row->opcode == 0x44)
            base |= 6; // the cycle counter
        if (row->opcode == 0x68 || row->opcode == 0x120)
            base |= UINT64_C(8) << 22; // smin
        CHECK(mx_op_name((uint16_t)op)[0] != '\0');
        // Some combination of its fields' values is known.
        for (uint64_t width = 0; width < 8 && !found; width++)
            for (uint64_t rest = 0; rest < 1u << 12 && !found; rest++)
                found = decoded(base | width << 27 | (rest & 3) << 46 | (rest >> 2 & 15) << 36 | (rest >> 6 & 7) << 33 |
                                    (rest >> 9 & 7) << 30,
                                &step) &&
                        step.insn.op == op;
        if (!found)
            fprintf(stderr, "%s: ", row->printed);
        CHECK(found);
    }
}

const struct test decode_tests[] = {{"decode: the driver's text", driver_text},
                                    {"decode: a text that is too long", text_is_cut},
                                    {"decode: unknown bits", unknown_bits},
                                    {"decode: the text of an unknown word", unknown_text},
                                    {"decode: random words", random_words},
                                    {"decode: all operations", all_rows},
                                    {NULL, NULL}};
