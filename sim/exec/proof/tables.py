# SPDX-License-Identifier: MIT
"""Small shaders made from tables: one a group of expressions, each applied to every element of the inputs.

Where lavapipe is wrong, or less exact than the chip has to be, an expression brings its own value in Python; lavapipe's
is then shown beside it only.
"""
import math
from fractions import Fraction

from values import FORMATS, TYPES, all_edges, glsl, is_float, lanes, rounded, within, wrap

ELEMENTS = 512
LOCAL_SIZE = 48  # ELEMENTS is no multiple of it
HEAD = """#version 460
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_spirv_intrinsics : require
layout(local_size_x = %d) in;
""" % LOCAL_SIZE


class Expression:
    """GLSL over x, y and z. `ulp`: units in the last place that a float may be off, or a function of (x, y, z) that says how
    many; `absolute`: or so much. `want`: a lane's value, a function of that lane's x, y, z. `fused`: not `precise`, so that
    the compiler makes one operation of fma(); in a precise one it makes two, as lavapipe does."""

    def __init__(self, text, result=None, ulp=0, absolute=0.0, want=None, fused=False):
        self.text, self.result, self.ulp, self.absolute, self.want, self.fused = text, result, ulp, absolute, want, fused


class Group:
    def __init__(self, name, inputs, expressions, make=all_edges, prelude=""):
        self.name, self.inputs, self.make, self.prelude = name, inputs, make, prelude
        self.expressions = [e if isinstance(e, Expression) else Expression(e) for e in expressions]
        for expression in self.expressions:
            expression.result = expression.result or inputs[0]

    def results(self):
        """The types of results, in the order of their bindings; each with its expressions."""
        found = {}
        for expression in self.expressions:
            found.setdefault(expression.result, []).append(expression)
        return found

    def source(self):
        text = HEAD + self.prelude
        for k, name in enumerate(self.inputs):
            text += f"layout(set = 0, binding = {k}, scalar) readonly buffer B{k} {{ {glsl(name)} in{k}[]; }};\n"
        results = self.results()
        for k, name in enumerate(results):
            text += f"layout(set = 0, binding = {8 + k}, scalar) writeonly buffer R{k} {{ {glsl(name)} out{k}[]; }};\n"
        text += f"void main() {{\n    uint i = gl_GlobalInvocationID.x;\n    if (i >= {ELEMENTS}u)\n        return;\n"
        for k, name in enumerate(self.inputs):
            text += f"    {glsl(name)} {'xyz'[k]} = in{k}[i];\n"
        for k, (name, expressions) in enumerate(results.items()):
            for n, expression in enumerate(expressions):
                text += (f"    {{ {'' if expression.fused else 'precise '}{glsl(name)} v = {expression.text}; "
                         f"out{k}[i * {len(expressions)}u + {n}u] = v; }}\n")
        return text + "}\n"


# ---- integers

def integer_expressions(name):
    t, bits, vector = glsl(name), TYPES[name][3], lanes(name) > 1
    one = f"{t}({bits - 1})"
    choose = (lambda c, a, b: f"mix({b}, {a}, {c})") if vector else (lambda c, a, b: f"({c}) ? ({a}) : ({b})")
    compare = (lambda op, a, b: f"{op[1]}({a}, {b})") if vector else (lambda op, a, b: f"{a} {op[0]} {b}")
    comparisons = [("<", "lessThan"), ("<=", "lessThanEqual"), (">", "greaterThan"), (">=", "greaterThanEqual"), ("==", "equal"),
                   ("!=", "notEqual")]
    texts = ["x + y", "x - y", "x * y", "x & y", "x | y", "x ^ y", "~x", f"-x", "x & ~y", "~(x | y)", "x ^ ~y", "min(x, y)", "max(x, y)",
             "clamp(x, min(y, z), max(y, z))", f"x + {t}(77)", f"x << (y & {one})", f"x >> (y & {one})", f"x << {t}(3)", f"x >> {t}(3)",
             f"(x << {t}(5)) | (y >> {t}(3))", f"(x >> (y & {one})) & z", f"(x << (y & {one})) ^ z", "(x & z) | (y & ~z)", "x * y + z",
             f"(x << {t}(3)) + y", f"(x >> (y & {one})) | z", f"~(x << (y & {one}))"]
    texts += [choose(compare(op, "x", "y"), f"{t}(1)", f"{t}(0)") for op in comparisons]
    texts += [choose(compare(op, "x", "y"), "y", "z") for op in comparisons]
    texts += [choose(compare(comparisons[0], "x", f"{t}(5)"), "y", "z")]
    if TYPES[name][2] == "i":
        texts += ["abs(x)", "sign(x)", "abs(x - y)"]
    if not vector:
        texts += ["(x < y && y != z) ? x : z", "(x < y || x == z) ? y : x", "(x < y) != (y < z) ? x : y", "(x > y && x < z) ? x : y",
                  f"{t}(x >= y && y < z)", f"{t}(x < y || y > z)", f"{t}((x & {t}(1)) != {t}(0) && (y & {t}(2)) != {t}(0) && x < z)"]
    return texts


def divisions(name):
    """GLSL's % with a negative operand is undefined; the stock front end makes it SPIR-V's SMod, whose sign is the divisor's."""
    t, signed = glsl(name), TYPES[name][2] == "i"
    divisor = f"((y == {t}(0) || y == {t}(-1)) ? {t}(3) : y)" if signed else f"(y == {t}(0) ? {t}(3) : y)"
    d = lambda y: 3 if y == 0 or (signed and y == -1) else y
    quotient = lambda x, y: (abs(x) // abs(y)) * (1 if (x < 0) == (y < 0) else -1)
    rows = [Expression(f"x / {divisor}", want=lambda x, y: quotient(x, d(y))), Expression(f"x % {divisor}", want=lambda x, y: x % d(y))]
    for c in (3, 7, 10, 60, 100) + ((-5, -8) if signed else ()):
        rows.append(Expression(f"x / {t}({c})", want=lambda x, y, c=c: quotient(x, c)))
        rows.append(Expression(f"x % {t}({c})", want=lambda x, y, c=c: x % c))
    return rows


BITS_PRELUDE = """
uint mul_high(uint x, uint y) { uint h, l; umulExtended(x, y, h, l); return h; }
int mul_high(int x, int y) { int h, l; imulExtended(x, y, h, l); return h; }
uint carry(uint x, uint y) { uint c; uint s = uaddCarry(x, y, c); return c; }
uint borrow(uint x, uint y) { uint c; uint s = usubBorrow(x, y, c); return c; }
"""


def bit_expressions(name):
    texts = ["bitCount(x)", "findLSB(x)", "findMSB(x)"]
    rows = [Expression(text, "i32") for text in texts]
    rows += ["bitfieldReverse(x)", "bitfieldExtract(x, int(y) & 15, int(z) & 15)", "bitfieldInsert(x, y, int(z) & 15, int(z >> 8) & 15)",
             "bitfieldExtract(x, 8, 8)", "bitfieldExtract(x, 16, 16)", "bitfieldExtract(x, 3, 11)", "bitfieldInsert(x, y, 8, 8)",
             "mul_high(x, y)"]
    return rows + (["carry(x, y)", "borrow(x, y)"] if name == "u32" else [])


DOT_PRELUDE = "\n".join(
    f"""spirv_instruction(extensions = ["SPV_KHR_integer_dot_product"], capabilities = [6019, 6018], id = {number})
{result} {name}({result} a, {result} b{', ' + result + ' c' if number > 4452 else ''}, spirv_literal int packed_format);"""
    for name, number, result in (("dot_s", 4450, "int"), ("dot_u", 4451, "uint"), ("dot_s_sat", 4453, "int"), ("dot_u_sat", 4454, "uint"))) + "\n"


def dot_bytes(x, y, signed):
    byte = lambda word, k: wrap("i8" if signed else "u8", word >> 8 * k)
    return sum(byte(x, k) * byte(y, k) for k in range(4))


def dot_groups():
    for name, s in (("i32", True), ("u32", False)):
        low, high = (-(1 << 31), (1 << 31) - 1) if s else (0, (1 << 32) - 1)
        dot, sat = ("dot_s", "dot_s_sat") if s else ("dot_u", "dot_u_sat")
        yield Group(f"dot_{name}", (name, name, name), [
            Expression(f"{dot}(x, y, 0)", want=lambda x, y, z, s=s: dot_bytes(x, y, s)),
            Expression(f"{dot}(x, y, 0) + z", want=lambda x, y, z, s=s, n=name: wrap(n, dot_bytes(x, y, s) + z)),
            Expression(f"{sat}(x, y, z, 0)", want=lambda x, y, z, s=s, l=low, h=high: min(h, max(l, dot_bytes(x, y, s) + z))),
        ], prelude=DOT_PRELUDE)


# ---- floats: exact operations

def fma_exact(x, y, z, bits):
    if any(math.isnan(v) or math.isinf(v) for v in (x, y, z)):
        try:
            product = x * y
        except OverflowError:
            product = math.inf
        return product + z
    exact = Fraction(x) * Fraction(y) + Fraction(z)
    if exact == 0:
        product_sign = math.copysign(1, x) * math.copysign(1, y)
        both = product_sign == math.copysign(1, z) and (x == 0 or y == 0) and z == 0
        return math.copysign(0.0, product_sign) if both else 0.0
    result = rounded(exact, bits)
    return math.copysign(0.0, exact) if result == 0 else result


def min_max(sign):
    def choose(x, y):
        if math.isnan(x) or math.isnan(y):
            return y if math.isnan(x) else x
        if x == y == 0:
            return x if math.copysign(1, x) == sign else y
        return max(x, y) if sign > 0 else min(x, y)

    return choose


least, most = min_max(-1), min_max(1)


def clamp_to(low, high):
    return lambda x, *_: low if math.isnan(x) else most(low, least(high, x)) if x != 0 else (0.0 if low == 0 else x)


def to_integral(value, how):
    return value if math.isnan(value) or math.isinf(value) else math.copysign(float(how(value)), value)


def float_expressions(name):
    t, bits, vector = glsl(name), TYPES[name][3], lanes(name) > 1
    tenth = rounded(0.1, bits)
    product = lambda x, y: fma_exact(x, y, math.copysign(0.0, math.copysign(1, x) * math.copysign(1, y)), bits)
    rows = [
        Expression("x + y", want=lambda x, y, z: fma_exact(x, 1.0, y, bits)), Expression("x - y", want=lambda x, y, z: fma_exact(x, 1.0, -y, bits)),
        Expression("x * y", want=lambda x, y, z: product(x, y)),
        Expression("x * y + z", want=lambda x, y, z: fma_exact(product(x, y), 1.0, z, bits)),
        Expression("-abs(x) + y", want=lambda x, y, z: fma_exact(-abs(x), 1.0, y, bits)),
        Expression(f"x + {t}(1.5)", want=lambda x, y, z: fma_exact(x, 1.0, 1.5, bits)),
        Expression(f"x * {t}(0.1)", want=lambda x, y, z: product(x, tenth)),
        Expression("min(x, y)", want=lambda x, y, z: least(x, y)), Expression("max(x, y)", want=lambda x, y, z: most(x, y)),
        Expression(f"clamp(x, {t}(0), {t}(1))", want=clamp_to(0.0, 1.0)), Expression(f"clamp(x, {t}(-1), {t}(1))", want=clamp_to(-1.0, 1.0)),
        Expression("floor(x)", want=lambda x, y, z: to_integral(x, math.floor)), Expression("ceil(x)", want=lambda x, y, z: to_integral(x, math.ceil)),
        Expression("trunc(x)", want=lambda x, y, z: to_integral(x, math.trunc)), Expression("roundEven(x)", want=lambda x, y, z: to_integral(x, round)),
    ]
    if vector:
        return rows + ["mix(x, y, lessThan(x, y))", "mix(z, y, equal(x, y))", "mix(z, y, greaterThanEqual(x, y))", "mix(z, y, notEqual(x, y))"]
    for op in ("<", "<=", ">", ">=", "==", "!="):
        rows += [Expression(f"x {op} y ? 1u : 0u", "u32"), Expression(f"x {op} y ? x : z"), Expression(f"!(x {op} y) ? y : z")]
    rows += [Expression("isnan(x) ? 1u : 0u", "u32"), Expression("isinf(x) ? 1u : 0u", "u32"),
             Expression(f"x < y && y < z ? {t}(1) : {t}(0)"), Expression(f"x < y || y == z ? {t}(1) : {t}(-2)"),
             Expression(f"abs(x) < y ? -x : y"), Expression("uint(x >= y && y < z)", "u32"), Expression("uint(x < y || y > z)", "u32")]
    return rows


def fma_group(name):
    """Apart from x * y alone: a product that is used twice is not fused."""
    bits = TYPES[name][3]
    return Group(f"fma_{name}", (name, name, name), [
        Expression("fma(x, y, z)", want=lambda x, y, z: fma_exact(x, y, z, bits), fused=True),
        Expression("fma(-x, z, abs(y))", want=lambda x, y, z: fma_exact(-x, z, abs(y), bits), fused=True),
        Expression(f"clamp(fma(z, y, -x), {glsl(name)}(0), {glsl(name)}(1))", fused=True,
                   want=lambda x, y, z: clamp_to(0.0, 1.0)(fma_exact(z, y, -x, bits))),
    ])


def condition_group(name):
    """Apart from other comparisons: those that are used twice are not joined."""
    t = glsl(name)
    return Group(f"conditions_{name}", (name, name, name), [
        Expression("uint(x >= y && y < z)", "u32"), Expression("uint(x < z || y == z)", "u32"), Expression(f"(x < {t}(3) && z > y) ? y : x")])


def scaled(make, most):
    """Small exponents as the second input."""

    def inputs(names, count, source):
        columns = make(names, count, source)
        columns[1] = [source.randint(-most, most) for _ in range(count * lanes(names[1]))]
        return columns

    return inputs


def ldexp_want(bits):
    """Powers beyond the format's range are made of steps in the stock code: normal values only."""

    def want(x, y):
        return rounded(Fraction(x) * Fraction(2) ** y, bits) if x != 0 else x

    return want


# ---- floats: within an error. Vulkan's appendix on precision, where the chip's own is not published.

def flushed(value):
    """FRCP and FRSQ on f32: subnormal values count as 0, sign kept."""
    return math.copysign(0.0, value) if 0 < abs(value) < 2.0 ** -126 else value


def reciprocal(x, bits):
    if math.isnan(x):
        return x
    x = flushed(x) if bits == 32 else x
    if x == 0:
        return math.copysign(math.inf, x)
    value = rounded(1 / x if math.isinf(x) else Fraction(1) / Fraction(x), bits)
    return flushed(value) if bits == 32 else value


def guarded(function, bits):
    """The function's value rounded; NaN where Python refuses, infinity where it overflows."""

    def want(x, *rest):
        try:
            return rounded(function(x, *rest), bits)
        except OverflowError:
            return math.inf
        except (ValueError, ZeroDivisionError):
            return math.nan

    return want


def log2_want(x, *_):
    if math.isnan(x) or x < 0:
        return math.nan
    return -math.inf if x == 0 else x if math.isinf(x) else math.log2(x)


def special_groups():
    for name, bits in (("f32", 32), ("f16", 16)):
        t = glsl(name)
        half = bits == 16
        digits = FORMATS[bits][0]
        near = within(-8.0, 8.0, (0.0, -0.0, 1.0, -1.0, 0.5))
        positive = within(2.0 ** -10, 100.0, (1.0, 2.0, 4.0, 0.25, 0.5))
        w = lambda f, bits=bits: guarded(f, bits)
        yield Group(f"reciprocal_{name}", (name,), [Expression(f"{t}(1) / x", ulp=1, want=lambda x, b=bits: reciprocal(x, b))])
        yield Group(f"division_{name}", (name, name), [
            Expression("x / y", ulp=3, want=w(lambda x, y: Fraction(x) / Fraction(y))), Expression(f"x / {t}(3)", ulp=3, want=w(lambda x, y: Fraction(x) / 3)),
        ], within(2.0 ** -8, 64.0, (1.0, 2.0, 3.0)))
        yield Group(f"root_{name}", (name,), [
            Expression("sqrt(x)", ulp=3, want=w(math.sqrt)), Expression("inversesqrt(x)", ulp=2, want=w(lambda x: 1 / math.sqrt(x))),
            Expression("log2(x)", ulp=3, absolute=2.0 ** (-21 if not half else -7), want=w(log2_want)),
            Expression("log(x)", ulp=3, absolute=2.0 ** (-21 if not half else -7), want=w(lambda x: log2_want(x) * math.log(2))),
        ], positive)
        steps = (lambda x, *_: 1 + 2 * abs(x)) if half else (lambda x, *_: 3 + 2 * abs(x))
        yield Group(f"exponential_{name}", (name, name), [
            Expression("exp2(x)", ulp=steps, want=w(lambda x, y: 2.0 ** x)), Expression("exp(x)", ulp=steps, want=w(lambda x, y: math.exp(x))),
            Expression("sinh(x)", ulp=64, absolute=2.0 ** (4 - digits), want=w(lambda x, y: math.sinh(x))),
            Expression("tanh(x)", ulp=64, absolute=2.0 ** (4 - digits), want=w(lambda x, y: math.tanh(x))),
        ], near)
        yield Group(f"circle_{name}", (name,), [
            Expression("sin(x)", absolute=2.0 ** (-11 if not half else -7), want=w(math.sin)), Expression("cos(x)", absolute=2.0 ** (-11 if not half else -7), want=w(math.cos)),
            Expression("atan(x)", ulp=4096 if not half else 5, want=w(math.atan)),
        ], within(-3.1415, 3.1415, (0.0, -0.0, 1.0, -1.0)))
    yield Group("power_f32", ("f32", "f32"), [Expression("pow(x, y)", ulp=lambda x, y: 16 + 2 * abs(y * math.log2(x)) + 8 * abs(y),
                                                         want=guarded(lambda x, y: x ** y, 32))], within(0.125, 8.0, (1.0, 2.0)))
    yield Group("special_edges_f32", ("f32",), [
        Expression("exp2(x)", ulp=lambda x: 3 + 2 * min(abs(x), 200), want=guarded(lambda x: 2.0 ** x if x < 200 else math.inf if x == x else x, 32), absolute=2.0 ** -126),
        Expression("inversesqrt(x)", ulp=2, want=lambda x: rounded(1 / math.sqrt(x), 32) if 2.0 ** -126 <= x < math.inf else
                   0.0 if x == math.inf else math.copysign(math.inf, x) if abs(x) < 2.0 ** -126 else math.nan),
        Expression("x > 0 ? log2(x) : 1", ulp=3, absolute=2.0 ** -21, want=guarded(lambda x: log2_want(x) if x > 0 else 1.0, 32)),
    ])


# ---- conversions

def to_integer(name):
    """The chip saturates; NaN gives 0 (Vulkan leaves both open)."""
    _, _, kind, bits = TYPES[name]
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if kind == "i" else (0, (1 << bits) - 1)
    return lambda x, *_: 0 if math.isnan(x) else low if x < low else high if x > high else math.trunc(x)


def conversion_groups():
    small = ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64")
    for name in small:
        rows = [Expression(f"{glsl(other)}(x)", other, want=lambda x, o=other: wrap(o, x)) for other in small if other != name]
        # By way of f32 where the integer is wide: rounded twice.
        rows.append(Expression("float(x)", "f32", want=lambda x: rounded(Fraction(x), 32)))
        rows.append(Expression("float16_t(x)", "f16", want=lambda x: rounded(Fraction(x), 16) if abs(x) < 1 << 24 else rounded(rounded(Fraction(x), 32), 16)))
        yield Group(f"convert_{name}", (name,), rows)
    for name in ("f32", "f16"):
        yield Group(f"convert_{name}", (name,), [Expression(f"{glsl(o)}(x)", o, want=to_integer(o)) for o in ("i32", "u32")] + [
            Expression("float16_t(x)", "f16", want=lambda x: rounded(x, 16)), Expression("float(x)", "f32"), Expression("float16_t(x + x)", "f16"),
            Expression("float(x) * 0.1", "f32", want=lambda x: fma_exact(x, rounded(0.1, 32), -math.copysign(0.0, -math.copysign(1, x)), 32))])
        for other, low, high in (("i8", -128, 127), ("u8", 0, 255), ("i16", -32768, 32767), ("u16", 0, 65504), ("i64", -6e4, 6e4), ("u64", 0, 6e4)):
            yield Group(f"convert_{name}_{other}", (name,), [Expression(f"{glsl(other)}(x)", other, want=to_integer(other))], within(low, high, (0.0, -0.0, 0.5, 1.5)))
    vectors = (("i8x4", ("f16x4", "i32x4", "f32x4")), ("u8x4", ("f16x4", "i32x4", "f32x4")), ("i16x2", ("f16x2", "f32x2")), ("u16x2", ("f16x2", "f32x2")))
    for name, others in vectors:
        yield Group(f"convert_{name}", (name,), [Expression(f"{glsl(o)}(x)", o, want=lambda x, o=o: rounded(Fraction(x), TYPES[o][3]) if is_float(o) else x)
                                                 for o in others])
    for other in ("i16x2", "u16x2"):
        yield Group(f"convert_f16x2_{other}", ("f16x2",), [Expression(f"{glsl(other)}(x)", other, want=to_integer(other))],
                    within(0 if other[0] == "u" else -32768, 32767, (0.0, 0.5, 1.5, 2.5)))


def pack_groups():
    yield Group("pack", ("f32", "f32"), [Expression("packHalf2x16(vec2(x, y))", "u32"), Expression("packSnorm2x16(vec2(x, y))", "u32"),
                                         Expression("packUnorm2x16(vec2(x, y))", "u32"), Expression("packSnorm4x8(vec4(x, y, y, x))", "u32"),
                                         Expression("packUnorm4x8(vec4(x, y, y, x))", "u32")], within(-1.25, 1.25, (0.0, 1.0, -1.0, 0.25)))
    yield Group("unpack", ("u32",), [Expression("unpackHalf2x16(x)", "f32x2"), Expression("unpackSnorm2x16(x)", "f32x2", ulp=1), Expression("unpackUnorm2x16(x)", "f32x2", ulp=1),
                                     Expression("unpackSnorm4x8(x)", "f32x4", ulp=1), Expression("unpackUnorm4x8(x)", "f32x4", ulp=1)])
    yield Group("bytes", ("u32", "u32"), [Expression("unpack8(x)", "u8x4"), Expression("unpack16(x)", "u16x2"), Expression("pack32(unpack8(x).wzyx)", "u32"),
                                          Expression("pack32(u8vec4(unpack8(x).yx, unpack8(y).zw))", "u32"), Expression("pack32(unpack16(x).yx)", "u32"),
                                          Expression("pack32(u16vec2(unpack16(x).y, unpack16(y).x))", "u32"), Expression("unpack8(x) + unpack8(y).yxwz", "u8x4"),
                                          Expression("unpack16(x) * unpack16(y).yx", "u16x2"), Expression("uint(unpack8(x).z) * uint(unpack8(y).w)", "u32"),
                                          Expression("int(int8_t(unpack8(x).y)) + int(int16_t(unpack16(y).y))", "i32"),
                                          Expression("float(unpack8(x).w) + float(int8_t(unpack8(y).z))", "f32"), Expression("float(unpack16(x).y) * float(int16_t(unpack16(y).x))", "f32")])
    yield Group("halves", ("f16x2", "f16x2"), [Expression("x.yx + y", "f16x2"), Expression("x.xx * y.yx", "f16x2"), Expression("float(x.y) + float(y.x)", "f32"),
                                               Expression("fma(float(x.x), float(y.y), 2.0)", "f32", want=None), Expression("f16vec2(x.x + y.y, x.y - y.x)", "f16x2"),
                                               Expression("float16_t(float(x.x) * float(y.y))", "f16"), Expression("max(x.yx, f16vec2(0))", "f16x2", want=None)],
                within(-200.0, 200.0, (0.0, -0.0, 1.0)))


FREXP = "float mantissa(float x) { int e; return frexp(x, e); }\nint exponent(float x) { int e; float m = frexp(x, e); return e; }\n"


def all_groups():
    for name in ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "i8x4", "u8x4", "i16x2", "u16x2"):
        yield Group(f"integer_{name}", (name, name, name), integer_expressions(name))
    for name in ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "f16", "f32"):
        yield condition_group(name)
    for name in ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"):
        yield Group(f"divide_{name}", (name, name), divisions(name))
    for name in ("i32", "u32"):
        yield Group(f"bits_{name}", (name, name, name), bit_expressions(name), prelude=BITS_PRELUDE)
    yield from dot_groups()
    for name in ("f32", "f16", "f16x2"):
        yield Group(f"float_{name}", (name, name, name), float_expressions(name))
        yield fma_group(name)
    finite = lambda names, count, source: [[v if math.isfinite(v) else 1.0 for v in c] for c in all_edges(names, count, source)]
    yield Group("frexp_f32", ("f32",), [Expression("mantissa(x)", want=lambda x: math.frexp(x)[0]), Expression("exponent(x)", "i32", want=lambda x: math.frexp(x)[1])],
                finite, FREXP)
    yield Group("fract", ("f32", "f16"), [Expression("fract(x)"), Expression("fract(y)", "f16")], finite)
    yield Group("ldexp_f32", ("f32", "i32"), [Expression("ldexp(x, y)", want=ldexp_want(32))], scaled(within(-1000.0, 1000.0, (0.0, -0.0, 1.0)), 20))
    yield Group("ldexp_f16x2", ("f16x2", "i32x2"), [Expression("ldexp(x, y)", want=ldexp_want(16))], scaled(within(-40.0, 40.0, (0.0, -0.0, 1.0)), 5))
    yield Group("sign", ("f32", "f16"), [Expression("sign(x)"), Expression("sign(y)", "f16"), Expression("step(x, 1.0)")],
                lambda n, c, s: [[v if not math.isnan(v) else 2.0 for v in column] for column in all_edges(n, c, s)])
    yield from special_groups()
    yield from conversion_groups()
    yield from pack_groups()
