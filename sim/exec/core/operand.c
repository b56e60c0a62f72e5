// SPDX-License-Identifier: MIT
#include "../float/lanes_float.h"
#include "step.h"

#define EACH for (unsigned l = 0; l < MX_LANES; l++)

static mx_u32 sign_apply(mx_u32 value, uint8_t sign, uint32_t bit) {
    if (sign & MX_SIGN_ABS)
        value &= ~bit;
    if (sign & MX_SIGN_NEG)
        value ^= bit;
    return value;
}

static mx_u32 half_of(mx_u32 value, unsigned half, bool is_signed) {
    value = half ? value : value << 16;
    return is_signed ? (mx_u32)((mx_i32)value >> 16) : value >> 16;
}

static mx_u32 byte_of(mx_u32 value, unsigned byte, bool is_signed) {
    value = value << (24 - 8 * byte);
    return is_signed ? (mx_u32)((mx_i32)value >> 24) : value >> 24;
}

static mx_u32 pair(mx_u32 low, mx_u32 high) {
    return (low & 0xffffu) | high << 16;
}

static mx_u32 widen32(mx_u32 value, uint8_t code, bool is_signed) {
    if (code >= 4 && code < 8)
        return byte_of(value, code - 4u, is_signed);
    return code == 2 || code == 3 ? half_of(value, code - 2u, is_signed) : value;
}

// valhall-isa.md, integer widen, 2 x 16: which byte each half comes from.
static mx_u32 widen16(mx_u32 value, uint8_t code, bool is_signed) {
    static const uint8_t bytes[16][2] = {{0},    {0},    {0},    {0},    {0, 0}, {2, 0}, {0, 2}, {2, 2},
                                         {1, 1}, {3, 1}, {1, 3}, {3, 3}, {0, 1}, {2, 3}, {0},    {0}};
    if (code < 4)
        return pair(half_of(value, code & 1, false), half_of(value, code >> 1, false));
    return pair(byte_of(value, bytes[code][0], is_signed), byte_of(value, bytes[code][1], is_signed));
}

static mx_u32 bytes_pick(mx_u32 value, uint8_t code) {
    static const uint8_t from[16][4] = {{0, 1, 2, 3}, {3, 2, 1, 0}, {0, 1, 0, 1}, {2, 3, 2, 3},
                                        {0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3},
                                        {2, 3, 0, 1}, {1, 0, 3, 2}, {0, 0, 1, 1}, {2, 2, 3, 3}};
    const uint8_t *k = from[code];
    return byte_of(value, k[0], false) | byte_of(value, k[1], false) << 8 | byte_of(value, k[2], false) << 16 |
           byte_of(value, k[3], false) << 24;
}

static mx_u32 amount(mx_u32 value, uint8_t code, uint8_t size) {
    if (size >= 32)
        return code >= 4 && code < 8 ? byte_of(value, code - 4u, false) : value;
    if (size == 8)
        return bytes_pick(value, code);
    switch (code) {
    case 0:
        return pair(byte_of(value, 0, false), byte_of(value, 2, false));
    case 10:
        return pair(byte_of(value, 0, false), byte_of(value, 1, false));
    case 11:
        return pair(byte_of(value, 2, false), byte_of(value, 3, false));
    default:
        return pair(byte_of(value, code & 3, false), byte_of(value, code & 3, false));
    }
}

mx_u32 mx_operand_apply(const struct mx_operand *o, mx_u32 value) {
    switch ((enum mx_operand_type)o->type) {
    case MX_F32:
        if (o->code == 1 || o->code == 2)
            value = mx_f16_to_f32(half_of(value, o->code - 1u, false));
        return sign_apply(value, o->sign, 0x80000000u);
    case MX_H2:
        value = o->code == 2 ? value : pair(half_of(value, o->code & 1, false), half_of(value, o->code >> 1, false));
        return sign_apply(value, o->sign, 0x80008000u);
    case MX_F16:
        return sign_apply(half_of(value, o->code, false), o->sign, 0x8000u);
    case MX_I32:
        return widen32(value, o->code, o->is_signed);
    case MX_I16:
        return widen16(value, o->code, o->is_signed);
    case MX_I8:
        return bytes_pick(value, o->code);
    case MX_BYTE:
        return byte_of(value, o->code, o->is_signed);
    case MX_HALF:
        return half_of(value, o->code, o->is_signed);
    case MX_BYTES:
        return pair(byte_of(value, o->code & 3, o->is_signed), byte_of(value, o->code >> 2, o->is_signed));
    case MX_SHIFT_AMOUNT:
        return amount(value, o->code, o->size);
    case MX_NOT:
        return o->code ? ~value : value;
    default:
        return value;
    }
}

void mx_operand_apply64(const struct mx_operand *o, mx_u32 *low, mx_u32 *high) {
    if (o->type == MX_NOT) {
        *low = o->code ? ~*low : *low;
        *high = o->code ? ~*high : *high;
    } else if (o->type == MX_I64 && o->code != 0) {
        *low = o->code == 9 ? *high : o->code == 8 ? *low : widen32(*low, o->code, o->is_signed);
        *high = o->is_signed ? (mx_u32)((mx_i32)*low >> 31) : *low - *low;
    }
}
