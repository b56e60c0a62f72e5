// SPDX-License-Identifier: MIT
#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "handlers.h"
#include "worker.h"

#define EACH for (unsigned l = 0; l < MX_LANES; l++)

void mx_run_nop(struct mx_worker *w, const struct mx_step *s) {
    (void)w, (void)s;
}

void mx_run_mov(struct mx_worker *w, const struct mx_step *s) {
    mx_put(w, s, mx_fetch(w, s, 0));
}

void mx_run_clz32(struct mx_worker *w, const struct mx_step *s) {
    mx_u32 a = mx_fetch(w, s, 0), r;
    EACH r[l] = a[l] ? (uint32_t)__builtin_clz(a[l]) : 32;
    mx_put(w, s, r);
}

void mx_run_clz16(struct mx_worker *w, const struct mx_step *s) {
    mx_u16 a = (mx_u16)mx_fetch(w, s, 0), r;
    for (unsigned i = 0; i < 2 * MX_LANES; i++)
        r[i] = (uint16_t)(a[i] ? __builtin_clz(a[i]) - 16 : 16);
    mx_put(w, s, (mx_u32)r);
}

void mx_run_clz8(struct mx_worker *w, const struct mx_step *s) {
    mx_u8 a = (mx_u8)mx_fetch(w, s, 0), r;
    for (unsigned i = 0; i < 4 * MX_LANES; i++)
        r[i] = (uint8_t)(a[i] ? __builtin_clz(a[i]) - 24 : 8);
    mx_put(w, s, (mx_u32)r);
}

void mx_run_iabs32(struct mx_worker *w, const struct mx_step *s) {
    mx_u32 a = mx_fetch(w, s, 0), negative = (mx_u32)((mx_i32)a >> 31);
    mx_put(w, s, (a ^ negative) - negative);
}

void mx_run_iabs16(struct mx_worker *w, const struct mx_step *s) {
    mx_u16 a = (mx_u16)mx_fetch(w, s, 0), negative = (mx_u16)((mx_i16)a >> 15);
    mx_put(w, s, (mx_u32)((a ^ negative) - negative));
}

void mx_run_iabs8(struct mx_worker *w, const struct mx_step *s) {
    mx_u8 a = (mx_u8)mx_fetch(w, s, 0), negative = (mx_u8)((mx_i8)a >> 7);
    mx_put(w, s, (mx_u32)((a ^ negative) - negative));
}

void mx_run_popcount(struct mx_worker *w, const struct mx_step *s) {
    mx_u32 a = mx_fetch(w, s, 0), r;
    EACH r[l] = (uint32_t)__builtin_popcount(a[l]);
    mx_put(w, s, r);
}

void mx_run_bitrev(struct mx_worker *w, const struct mx_step *s) {
    mx_u32 a = mx_fetch(w, s, 0);
    a = (a >> 1 & 0x55555555u) | (a & 0x55555555u) << 1;
    a = (a >> 2 & 0x33333333u) | (a & 0x33333333u) << 2;
    a = (a >> 4 & 0x0f0f0f0fu) | (a & 0x0f0f0f0fu) << 4;
    a = (a >> 8 & 0x00ff00ffu) | (a & 0x00ff00ffu) << 8;
    mx_put(w, s, a >> 16 | a << 16);
}

// Of the lanes that are active in this very instruction.
void mx_run_wmask(struct mx_worker *w, const struct mx_step *s) {
    mx_u32 a = mx_fetch(w, s, 0);
    uint32_t mask = 0;
    EACH mask |= (uint32_t)(a[l] != 0) << l;
    mx_put(w, s, mx_splat(mask & w->active));
}

void mx_run_mkvec16(struct mx_worker *w, const struct mx_step *s) {
    mx_put(w, s, mx_fetch(w, s, 0) | mx_fetch(w, s, 1) << 16);
}

void mx_run_mkvec8(struct mx_worker *w, const struct mx_step *s) {
    mx_put(w, s, mx_fetch(w, s, 0) | mx_fetch(w, s, 1) << 8 | mx_fetch(w, s, 2) << 16);
}

void mx_run_clper(struct mx_worker *w, const struct mx_step *s) {
    static const uint32_t inactive[16] = {0,          0xffffffff, 1,          0x10001,    0x80000000, 0x7fffffff,
                                          0x80008000, 0x7fff7fff, 0x80808080, 0x7f7f7f7f, 0x3f800000, 0x3c003c00,
                                          0xff800000, 0x7f800000, 0xfc00fc00, 0x7c007c00};
    mx_u32 a = mx_fetch(w, s, 0), lane = mx_fetch(w, s, 1), r;
    uint32_t size = s->staging_count;
    EACH {
        uint32_t k = lane[l] & 0xff, from = s->condition == 0 ? k : s->condition == 1 ? l ^ k : l + k;
        from = (l & ~(size - 1)) | (from & (size - 1));
        r[l] = w->active >> from & 1 ? a[from] : inactive[s->variant];
    }
    mx_put(w, s, r);
}

// ---- addition, subtraction, multiplication by type of lanes: the operand's type tells

enum kind { U32, S32, U16, S16, U8, S8 };

static enum kind kind_of(const struct mx_step *s) {
    switch (s->insn.word >> 48 & 15) {
    case 0:
        return U32;
    case 1:
        return U16;
    case 2:
        return U8;
    case 8:
        return S32;
    case 9:
        return S16;
    default:
        return S8;
    }
}

static const int64_t low_of[] = {0, INT32_MIN, 0, INT16_MIN, 0, INT8_MIN};
static const int64_t high_of[] = {UINT32_MAX, INT32_MAX, UINT16_MAX, INT16_MAX, UINT8_MAX, INT8_MAX};

static int64_t part(uint32_t value, enum kind kind, unsigned i) {
    switch (kind) {
    case U32:
        return value;
    case S32:
        return (int32_t)value;
    case U16:
        return (uint16_t)(value >> 16 * i);
    case S16:
        return (int16_t)(value >> 16 * i);
    case U8:
        return (uint8_t)(value >> 8 * i);
    default:
        return (int8_t)(value >> 8 * i);
    }
}

static unsigned parts_of(enum kind kind) {
    return kind <= S32 ? 1 : kind <= S16 ? 2 : 4;
}

enum slow { SLOW_ADD, SLOW_SUB, SLOW_MUL, SLOW_HADD };

// Saturating and rare forms, a lane at a time.
static mx_u32 slowly(const struct mx_step *s, enum slow what, mx_u32 a, mx_u32 b) {
    enum kind kind = kind_of(s);
    unsigned parts = parts_of(kind), width = 32 / parts;
    mx_u32 r;
    EACH {
        uint32_t value = 0;
        for (unsigned i = 0; i < parts; i++) {
            int64_t x = part(a[l], kind, i), y = part(b[l], kind, i);
            int64_t z = what == SLOW_ADD   ? x + y
                        : what == SLOW_SUB ? x - y
                        : what == SLOW_MUL ? (int64_t)((uint64_t)x * (uint64_t)y)
                                           : (x + y + s->saturate) >> 1;
            if (s->saturate && what != SLOW_HADD)
                z = z < low_of[kind] ? low_of[kind] : z > high_of[kind] ? high_of[kind] : z;
            uint32_t mask = width == 32 ? UINT32_MAX : (1u << width) - 1;
            value |= ((uint32_t)z & mask) << width * i;
        }
        r[l] = value;
    }
    return r;
}

void mx_run_iadd(struct mx_worker *w, const struct mx_step *s) {
    mx_u32 a = mx_fetch(w, s, 0), b = mx_fetch(w, s, 1), r;
    unsigned width = s->insn.word >> 48 & 7;
    if (s->saturate)
        r = slowly(s, SLOW_ADD, a, b);
    else if (width == 0)
        r = a + b;
    else
        r = width == 1 ? (mx_u32)((mx_u16)a + (mx_u16)b) : (mx_u32)((mx_u8)a + (mx_u8)b);
    mx_put(w, s, r);
}

void mx_run_isub(struct mx_worker *w, const struct mx_step *s) {
    mx_u32 a = mx_fetch(w, s, 0), b = mx_fetch(w, s, 1), r;
    unsigned width = s->insn.word >> 48 & 7;
    if (s->saturate)
        r = slowly(s, SLOW_SUB, a, b);
    else if (width == 0)
        r = a - b;
    else
        r = width == 1 ? (mx_u32)((mx_u16)a - (mx_u16)b) : (mx_u32)((mx_u8)a - (mx_u8)b);
    mx_put(w, s, r);
}

void mx_run_imul(struct mx_worker *w, const struct mx_step *s) {
    mx_u32 a = mx_fetch(w, s, 0), b = mx_fetch(w, s, 1), r;
    unsigned width = s->insn.word >> 48 & 7;
    if (s->saturate)
        r = slowly(s, SLOW_MUL, a, b);
    else if (width == 0)
        r = a * b;
    else
        r = width == 1 ? (mx_u32)((mx_u16)a * (mx_u16)b) : (mx_u32)((mx_u8)a * (mx_u8)b);
    mx_put(w, s, r);
}

void mx_run_hadd(struct mx_worker *w, const struct mx_step *s) {
    mx_put(w, s, slowly(s, SLOW_HADD, mx_fetch(w, s, 0), mx_fetch(w, s, 1)));
}

void mx_run_iadd_imm32(struct mx_worker *w, const struct mx_step *s) {
    mx_put(w, s, mx_fetch(w, s, 0) + s->immediate);
}

void mx_run_iadd_imm16(struct mx_worker *w, const struct mx_step *s) {
    mx_put(w, s, (mx_u32)((mx_u16)mx_fetch(w, s, 0) + (mx_u16)mx_splat(s->immediate)));
}

void mx_run_iadd_imm8(struct mx_worker *w, const struct mx_step *s) {
    mx_put(w, s, (mx_u32)((mx_u8)mx_fetch(w, s, 0) + (mx_u8)mx_splat(s->immediate)));
}

// ---- compares and selects

#define COMPARE(a, b, condition)                                                                                       \
    ((condition) == 0   ? (a) == (b)                                                                                   \
     : (condition) == 1 ? (a) > (b)                                                                                    \
     : (condition) == 2 ? (a) >= (b)                                                                                   \
     : (condition) == 3 ? (a) != (b)                                                                                   \
     : (condition) == 4 ? (a) < (b)                                                                                    \
     : (condition) == 5 ? (a) <= (b)                                                                                   \
                        : (a) != (b))

static mx_u32 compare(enum kind kind, mx_u32 a, mx_u32 b, unsigned condition) {
    switch (kind) {
    case U32:
        return (mx_u32)COMPARE(a, b, condition);
    case S32:
        return (mx_u32)COMPARE((mx_i32)a, (mx_i32)b, condition);
    case U16:
        return (mx_u32)COMPARE((mx_u16)a, (mx_u16)b, condition);
    case S16:
        return (mx_u32)COMPARE((mx_i16)a, (mx_i16)b, condition);
    case U8:
        return (mx_u32)COMPARE((mx_u8)a, (mx_u8)b, condition);
    default:
        return (mx_u32)COMPARE((mx_i8)a, (mx_i8)b, condition);
    }
}

static mx_u32 nonzero(enum kind kind, mx_u32 c) {
    return compare(kind <= S32 ? U32 : kind <= S16 ? U16 : U8, c, (mx_u32){0}, 3);
}

// What a true lane gives: valhall-isa.md, compare result type.
static mx_u32 result_of(enum kind kind, unsigned result) {
    static const uint32_t one[] = {1, 0x10001, 0x01010101}, one_float[] = {0x3f800000, 0x3c003c00, 0x01010101};
    unsigned width = kind <= S32 ? 0 : kind <= S16 ? 1 : 2;
    return mx_splat(result == 0 ? one[width] : result == 1 ? one_float[width] : UINT32_MAX);
}

void mx_run_icmp(struct mx_worker *w, const struct mx_step *s) {
    enum kind kind = kind_of(s);
    mx_u32 a = mx_fetch(w, s, 0), b = mx_fetch(w, s, 1), c = mx_fetch(w, s, 2), r;
    mx_u32 yes = compare(kind, a, b, s->condition);
    if (s->variant == 2) { // three-way: the difference's sign, on equality that of source 2
        mx_u32 below = compare(kind, a, b, 4), equal = compare(kind, a, b, 0);
        r = below | (~equal & ~below & result_of(kind, 0)) | (equal & c);
    } else {
        yes = s->variant == 0 ? yes | nonzero(kind, c) : yes & nonzero(kind, c);
        r = yes & result_of(kind, s->result);
    }
    mx_put(w, s, r);
}

static void select_by(struct mx_worker *w, const struct mx_step *s, enum kind kind) {
    mx_u32 yes = compare(kind, mx_fetch(w, s, 0), mx_fetch(w, s, 1), s->condition);
    mx_put(w, s, mx_blend(yes, mx_fetch(w, s, 2), mx_fetch(w, s, 3)));
}

void mx_run_csel_u32(struct mx_worker *w, const struct mx_step *s) {
    select_by(w, s, U32);
}
void mx_run_csel_s32(struct mx_worker *w, const struct mx_step *s) {
    select_by(w, s, S32);
}
void mx_run_csel_u16(struct mx_worker *w, const struct mx_step *s) {
    select_by(w, s, U16);
}
void mx_run_csel_s16(struct mx_worker *w, const struct mx_step *s) {
    select_by(w, s, S16);
}

static void mux_by(struct mx_worker *w, const struct mx_step *s, enum kind kind, uint32_t magnitude) {
    mx_u32 a = mx_fetch(w, s, 0), b = mx_fetch(w, s, 1), c = mx_fetch(w, s, 2), yes;
    switch (s->clamp) { // the same bits
    case 0:
        yes = compare(kind, c, (mx_u32){0}, 4);
        break;
    case 1:
        yes = compare(kind, c, (mx_u32){0}, 0);
        break;
    case 2:
        yes = compare(kind, c & magnitude, (mx_u32){0}, 0);
        break;
    default:
        yes = c;
    }
    mx_put(w, s, mx_blend(yes, a, b));
}

void mx_run_mux32(struct mx_worker *w, const struct mx_step *s) {
    mux_by(w, s, S32, 0x7fffffff);
}
void mx_run_mux16(struct mx_worker *w, const struct mx_step *s) {
    mux_by(w, s, S16, 0x7fff7fff);
}
void mx_run_mux8(struct mx_worker *w, const struct mx_step *s) {
    mux_by(w, s, S8, 0x7f7f7f7f);
}

// ---- shifts with logic

static mx_u32 logic(const struct mx_step *s, mx_u32 a, mx_u32 c) {
    unsigned which = s->variant & 3;
    mx_u32 r = which == 0 ? a & c : which == 1 ? a | c : a ^ c;
    return s->saturate ? ~r : r;
}

void mx_run_shift32(struct mx_worker *w, const struct mx_step *s) {
    mx_u32 a = mx_fetch(w, s, 0), k = mx_fetch(w, s, 1) & 31, c = mx_fetch(w, s, 2);
    switch (s->variant >> 2) {
    case 0:
        a = a >> k;
        break;
    case 1:
        a = a << k;
        break;
    case 2:
        a = a >> k | a << (-k & 31);
        break;
    case 3:
        a = a << k | a >> (-k & 31);
        break;
    default:
        a = (mx_u32)((mx_i32)a >> (mx_i32)k);
    }
    mx_put(w, s, logic(s, a, c));
}

static uint32_t shift_part(unsigned kind, uint32_t a, uint32_t k, unsigned width) {
    uint32_t mask = (1u << width) - 1, left = a << k, right = a >> k;
    k &= width - 1;
    switch (kind) {
    case 0:
        return right;
    case 1:
        return left & mask;
    case 2:
        return (right | a << (-k & (width - 1))) & mask;
    case 3:
        return (left | a >> (-k & (width - 1))) & mask;
    default:
        return ((uint32_t)((int32_t)(a << (32 - width)) >> (32 - width)) >> k |
                (a >> (width - 1) ? ~(UINT32_MAX >> k) : 0)) &
               mask;
    }
}

static void shift_parts(struct mx_worker *w, const struct mx_step *s, unsigned width) {
    mx_u32 a = mx_fetch(w, s, 0), k = mx_fetch(w, s, 1), r;
    uint32_t mask = (1u << width) - 1;
    EACH {
        uint32_t value = 0;
        for (unsigned i = 0; i < 32; i += width)
            value |= shift_part(s->variant >> 2, a[l] >> i & mask, k[l] >> i & (width - 1), width) << i;
        r[l] = value;
    }
    mx_put(w, s, logic(s, r, mx_fetch(w, s, 2)));
}

void mx_run_shift16(struct mx_worker *w, const struct mx_step *s) {
    shift_parts(w, s, 16);
}
void mx_run_shift8(struct mx_worker *w, const struct mx_step *s) {
    shift_parts(w, s, 8);
}

// ---- 64 bits

static void fetch64(const struct mx_worker *w, const struct mx_step *s, unsigned i, mx_u32 *low, mx_u32 *high) {
    *low = mx_raw(w, s, i);
    *high = mx_high(w, s, i);
    if (s->operand[i].modified)
        mx_operand_apply64(&s->operand[i], low, high);
}

static void put64(struct mx_worker *w, const struct mx_step *s, mx_u32 low, mx_u32 high) {
    mx_write(w, s->written, low);
    mx_write(w, s->written + 1, high);
}

void mx_run_iadd64(struct mx_worker *w, const struct mx_step *s) {
    mx_u32 al, ah, bl, bh;
    fetch64(w, s, 0, &al, &ah);
    fetch64(w, s, 1, &bl, &bh);
    mx_u32 low = al + bl;
    put64(w, s, low, ah + bh + ((mx_u32)(low < al) & 1));
}

void mx_run_isub64(struct mx_worker *w, const struct mx_step *s) {
    mx_u32 al, ah, bl, bh;
    fetch64(w, s, 0, &al, &ah);
    fetch64(w, s, 1, &bl, &bh);
    put64(w, s, al - bl, ah - bh - ((mx_u32)(al < bl) & 1));
}

void mx_run_shaddx(struct mx_worker *w, const struct mx_step *s) {
    mx_u32 al, ah, bl, bh;
    fetch64(w, s, 0, &al, &ah);
    fetch64(w, s, 1, &bl, &bh);
    unsigned k = s->variant;
    if (k > 0) {
        bh = bh << k | bl >> (32 - k);
        bl = bl << k;
    }
    mx_u32 low = al + bl;
    put64(w, s, low, ah + bh + ((mx_u32)(low < al) & 1));
}

void mx_run_shift64(struct mx_worker *w, const struct mx_step *s) {
    mx_u32 al, ah, cl, ch, k = mx_fetch(w, s, 1) & 63, rl, rh;
    fetch64(w, s, 0, &al, &ah);
    fetch64(w, s, 2, &cl, &ch);
    EACH {
        uint64_t a = (uint64_t)ah[l] << 32 | al[l];
        unsigned n = k[l];
        switch (s->variant >> 2) {
        case 0:
            a = a >> n;
            break;
        case 1:
            a = a << n;
            break;
        case 2:
            a = a >> n | a << (-n & 63);
            break;
        case 3:
            a = a << n | a >> (-n & 63);
            break;
        default:
            a = (uint64_t)((int64_t)a >> n);
        }
        rl[l] = (uint32_t)a;
        rh[l] = (uint32_t)(a >> 32);
    }
    put64(w, s, logic(s, rl, cl), logic(s, rh, ch));
}

// ---- dot products: exact sums of four products and the accumulator; only the sum saturates

static mx_u32 dot_u8(const struct mx_step *s, mx_u32 a, mx_u32 b, mx_u32 c) {
    mx_u32 r;
    EACH {
        int64_t sum = part(c[l], U32, 0);
        for (unsigned i = 0; i < 4; i++)
            sum += part(a[l], U8, i) * part(b[l], U8, i);
        if (s->saturate)
            sum = sum > high_of[U32] ? high_of[U32] : sum;
        r[l] = (uint32_t)sum;
    }
    return r;
}

// Of four signed products the sum's magnitude is at most 65536.
static mx_u32 dot_s8(mx_u32 a, mx_u32 b) {
    mx_i16 al = (mx_i16)a << 8 >> 8, ah = (mx_i16)a >> 8, bl = (mx_i16)b << 8 >> 8, bh = (mx_i16)b >> 8;
#ifdef __AVX2__
    mx_u32 r;
    for (unsigned half = 0; half < 2; half++) {
        __m256i low = _mm256_madd_epi16(((__m256i *)&al)[half], ((__m256i *)&bl)[half]);
        __m256i high = _mm256_madd_epi16(((__m256i *)&ah)[half], ((__m256i *)&bh)[half]);
        ((__m256i *)&r)[half] = _mm256_add_epi32(low, high);
    }
    return r;
#else
    mx_i32 all = (mx_i32)al << 16 >> 16, alh = (mx_i32)al >> 16, bll = (mx_i32)bl << 16 >> 16, blh = (mx_i32)bl >> 16;
    mx_i32 ahl = (mx_i32)ah << 16 >> 16, ahh = (mx_i32)ah >> 16, bhl = (mx_i32)bh << 16 >> 16, bhh = (mx_i32)bh >> 16;
    return (mx_u32)(all * bll + alh * blh + ahl * bhl + ahh * bhh);
#endif
}

void mx_run_idpadd_s8(struct mx_worker *w, const struct mx_step *s) {
    mx_u32 a = mx_fetch(w, s, 0), b = mx_fetch(w, s, 1), c = mx_fetch(w, s, 2), dot = dot_s8(a, b), r = c + dot;
    if (s->saturate) {
        // Overflow where both addends have the sign that the sum lacks.
        mx_u32 over = (mx_u32)((mx_i32)((c ^ r) & (dot ^ r)) >> 31);
        mx_u32 limit = (mx_u32)((mx_i32)c >> 31) ^ 0x7fffffffu;
        r = mx_blend(over, limit, r);
    }
    mx_put(w, s, r);
}

void mx_run_idpadd_u8(struct mx_worker *w, const struct mx_step *s) {
    mx_put(w, s, dot_u8(s, mx_fetch(w, s, 0), mx_fetch(w, s, 1), mx_fetch(w, s, 2)));
}
