// SPDX-License-Identifier: MIT
#include "exact.h"

struct format {
    unsigned precision;  // digits of the mantissa, the hidden one included
    int64_t least, most; // exponents of the first digit of normal numbers
    uint32_t infinity, nan, sign;
};

static const struct format formats[] = {
    [MX_EXACT_F16] = {11, -14, 15, 0x7c00, 0x7e00, 0x8000},
    [MX_EXACT_F32] = {24, -126, 127, 0x7f800000, 0x7fc00000, 0x80000000},
};

static const struct mx_exact not_a_number = {.kind = MX_EXACT_NAN};

static unsigned digits(mx_u128 mantissa) {
    uint64_t high = (uint64_t)(mantissa >> 64), low = (uint64_t)mantissa;
    return high != 0 ? 128 - (unsigned)__builtin_clzll(high) : low != 0 ? 64 - (unsigned)__builtin_clzll(low) : 0;
}

static bool is_zero(struct mx_exact a) {
    return a.kind == MX_EXACT_NUMBER && a.mantissa == 0 && !a.more;
}

struct mx_exact mx_exact_from(uint32_t bits, enum mx_exact_format format) {
    const struct format *f = &formats[format];
    unsigned stored = f->precision - 1;
    uint32_t magnitude = bits & (f->sign - 1), exponent = magnitude >> stored,
             mantissa = magnitude & ((1u << stored) - 1);
    struct mx_exact a = {.negative = (bits & f->sign) != 0};
    if (magnitude >= f->infinity) {
        a.kind = magnitude > f->infinity ? MX_EXACT_NAN : MX_EXACT_INFINITY;
        return a;
    }
    a.mantissa = exponent > 0 ? mantissa | 1u << stored : mantissa;
    a.exponent = f->least - stored + (exponent > 0 ? exponent - 1 : 0);
    return a;
}

struct mx_exact mx_exact_from_integer(int64_t value) {
    uint64_t magnitude = value < 0 ? -(uint64_t)value : (uint64_t)value;
    return (struct mx_exact){.negative = value < 0, .mantissa = magnitude};
}

struct mx_exact mx_exact_multiply(struct mx_exact a, struct mx_exact b) {
    bool infinite = a.kind == MX_EXACT_INFINITY || b.kind == MX_EXACT_INFINITY;
    if (a.kind == MX_EXACT_NAN || b.kind == MX_EXACT_NAN || (infinite && (is_zero(a) || is_zero(b))))
        return not_a_number;
    return (struct mx_exact){.kind = infinite ? MX_EXACT_INFINITY : MX_EXACT_NUMBER,
                             .negative = a.negative != b.negative,
                             .mantissa = a.mantissa * b.mantissa,
                             .exponent = a.exponent + b.exponent};
}

// Digits from 2^0 on stay; what falls off is told by `more`.
static struct mx_exact shifted_right(struct mx_exact a, uint64_t shift) {
    mx_u128 kept = shift < 128 ? a.mantissa >> shift : 0;
    a.more |= (shift < 128 ? kept << shift : 0) != a.mantissa;
    a.mantissa = kept;
    a.exponent += (int64_t)shift;
    return a;
}

// Of two numbers that are not zero, the first with the larger exponent: the same exponent for both, as near to the
// smaller one as 110 digits allow.
static void align(struct mx_exact *a, struct mx_exact *b) {
    uint64_t apart = (uint64_t)(a->exponent - b->exponent), room = 110 - digits(a->mantissa);
    uint64_t shift = apart < room ? apart : room;
    a->mantissa <<= shift;
    a->exponent -= (int64_t)shift;
    *b = shifted_right(*b, apart - shift);
}

static struct mx_exact add_numbers(struct mx_exact a, struct mx_exact b, unsigned round) {
    if (a.exponent < b.exponent) {
        struct mx_exact other = a;
        a = b;
        b = other;
    }
    align(&a, &b);
    if (a.negative == b.negative) {
        a.mantissa += b.mantissa;
        a.more = b.more;
        return a;
    }
    if (a.mantissa == b.mantissa) // then nothing has fallen off
        return (struct mx_exact){.negative = round == 2};
    if (a.mantissa < b.mantissa) {
        b.mantissa -= a.mantissa;
        return b;
    }
    a.mantissa -= b.mantissa + b.more; // the rest of that unit is more than nothing
    a.more = b.more;
    return a;
}

struct mx_exact mx_exact_add(struct mx_exact a, struct mx_exact b, unsigned round) {
    if (a.kind == MX_EXACT_NAN || b.kind == MX_EXACT_NAN)
        return not_a_number;
    if (a.kind == MX_EXACT_INFINITY)
        return b.kind == MX_EXACT_INFINITY && a.negative != b.negative ? not_a_number : a;
    if (b.kind == MX_EXACT_INFINITY || (is_zero(a) && !is_zero(b)))
        return b;
    if (is_zero(b)) {
        if (is_zero(a) && a.negative != b.negative)
            a.negative = round == 2;
        return a;
    }
    return add_numbers(a, b, round);
}

struct mx_exact mx_exact_scale(struct mx_exact a, int32_t exponent) {
    a.exponent += exponent;
    return a;
}

struct mx_exact mx_exact_reciprocal(struct mx_exact a) {
    if (a.kind == MX_EXACT_NAN)
        return a;
    if (a.kind == MX_EXACT_INFINITY)
        return (struct mx_exact){.negative = a.negative};
    if (is_zero(a))
        return (struct mx_exact){.negative = a.negative, .kind = MX_EXACT_INFINITY};
    mx_u128 one = (mx_u128)1 << 100;
    return (struct mx_exact){.negative = a.negative,
                             .mantissa = one / a.mantissa,
                             .exponent = -100 - a.exponent,
                             .more = one % a.mantissa != 0};
}

// The largest integer whose square is not larger.
static uint64_t root(mx_u128 square) {
    uint64_t value = 0;
    for (uint64_t bit = UINT64_C(1) << 63; bit != 0; bit >>= 1)
        if ((mx_u128)(value | bit) * (value | bit) <= square)
            value |= bit;
    return value;
}

struct mx_exact mx_exact_reciprocal_root(struct mx_exact a) {
    if (is_zero(a))
        return (struct mx_exact){.negative = a.negative, .kind = MX_EXACT_INFINITY};
    if (a.kind == MX_EXACT_NAN || a.negative)
        return not_a_number;
    if (a.kind == MX_EXACT_INFINITY)
        return (struct mx_exact){0};
    if (a.exponent % 2 != 0) {
        a.mantissa <<= 1;
        a.exponent--;
    }
    mx_u128 one = (mx_u128)1 << 126; // 2^63, squared
    uint64_t value = root(one / a.mantissa);
    return (struct mx_exact){
        .mantissa = value, .exponent = -63 - a.exponent / 2, .more = (mx_u128)value * value * a.mantissa != one};
}

// mantissa * 2^-shift as an integer; shift > 0.
static mx_u128 rounded(struct mx_exact a, uint64_t shift, unsigned round) {
    struct mx_exact kept = shifted_right(a, shift), half = shifted_right(a, shift - 1);
    bool upper = half.mantissa & 1, exact_half = upper && !half.more;
    switch (round) {
    case 0:
        return kept.mantissa + (exact_half ? kept.mantissa & 1 : upper);
    case 1:
        return kept.mantissa + (kept.more && !a.negative);
    case 2:
        return kept.mantissa + (kept.more && a.negative);
    default:
        return kept.mantissa;
    }
}

struct mx_exact mx_exact_integral(struct mx_exact a, unsigned round) {
    if (a.kind != MX_EXACT_NUMBER || a.exponent >= 0)
        return a;
    a.mantissa = rounded(a, (uint64_t)-a.exponent, round);
    a.exponent = 0;
    a.more = false;
    return a;
}

int mx_exact_compare(struct mx_exact a, struct mx_exact b) {
    if (a.kind == MX_EXACT_NAN || b.kind == MX_EXACT_NAN)
        return 2;
    b.negative = !b.negative;
    struct mx_exact difference = mx_exact_add(a, b, 0);
    if (difference.kind == MX_EXACT_NAN || is_zero(difference))
        return 0;
    return difference.negative ? -1 : 1;
}

static uint32_t overflown(const struct format *f, bool negative, unsigned round) {
    bool infinite = round == 0 || (round == 1 && !negative) || (round == 2 && negative);
    return (negative ? f->sign : 0) | (infinite ? f->infinity : f->infinity - 1);
}

uint32_t mx_exact_to(struct mx_exact a, enum mx_exact_format format, unsigned round) {
    const struct format *f = &formats[format];
    uint32_t sign = a.negative ? f->sign : 0;
    if (a.kind == MX_EXACT_NAN)
        return f->nan;
    if (a.kind == MX_EXACT_INFINITY)
        return sign | f->infinity;
    if (is_zero(a))
        return sign;
    int64_t first = a.exponent + digits(a.mantissa) - 1;
    if (first > f->most)
        return overflown(f, a.negative, round);
    if (first < f->least)
        first = f->least;
    int64_t last = first - (f->precision - 1), shift = last - a.exponent;
    mx_u128 kept = shift > 0 ? rounded(a, (uint64_t)shift, round) : a.mantissa << -shift;
    // The hidden digit, if there is one, adds 1 to the exponent; so does a carry.
    uint32_t bits = ((uint32_t)(first - f->least) << (f->precision - 1)) + (uint32_t)kept;
    return bits >= f->infinity ? overflown(f, a.negative, round) : sign | bits;
}

int64_t mx_exact_to_integer(struct mx_exact a, int64_t low, int64_t high, unsigned round) {
    if (a.kind == MX_EXACT_NAN)
        return 0;
    a = mx_exact_integral(a, round);
    if (a.kind == MX_EXACT_INFINITY || (a.mantissa != 0 && a.exponent + digits(a.mantissa) > 62))
        return a.negative ? low : high;
    int64_t magnitude = (int64_t)(a.mantissa << a.exponent), value = a.negative ? -magnitude : magnitude;
    return value < low ? low : value > high ? high : value;
}
