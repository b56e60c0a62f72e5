// SPDX-License-Identifier: MIT
#include "compare.h"

bool mx_is_nan(uint32_t value, unsigned bits) {
    return bits == 16 ? (value & 0x7fff) > 0x7c00 : (value & 0x7fffffff) > 0x7f800000;
}

// Integers in the order of the floats, equal for both zeros.
static int64_t float_rank(uint32_t value, unsigned bits) {
    uint32_t sign = UINT32_C(1) << (bits - 1);
    int64_t magnitude = value & (sign - 1);
    return value & sign ? -magnitude : magnitude;
}

static int64_t integer_rank(uint32_t value, unsigned bits, bool is_signed) {
    int64_t range = INT64_C(1) << bits;
    return is_signed && value >> (bits - 1) ? (int64_t)value - range : (int64_t)value;
}

bool mx_compare(const struct mx_comparison *comparison, uint32_t a, uint32_t b) {
    unsigned bits = comparison->bits;
    if (comparison->is_float && (mx_is_nan(a, bits) || mx_is_nan(b, bits)))
        return comparison->condition == 3; // unordered: only "not equal" holds
    int64_t left = comparison->is_float ? float_rank(a, bits) : integer_rank(a, bits, comparison->is_signed);
    int64_t right = comparison->is_float ? float_rank(b, bits) : integer_rank(b, bits, comparison->is_signed);
    switch (comparison->condition) {
    case 0:
        return left == right;
    case 1:
        return left > right;
    case 2:
        return left >= right;
    case 3:
    case 6:
        return left != right;
    case 4:
        return left < right;
    default:
        return left <= right;
    }
}
