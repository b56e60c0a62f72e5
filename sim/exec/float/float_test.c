// SPDX-License-Identifier: MIT
// The vectors against the scalar, independent forms: all values where there is one operand of 16 bits, edge and random
// values elsewhere. Ends in "N passed, N failed".
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lanes_float.h"

static unsigned passed, failed;

static const uint32_t edges[] = {
    0,          0x80000000, 1,          0x80000001, 0x007fffff, 0x00800000, 0x3f800000, 0xbf800000,
    0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0xffc00000, 0x477fe000,
    0x477fefff, 0x477ff000, 0x33000000, 0x33000001, 0x387fc000, 0x387fe000, 0x38800000, 0x3f000000,
    0x3fc00000, 0x40200000, 0xbf000000, 0xbfc00000, 0x4b000000, 0x4b000001, 0x4f000000, 0xcf000000,
    0x4effffff, 0xcf000001, 0x3c003c00, 0x7c007c00, 0xfc00fc00, 0x7e007e00, 0x04000400, 0x03ff03ff,
    0x00010001, 0x80018001, 0x7bff7bff, 0xfbff7bff, 0x3c013bff, 0x7fffffff, 0xffffffff, 0x12345678,
};

static uint32_t random_next(void) {
    static uint64_t state = 0x9e3779b97f4a7c15;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 16);
}

static uint32_t value_next(void) {
    uint32_t r = random_next();
    switch (r & 7) {
    case 0:
        return edges[r / 8 % (sizeof edges / sizeof edges[0])];
    case 1: // near each other, so that sums cancel
        return 0x3f800000 + (r >> 20);
    case 2:
        return (r >> 8 & 0x80008000) | (0x3c003c00 + (r >> 3 & 0x00ff00ff));
    default:
        return random_next();
    }
}

static mx_u32 vector_next(void) {
    mx_u32 v;
    for (unsigned l = 0; l < MX_LANES; l++)
        v[l] = value_next();
    return v;
}

static void compare(const char *name, mx_u32 got, mx_u32 wanted, const mx_u32 *operands, unsigned count) {
    for (unsigned l = 0; l < MX_LANES; l++) {
        if (got[l] == wanted[l])
            continue;
        if (failed++ < 20) {
            printf("%s:", name);
            for (unsigned i = 0; i < count; i++)
                printf(" %08" PRIx32, operands[i][l]);
            printf(" -> %08" PRIx32 ", wanted %08" PRIx32 "\n", got[l], wanted[l]);
        }
        return;
    }
    passed++;
}

typedef mx_u32 unary(mx_u32 a, unsigned round);
typedef mx_u32 binary(mx_u32 a, mx_u32 b, unsigned round);
typedef mx_u32 ternary(mx_u32 a, mx_u32 b, mx_u32 c, unsigned round);

#define WRAP2(name)                                                                                                    \
    static mx_u32 name##_fast(mx_u32 a, mx_u32 b, unsigned ignored) {                                                  \
        (void)ignored;                                                                                                 \
        return mx_##name(a, b);                                                                                        \
    }                                                                                                                  \
    static mx_u32 name##_reference(mx_u32 a, mx_u32 b, unsigned ignored) {                                             \
        (void)ignored;                                                                                                 \
        return mx_##name##_slow(a, b);                                                                                 \
    }
WRAP2(f32_min)
WRAP2(f32_max)
WRAP2(h2_min)
WRAP2(h2_max)
static mx_u32 f16_to_f32_fast(mx_u32 a, unsigned ignored) {
    (void)ignored;
    return mx_f16_to_f32(a);
}
static mx_u32 f16_to_f32_reference(mx_u32 a, unsigned ignored) {
    (void)ignored;
    return mx_f16_to_f32_slow(a);
}

static const struct {
    const char *name;
    unary *fast, *reference;
} unaries[] = {
    {"f32_to_s32", mx_f32_to_s32, mx_f32_to_s32_slow},     {"u32_to_f32", mx_u32_to_f32, mx_u32_to_f32_slow},
    {"s32_to_f32", mx_s32_to_f32, mx_s32_to_f32_slow},     {"f32_to_f16", mx_f32_to_f16, mx_f32_to_f16_slow},
    {"f16_to_f32", f16_to_f32_fast, f16_to_f32_reference}, {"s16_to_h2", mx_s16_to_h2, mx_s16_to_h2_slow},
    {"u16_to_h2", mx_u16_to_h2, mx_u16_to_h2_slow},        {"f32_round", mx_f32_round, mx_f32_round_slow},
};
static const struct {
    const char *name;
    binary *fast, *reference;
    unsigned last; // of the third argument
} binaries[] = {
    {"f32_min", f32_min_fast, f32_min_reference, 0},
    {"f32_max", f32_max_fast, f32_max_reference, 0},
    {"h2_min", h2_min_fast, h2_min_reference, 0},
    {"h2_max", h2_max_fast, h2_max_reference, 0},
    {"h2_add", mx_h2_add, mx_h2_add_slow, 0},
    {"f32_to_h2", mx_f32_to_h2, mx_f32_to_h2_slow, 0},
    {"f32_compare", mx_f32_compare, mx_f32_compare_slow, 7},
    {"h2_compare", mx_h2_compare, mx_h2_compare_slow, 6},
};

int main(void) {
    for (size_t i = 0; i < sizeof unaries / sizeof unaries[0]; i++)
        for (unsigned round = 0; round < 4; round++)
            for (unsigned n = 0; n < 4096; n++) {
                mx_u32 a = vector_next();
                for (unsigned l = 0; n < 4096 && l < MX_LANES && round == 0; l++)
                    a[l] = n & 1 ? a[l] : n * MX_LANES + l; // every half
                compare(unaries[i].name, unaries[i].fast(a, round), unaries[i].reference(a, round), &a, 1);
            }
    for (size_t i = 0; i < sizeof binaries / sizeof binaries[0]; i++)
        for (unsigned extra = 0; extra <= binaries[i].last; extra++)
            for (unsigned n = 0; n < 20000; n++) {
                mx_u32 v[2] = {vector_next(), vector_next()};
                compare(binaries[i].name, binaries[i].fast(v[0], v[1], extra), binaries[i].reference(v[0], v[1], extra),
                        v, 2);
            }
    for (unsigned n = 0; n < 200000; n++) {
        mx_u32 v[3] = {vector_next(), vector_next(), vector_next()};
        compare("h2_fma", mx_h2_fma(v[0], v[1], v[2], 0), mx_h2_fma_slow(v[0], v[1], v[2], 0), v, 3);
    }
    printf("%u passed, %u failed\n", passed, failed);
    return failed == 0 ? 0 : 1;
}
