# SPDX-License-Identifier: MIT
"""Random compute shaders, the same for the same seed, without undefined behaviour: whole numbers only (shifts are masked,
divisors are made odd, array indices are masked), loops end, barriers stand where all threads of the group come by, subgroup
operations ask for lanes that take part.

Values are uint, int, the 8- and 16-bit types, their vectors and 64-bit ones; floats occur as small whole numbers, which
every operation used on them keeps exact.
"""
from dispatches import Dispatch
from values import seeded

WORDS = 6
LOCALS = ((64, 1, 1), (16, 1, 1), (24, 1, 1), (50, 1, 1), (128, 1, 1))
SCALARS = ("uint", "int", "uint16_t", "int16_t", "uint8_t", "int8_t", "uint64_t")
VECTORS = {"u8vec4": 8, "i8vec4": 8, "u16vec2": 16, "i16vec2": 16}
BITS = {"uint": 32, "int": 32, "uint16_t": 16, "int16_t": 16, "uint8_t": 8, "int8_t": 8, "uint64_t": 64, "float": 32, "float16_t": 16, **VECTORS}
EXTENSIONS = ("GL_GOOGLE_include_directive", "GL_KHR_shader_subgroup_basic", "GL_KHR_shader_subgroup_vote", "GL_KHR_shader_subgroup_ballot",
              "GL_KHR_shader_subgroup_arithmetic", "GL_KHR_shader_subgroup_shuffle")


class Writer:
    """Writes a shader's main(). depth: of expressions; level: of blocks; uniform: whether all threads of the group are here."""

    def __init__(self, source, subgroup):
        self.random, self.subgroup = source, subgroup
        self.lines, self.indent, self.names = [], 1, 0
        self.variables = {}  # type: names
        self.loops = 0       # around here, of this block's threads

    def chance(self, part):
        return self.random.random() < part

    def pick(self, items):
        return self.random.choice(items)

    def line(self, text):
        self.lines.append("    " * self.indent + text)

    def fresh(self, stem):
        self.names += 1
        return f"{stem}{self.names}"

    # ---- expressions

    def leaf(self, kind):
        names = self.variables.get(kind, ())
        if names and self.chance(0.8):
            return self.pick(names)
        if kind in ("float", "float16_t"):
            return f"{kind}({self.random.randint(-4, 4)})"
        constant = self.pick((0, 1, 2, 3, 7, 31, 0x55, self.random.getrandbits(7), self.random.getrandbits(7)))
        return f"{kind}({constant})"

    def expression(self, kind, depth=0):
        if depth > 3 or self.chance(0.15 + 0.15 * depth):
            return self.leaf(kind)
        if kind in ("float", "float16_t"):
            return self.whole_float(kind, depth + 1)
        make = self.pick((self.arithmetic, self.arithmetic, self.arithmetic, self.shift, self.compare, self.convert, self.function))
        return make(kind, depth + 1)

    def arithmetic(self, kind, depth):
        left, right = self.expression(kind, depth), self.expression(kind, depth)
        op = self.pick(("+", "-", "*", "&", "|", "^", "+", "*"))
        if self.chance(0.1):
            return f"{self.pick(('~', '-'))}({left})"
        if self.chance(0.08) and kind in ("uint", "uint16_t", "uint8_t", "uint64_t") and depth < 3:
            return f"(({left}) {self.pick(('/', '%'))} (({right}) | {kind}(1)))"
        return f"(({left}) {op} ({right}))"

    def shift(self, kind, depth):
        most = BITS[kind] - 1
        amount = f"{kind}({self.random.randint(0, most)})" if self.chance(0.5) else f"(({self.expression(kind, depth)}) & {kind}({most}))"
        return f"(({self.expression(kind, depth)}) {self.pick(('<<', '>>'))} {amount})"

    def condition(self, depth):
        kind = self.pick(("uint", "int", "uint", "int16_t", "uint8_t", "uint64_t"))
        text = f"({self.expression(kind, depth)}) {self.pick(('<', '<=', '>', '>=', '==', '!='))} ({self.expression(kind, depth)})"
        if depth < 3 and self.chance(0.2):
            return f"({text}) {self.pick(('&&', '||', '^^'))} ({self.condition(depth + 1)})"
        return text

    def compare(self, kind, depth):
        if kind not in VECTORS:
            return f"(({self.condition(depth)}) ? ({self.expression(kind, depth)}) : ({self.expression(kind, depth)}))"
        test = self.pick(("lessThan", "greaterThanEqual", "equal"))
        operands = [self.expression(kind, depth) for _ in range(4)]
        return f"mix({operands[0]}, {operands[1]}, {test}({operands[2]}, {operands[3]}))"

    def convert(self, kind, depth):
        if kind in VECTORS:
            scalar = kind[0] == "u" and "uint" or "int"
            part = f"{scalar}{VECTORS[kind]}_t"
            if self.chance(0.5):
                swizzle = "".join(self.pick("xyzw"[:32 // VECTORS[kind]]) for _ in range(32 // VECTORS[kind]))
                return f"({self.expression(kind, depth)}).{swizzle}"
            return f"{kind}({', '.join(f'{part}({self.expression(scalar, depth + 1)})' for _ in range(32 // VECTORS[kind]))})"
        if self.chance(0.2):
            vector = self.pick(list(VECTORS))
            return f"{kind}(({self.expression(vector, depth)}).{self.pick('xy')})"
        if self.chance(0.15) and kind in ("int", "uint"):
            return f"{kind}(int({self.expression(self.pick(('float', 'float16_t')), depth)}))"
        return f"{kind}({self.expression(self.pick(SCALARS), depth)})"

    def function(self, kind, depth):
        if kind == "uint" and self.chance(0.6):
            x = self.expression("uint", depth)
            return self.pick((f"uint(bitCount({x}))", f"uint(findMSB({x}))", f"uint(findLSB({x}))", f"bitfieldReverse({x})",
                              f"bitfieldExtract({x}, {self.random.randint(0, 20)}, {self.random.randint(1, 12)})",
                              f"bitfieldInsert({x}, {self.expression('uint', depth)}, {self.random.randint(0, 20)}, {self.random.randint(1, 12)})",
                              f"a[({x}) & 511u]"))
        if kind in ("int", "int16_t", "int8_t", "i8vec4", "i16vec2") and self.chance(0.3):
            return f"abs({self.expression(kind, depth)})"
        return f"{self.pick(('min', 'max'))}({self.expression(kind, depth)}, {self.expression(kind, depth)})"

    def whole_float(self, kind, depth):
        """Small whole numbers: a clamp keeps the values small before products and sums of them."""
        small = lambda: f"clamp({self.leaf(kind)}, {kind}(-15), {kind}(15))"
        form = self.random.randint(0, 5)
        if form == 0:
            return f"{kind}(int({self.expression('int', depth)}) & 15)"
        if form == 1:
            return f"({small()} * {small()} + {small()})"
        if form == 2:
            return f"fma({small()}, {small()}, {small()})"
        if form == 3:
            return f"({small()} {self.pick(('+', '-'))} {small()})"
        if form == 4:
            return f"(({self.leaf(kind)} {self.pick(('<', '>=', '=='))} {self.leaf(kind)}) ? {small()} : {small()})"
        return f"{self.pick(('min', 'max'))}({small()}, floor({small()}))"

    # ---- statements

    def declare(self):
        kind = self.pick(SCALARS + tuple(VECTORS) + ("float", "float16_t"))
        text, name = self.expression(kind), self.fresh("v")
        self.line(f"{kind} {name} = {text};")
        self.variables.setdefault(kind, []).append(name)

    def assign(self):
        kind = self.pick([kind for kind, names in self.variables.items() if names])
        name = self.pick(self.variables[kind])
        if name.startswith("n"):  # a loop's counter
            return
        self.line(f"{name} = {self.expression(kind)};")

    def block(self, level, uniform, count=None):
        """In braces: what is declared in it is gone after it."""
        kept = {kind: list(names) for kind, names in self.variables.items()}
        self.indent += 1
        for _ in range(count or self.random.randint(1, 3)):
            self.statement(level + 1, uniform)
        self.remember(kept)
        self.indent -= 1
        self.variables = kept

    def remember(self, kept=None):
        """Lets what was declared here (not in kept) change the sum, so that no statement is without effect."""
        self.line("sum = sum << 1 | sum >> 31;")
        for kind, names in self.variables.items():
            for name in names[len((kept or {}).get(kind, ())):]:
                value = {"float": f"int({name})", "float16_t": f"int({name})"}.get(kind, name)
                parts = range(32 // VECTORS[kind]) if kind in VECTORS else ()
                for text in [f"{name}.{'xyzw'[k]}" for k in parts] or [value]:
                    self.line(f"sum = sum * 31u + uint({text});")

    def branch(self, level, _):
        self.line(f"if ({self.condition(1)}) {{")
        self.block(level, False)
        if self.chance(0.5):
            self.line("} else {")
            self.block(level, False)
        self.line("}")

    def choice(self, level, _):
        count = self.random.randint(2, 4)
        self.line(f"switch (({self.expression('uint')}) % {count + 1}u) {{")
        loops, self.loops = self.loops, 0  # a break here ends the switch, and a continue is not wanted
        for case in range(count):
            self.line(f"case {case}u: {{")
            self.block(level, False)
            self.line("}")
            if self.chance(0.8):
                self.line("break;")
        self.line("default: {")
        self.block(level, False, 1)
        self.line("}")
        self.line("}")
        self.loops = loops

    def loop(self, level, _):
        name = self.fresh("n")
        bound = f"(({self.expression('uint')}) & {self.pick((3, 7, 15))}u)" if self.chance(0.8) else f"{self.random.randint(1, 6)}u"
        form = self.random.randint(0, 1)
        self.line(f"for (uint {name} = 0u, end{name} = {bound}; {name} < end{name}; {name}++) {{" if form == 0 else
                  f"for (uint {name} = {bound}; {name} != 0u; {name}--) {{")
        kept = {kind: list(names) for kind, names in self.variables.items()}
        self.variables.setdefault("uint", []).append(name)
        self.loops += 1
        self.block(level, False)
        self.loops -= 1
        self.line("}")
        self.variables = kept

    def leave(self, *_):
        if self.loops == 0:
            return self.assign()
        return self.line(f"if ({self.condition(1)})\n{'    ' * (self.indent + 1)}{self.pick(('break', 'continue', 'break'))};")

    def exchange(self, _, uniform):
        """Through workgroup memory, between barriers."""
        if not uniform:
            return self.assign()
        name, kind = self.fresh("v"), self.pick(("words", "halves", "longs"))
        value = {"words": "uint", "halves": "uint16_t", "longs": "uint64_t"}[kind]
        self.line("barrier();")
        self.line(f"{kind}[gl_LocalInvocationIndex] = {self.expression(value)};")
        self.line("barrier();")
        self.line(f"{value} {name} = {kind}[(gl_LocalInvocationIndex * {self.pick((1, 3, 5, 7))}u + {self.random.randint(0, 40)}u) % GROUP_SIZE];")
        return self.variables.setdefault(value, []).append(name)

    def count(self, *_):
        """Atomics whose order does not show: one operation a counter."""
        number = self.random.randint(0, 7)
        operation = ("atomicAdd", "atomicXor", "atomicMax", "atomicMin")[number % 4]
        self.line(f"{operation}(counters[{number}], {self.expression('uint')});")

    def stack(self, *_):
        """A private array with a computed index."""
        self.line(f"list[({self.expression('uint')}) & 15u] {self.pick(('=', '+=', '^='))} {self.expression('uint')};")
        name = self.fresh("v")
        self.line(f"uint {name} = list[({self.expression('uint')}) & 15u];")
        self.variables.setdefault("uint", []).append(name)

    def together(self, *_):
        """A subgroup operation among the lanes that are here."""
        name, x = self.fresh("v"), self.expression("uint")
        forms = ["subgroupBallot(({0}) > 9u).x", "subgroupBroadcastFirst({0})", "(subgroupElect() ? 1u : 0u)", "(subgroupAny(({0}) == 3u) ? 1u : 0u)",
                 "(subgroupAll(({0}) < 0x80000000u) ? 1u : 0u)", "subgroupBallotBitCount(subgroupBallot(({0}) < 77u))"]
        if self.subgroup:
            forms += ["subgroupAdd({0})", "subgroupMax({0})", "subgroupInclusiveAdd({0})", "subgroupExclusiveXor({0})", "subgroupShuffle({0}, subgroupBallotFindLSB(subgroupBallot(true)))"]
        self.line(f"uint {name} = {self.pick(forms).format(x)};")
        self.variables.setdefault("uint", []).append(name)

    def statement(self, level, uniform):
        forms = [self.declare] * 5 + [lambda: self.assign()] * 4
        deeper = [self.branch, self.branch, self.loop, self.loop, self.choice] if level < 4 else []
        others = deeper + [self.leave, self.exchange, self.count, self.stack] + [self.together] * (4 if self.subgroup else 1)
        if self.chance(0.55):
            self.pick(forms)()
        else:
            self.pick(others)(level, uniform)

    def main(self):
        self.line("uint x = a[thread() % 512u], lane = gl_LocalInvocationIndex;")
        self.line("int s = int(a[(thread() * 7u + 3u) % 512u]);")
        self.line("uint sum = 0u, list[16];")
        self.line("for (uint k = 0u; k < 16u; k++)")
        self.line("    list[k] = x * (k + 1u);")
        self.variables = {"uint": ["x", "lane"], "int": ["s"]}
        for kind in ("uint8_t", "int16_t", "u8vec4", "i16vec2", "float", "float16_t", "uint64_t"):
            name = self.fresh("v")
            self.line(f"{kind} {name} = {kind}({'x & 15u' if 'float' in kind else 'x'});")
            self.variables[kind] = [name]
        for _ in range(self.random.randint(8, 16)):
            self.statement(0, True)
        for word in range(WORDS - 2):
            self.line(f"put({word}, uint({self.expression('uint')}));")
        self.remember()
        self.line(f"put({WORDS - 2}, sum);")
        self.line(f"put({WORDS - 1}, {' + '.join(f'list[{k}] * {2 * k + 1}u' for k in range(16))});")
        return "\n".join(self.lines)


def text_of(seed, subgroup):
    writer = Writer(seeded("random", seed, subgroup), subgroup)
    extensions = "".join(f"#extension {name} : require\n" for name in EXTENSIONS)
    return f"""#version 460
{extensions}#define WORDS {WORDS}
#include "proof.glsl"
layout(set = 0, binding = 2, scalar) buffer Counters {{ uint counters[8]; }};
shared uint words[GROUP_SIZE];
shared uint16_t halves[GROUP_SIZE];
shared uint64_t longs[GROUP_SIZE];
void main() {{
{writer.main()}
}}
"""


class RandomJob(Dispatch):
    def __init__(self, seed, subgroup):
        super().__init__(f"random_{seed}{'_subgroup' if subgroup else ''}", None, WORDS, LOCALS[seed % len(LOCALS)], (3, 1, 1),
                         extra=((0, 2, "storage", 32, True, True),))
        self.seed, self.text = seed, text_of(seed, subgroup)

    def source(self):
        return self.text
