// SPDX-License-Identifier: MIT
// fp16 and fp32 arithmetic a value at a time, on integers: nothing is rounded before the end. For tests and the scalar
// twin; it shares nothing with the lanes' arithmetic. Rounding: 0 nearest even, 1 up, 2 down, 3 to zero, as in
// instructions. No state, no errors: any thread, any operands.
#pragma once

#include <stdbool.h>
#include <stdint.h>

__extension__ typedef unsigned __int128 mx_u128;

enum mx_exact_kind { MX_EXACT_NUMBER, MX_EXACT_INFINITY, MX_EXACT_NAN };
enum mx_exact_format { MX_EXACT_F16, MX_EXACT_F32 };

// mantissa * 2^exponent. more: the magnitude is larger than that, by less than one unit of the mantissa, which then has
// more digits than any format.
struct mx_exact {
    mx_u128 mantissa;
    int64_t exponent;
    enum mx_exact_kind kind;
    bool negative, more;
};

struct mx_exact mx_exact_from(uint32_t bits, enum mx_exact_format format);
struct mx_exact mx_exact_from_integer(int64_t value);

// Operands come from a format, an integer, or (of sums) are a product of two such.
struct mx_exact mx_exact_multiply(struct mx_exact a, struct mx_exact b);
struct mx_exact mx_exact_add(struct mx_exact a, struct mx_exact b, unsigned round); // which zero x - x is
struct mx_exact mx_exact_scale(struct mx_exact a, int32_t exponent);                // a * 2^exponent
struct mx_exact mx_exact_reciprocal(struct mx_exact a);
struct mx_exact mx_exact_reciprocal_root(struct mx_exact a); // of +-0: +-infinity
struct mx_exact mx_exact_integral(struct mx_exact a, unsigned round);

// -1, 0, 1; 2: one is a NaN.
int mx_exact_compare(struct mx_exact a, struct mx_exact b);

// Rounded once. A NaN is the canonical quiet one.
uint32_t mx_exact_to(struct mx_exact a, enum mx_exact_format format, unsigned round);
// Saturates; 0 for a NaN.
int64_t mx_exact_to_integer(struct mx_exact a, int64_t low, int64_t high, unsigned round);
