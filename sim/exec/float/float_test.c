// SPDX-License-Identifier: MIT
// Every function of lanes_float.h against its reference: all values where there is one operand of 16 bits, edge and
// random values elsewhere. --all tries all pairs of halves for the sum, too. Ends in "N passed, N failed": vectors.
#include "float_test.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lanes_float.h"

static unsigned passed, failed;
static unsigned long off_by_one;

static const uint32_t edges32[] = {
    0,          1,          2,          0x007fffff, 0x00800000, 0x00800001, 0x00ffffff, 0x01000000, 0x0b000000,
    0x33000000, 0x33000001, 0x337fffff, 0x33800000, 0x34000000, 0x387fc000, 0x387fdfff, 0x387fe000, 0x38800000,
    0x3effffff, 0x3f000000, 0x3f3fffff, 0x3f400000, 0x3f7fffff, 0x3f800000, 0x3f800001, 0x3fbfffff, 0x3fc00000,
    0x40200000, 0x40600000, 0x41200000, 0x45800000, 0x477fe000, 0x477fefff, 0x477ff000, 0x47800000, 0x4b000000,
    0x4b000001, 0x4b7fffff, 0x4effffff, 0x4f000000, 0x4f7fffff, 0x4f800000, 0x5f000000, 0x7e800000, 0x7e800001,
    0x7f000000, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fbfffff, 0x7fc00000, 0x7fffffff, 0x12345678,
};

static const uint16_t edges16[] = {
    0,      1,      2,      0x01ff, 0x0200, 0x03ff, 0x0400, 0x0401, 0x0800, 0x1000, 0x1400, 0x2400, 0x2800, 0x37ff,
    0x3800, 0x3a00, 0x3bff, 0x3c00, 0x3c01, 0x3dff, 0x3e00, 0x4000, 0x4100, 0x5800, 0x63ff, 0x6400, 0x6401, 0x67ff,
    0x6800, 0x7400, 0x77ff, 0x7800, 0x7bfe, 0x7bff, 0x7c00, 0x7c01, 0x7dff, 0x7e00, 0x7fff, 0x1234,
};

static uint32_t random_next(void) {
    static uint64_t state = 0x9e3779b97f4a7c15;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 16);
}

static uint32_t half_next(void) {
    uint32_t r = random_next();
    if (r % 4 == 0)
        return edges16[r / 8 % (sizeof edges16 / sizeof edges16[0])] | (r >> 16 & 0x8000);
    return r % 4 == 1 ? 0x3c00u + (r >> 16 & 0x80ff) : r >> 16; // the former: sums cancel
}

static uint32_t word_next(void) {
    uint32_t r = random_next();
    switch (r % 8) {
    case 0:
    case 1:
        return edges32[r / 8 % (sizeof edges32 / sizeof edges32[0])] | (r & 0x80000000);
    case 2:
        return (r & 0x80000000) | (0x3f800000 + (r >> 8 & 0xffff));
    case 3: // integers, and shifts
        return (uint32_t)((int32_t)random_next() >> (r >> 8 & 31));
    case 4: // where halves begin and end
        return (r & 0x80000000) | (0x33000000 + (r >> 4) % 0x15000000);
    default:
        return random_next();
    }
}

static uint32_t value_next(enum layout layout) {
    return layout == WORDS ? word_next() : layout == LOW ? half_next() : half_next() | half_next() << 16;
}

static uint32_t expected(const struct function *f, const uint32_t operands[3], unsigned mode) {
    if (f->layout != HALVES)
        return f->reference(operands[0], operands[1], operands[2], mode);
    uint32_t result = 0;
    for (unsigned i = 0; i < 32; i += 16)
        result |= f->reference(operands[0] >> i & 0xffff, operands[1] >> i & 0xffff, operands[2] >> i & 0xffff, mode)
                  << i;
    return result;
}

static void check(const struct function *f, const mx_u32 operands[3], unsigned mode) {
    mx_u32 got = f->lanes(operands[0], operands[1], operands[2], mode);
    for (unsigned l = 0; l < MX_LANES; l++) {
        uint32_t lane[3] = {operands[0][l], operands[1][l], operands[2][l]}, wanted = expected(f, lane, mode);
        if (got[l] == wanted)
            continue;
        off_by_one++;
        if (got[l] - wanted + f->ulp <= 2 * f->ulp)
            continue;
        if (failed++ < 20)
            printf("%s, mode %u: %08" PRIx32 " %08" PRIx32 " %08" PRIx32 " gives %08" PRIx32 ", not %08" PRIx32 "\n",
                   f->name, mode, lane[0], lane[1], lane[2], got[l], wanted);
        return;
    }
    passed++;
}

static void try_random(const struct function *f, unsigned mode, unsigned vectors) {
    for (unsigned n = 0; n < vectors; n++) {
        mx_u32 operands[3];
        for (unsigned i = 0; i < 3; i++)
            for (unsigned l = 0; l < MX_LANES; l++)
                operands[i][l] = value_next(f->layout);
        check(f, operands, mode);
    }
}

static void try_all_halves(const struct function *f, unsigned mode) {
    for (uint32_t first = 0; first < 0x10000; first += MX_LANES) {
        mx_u32 operands[3] = {{0}};
        for (unsigned l = 0; l < MX_LANES; l++)
            operands[0][l] = (first + l) | (f->layout == HALVES ? ~(first + l) << 16 : 0);
        check(f, operands, mode);
    }
}

// ---- all pairs for the sum. Finite halves are multiples of 2^-24, so that sums are integers.

static int64_t units_of(uint32_t half) {
    uint32_t exponent = half >> 10 & 31;
    int64_t units = exponent == 0 ? half & 1023 : (int64_t)((half & 1023) | 1024) << (exponent - 1);
    return half & 0x8000 ? -units : units;
}

static uint32_t half_of(int64_t units, bool negative_zero) {
    uint32_t sign = units < 0 || negative_zero ? 0x8000 : 0;
    uint64_t magnitude = units < 0 ? -(uint64_t)units : (uint64_t)units;
    if (magnitude < 1024)
        return sign | (uint32_t)magnitude;
    unsigned shift = 53 - (unsigned)__builtin_clzll(magnitude);
    uint64_t kept = magnitude >> shift, rest = magnitude & ((UINT64_C(1) << shift) - 1),
             half = (UINT64_C(1) << shift) / 2;
    kept += rest > half || (rest == half && rest != 0 && kept & 1);
    uint64_t bits = ((uint64_t)shift << 10) + kept;
    return sign | (bits > 0x7c00 ? 0x7c00 : (uint32_t)bits);
}

static uint32_t sum_of(uint32_t a, uint32_t b) {
    if ((a & 0x7c00) == 0x7c00 || (b & 0x7c00) == 0x7c00)
        return reference_h2_add(a, b, 0, 0);
    return half_of(units_of(a) + units_of(b), a & b & 0x8000 && ((a | b) & 0x7fff) == 0);
}

static void try_all_pairs(void) {
    for (uint32_t a = 0; a < 0x10000; a++) {
        for (uint32_t b = a; b < 0x10000; b += 2 * MX_LANES) {
            mx_u32 x = (mx_u32){0} + (a | a << 16), y;
            for (unsigned l = 0; l < MX_LANES; l++)
                y[l] = ((b + 2 * l) & 0xffff) | ((b + 2 * l + 1) & 0xffff) << 16;
            mx_u32 sum = mx_h2_add(x, y, 0), turned = mx_h2_add(y, x, 0);
            bool good = true;
            for (unsigned l = 0; l < MX_LANES; l++)
                good &= sum[l] == (sum_of(a, y[l] & 0xffff) | sum_of(a, y[l] >> 16) << 16) && turned[l] == sum[l];
            passed += good;
            failed += !good;
            if (!good && failed < 20)
                printf("h2_add: %04" PRIx32 " and one of %04" PRIx32 " on\n", a, b);
        }
    }
}

int main(int argc, char **argv) {
    bool all = argc > 1 && strcmp(argv[1], "--all") == 0;
    for (const struct function *f = functions; f->name != NULL; f++) {
        unsigned before = failed;
        off_by_one = 0;
        for (unsigned mode = 0; mode < f->modes; mode++) {
            if (f->layout != WORDS && f->operands == 1)
                try_all_halves(f, mode);
            try_random(f, mode, (all ? 200000 : 3000) * (f->operands + 1));
        }
        if (failed > before)
            printf("%s: %u vectors wrong\n", f->name, failed - before);
        else if (all && f->ulp > 0)
            printf("%s: %lu of %u values not correctly rounded\n", f->name, off_by_one,
                   200000 * (f->operands + 1) * MX_LANES);
    }
    if (all)
        try_all_pairs();
    printf("%u passed, %u failed\n", passed, failed);
    return failed == 0 ? 0 : 1;
}
