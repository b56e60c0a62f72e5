# SPDX-License-Identifier: MIT
"""Types of GLSL as the proof uses them: their values in memory, inputs with edges, and distances between floats.

Values are Python numbers, a vector's lanes one after the other. Floats are exact: every f16 and f32 is a Python float.
"""
import math
import random
import struct
from fractions import Fraction

# Name: GLSL's, lanes, kind (i, u, f), bits.
TYPES = {}
for bits in (8, 16, 32, 64):
    TYPES[f"i{bits}"] = (f"int{bits}_t", 1, "i", bits)
    TYPES[f"u{bits}"] = (f"uint{bits}_t", 1, "u", bits)
TYPES.update({"f16": ("float16_t", 1, "f", 16), "f32": ("float", 1, "f", 32), "f16x2": ("f16vec2", 2, "f", 16),
              "i16x2": ("i16vec2", 2, "i", 16), "u16x2": ("u16vec2", 2, "u", 16), "i8x4": ("i8vec4", 4, "i", 8),
              "u8x4": ("u8vec4", 4, "u", 8), "f32x2": ("vec2", 2, "f", 32), "f32x4": ("vec4", 4, "f", 32),
              "f16x4": ("f16vec4", 4, "f", 16), "i32x4": ("ivec4", 4, "i", 32),
              "i32x2": ("ivec2", 2, "i", 32)})
CODES = {"i8": "b", "u8": "B", "i16": "h", "u16": "H", "i32": "i", "u32": "I", "i64": "q", "u64": "Q", "f16": "e", "f32": "f"}
# Digits of the mantissa with the hidden one, the least exponent of a normal number, the bias.
FORMATS = {16: (11, -14, 15), 32: (24, -126, 127)}


def glsl(name):
    return TYPES[name][0]


def lanes(name):
    return TYPES[name][1]


def is_float(name):
    return TYPES[name][2] == "f"


def size_bytes(name):
    return TYPES[name][1] * TYPES[name][3] // 8


def code(name):
    return CODES[TYPES[name][2] + str(TYPES[name][3])]


def pack(name, values):
    return struct.pack(f"<{len(values)}{code(name)}", *values)


def unpack(name, data):
    return struct.unpack(f"<{len(data) * lanes(name) // size_bytes(name)}{code(name)}", data)


def wrap(name, value):
    """An integer as the type holds it."""
    _, _, kind, bits = TYPES[name]
    value &= (1 << bits) - 1
    return value - (1 << bits) if kind == "i" and value >> (bits - 1) else value


def rounded(value, bits):
    """A Fraction, or float, as the nearest number of the format, ties to even."""
    if not isinstance(value, Fraction):
        if math.isnan(value) or math.isinf(value) or value == 0:
            return value
        value = Fraction(value)
    if value == 0:
        return 0.0
    digits, least, bias = FORMATS[bits]
    sign, value = (-1 if value < 0 else 1), abs(value)
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    exponent -= value < Fraction(2) ** exponent
    unit = Fraction(2) ** (max(exponent, least) - digits + 1)
    result = round(value / unit) * unit  # round() of a Fraction: ties to even
    return sign * (math.inf if result >= Fraction(2) ** (bias + 1) else float(result))


def order(value, bits):
    """A float's place among its format's numbers: neighbours differ by 1, both zeros have 0."""
    code = {16: ("<e", "<h"), 32: ("<f", "<i")}[bits]
    place = struct.unpack(code[1], struct.pack(code[0], value))[0]
    return place if place >= 0 else -(place & ((1 << (bits - 1)) - 1))


def ulps(got, wanted, bits):
    """The distance of two floats in units in the last place; NaN is next to NaN alone."""
    if math.isnan(got) or math.isnan(wanted):
        return 0 if math.isnan(got) and math.isnan(wanted) else math.inf
    return abs(order(got, bits) - order(wanted, bits))


def same_float(got, wanted):
    if math.isnan(got) or math.isnan(wanted):
        return math.isnan(got) and math.isnan(wanted)
    return got == wanted and math.copysign(1, got) == math.copysign(1, wanted)


def edges(name):
    _, _, kind, bits = TYPES[name]
    if kind == "f":
        digits, least, bias = FORMATS[bits]
        small, big = 2.0 ** (least - digits + 1), (2 - 2.0 ** (1 - digits)) * 2.0 ** bias
        even = [0.0, small, 2.0 ** least - small, 2.0 ** least, 0.5, 1.0, 1.0 + 2.0 ** (1 - digits), 1.5, 2.5, 3.0, 127.5,
                2.0 ** (digits - 1), 2.0 ** digits - 1, big]
        return [sign * value for value in even for sign in (1, -1)] + [math.inf, -math.inf, math.nan]
    top = 1 << (bits - 1)
    near = [0, 1, 2, 3, 5, 7, 15, 16, 31, 32, 63, 64, top - 1]
    if kind == "i":
        return near + [-1, -2, -7, -16, -top, -top + 1]
    return near + [top, top + 1, 2 * top - 2, 2 * top - 1]


def random_value(name, source):
    _, _, kind, bits = TYPES[name]
    if kind != "f":
        return wrap(name, source.getrandbits(bits) >> source.choice((0, 0, 0, bits // 2)))
    digits, least, bias = FORMATS[bits]
    exponent = source.randint(-8, 8) if source.random() < 0.75 else source.randint(least, bias)
    return source.choice((1, -1)) * math.ldexp((1 << (digits - 1)) + source.getrandbits(digits - 1), exponent - digits + 1)


def all_edges(names, count, source):
    """Inputs of these types: every pair of edges of the first two as far as they fit, then random ones."""
    pools = [edges(name) for name in names]
    columns = [[] for _ in names]
    pairs = [(first, second) for first in pools[0] for second in pools[-1 if len(names) < 2 else 1]]
    source.shuffle(pairs)
    for n in range(count):
        for k, name in enumerate(names):
            for lane in range(lanes(name)):
                pair = pairs[(n * lanes(name) + lane) % len(pairs)]
                edge = pair[k] if k < 2 else source.choice(pools[k])
                plain = n >= count * 3 // 4 or (k == 2 and source.random() < 0.5)
                columns[k].append(random_value(name, source) if plain else edge)
    return columns


def within(low, high, edge=()):
    """Inputs between the bounds, for functions that are not defined, or not exact, everywhere; these edges first."""

    def make(names, count, source):
        columns = []
        for name in names:
            total = count * lanes(name)
            values = list(edge) + [source.uniform(low, high) for _ in range(total - len(edge))]
            columns.append([rounded(value, TYPES[name][3]) if is_float(name) else int(value) for value in values[:total]])
        return columns

    return make


def seeded(*words):
    return random.Random("/".join(map(str, words)))
