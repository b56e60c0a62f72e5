# SPDX-License-Identifier: MIT
"""The shaders of shaders/ as dispatches: workgroup sizes, grids, buffers; and expected values where lavapipe has none."""
import pathlib
import struct

import compare
from values import seeded

HERE = pathlib.Path(__file__).resolve().parent
INPUT_WORDS = 512
SUBGROUP = 16



def random_words(count, *seed):
    source = seeded(*seed)
    return [source.getrandbits(32) for _ in range(count)]


class Dispatch:
    """One shader of shaders/ with a workgroup size and a grid. extra: (set, binding, kind, bytes, filled, kept) of further
    buffers; push: words, in which an address buffer's place is left 0; spec: {id: value}; want: expected words of the first
    buffer, made from the job."""

    def __init__(self, name, shader, words, local=(64, 1, 1), grid=(4, 1, 1), extra=(), push=None, push_bytes=0, spec=None, flags=(),
                 define="", want=None):
        self.name, self.shader, self.words, self.local, self.grid = name, shader, words, local, grid
        self.extra, self.push, self.push_bytes, self.spec, self.flags, self.define, self.want = extra, push, push_bytes, spec or {}, flags, define, want
        self.seed = 0

    def seeded(self, seed):
        self.seed = seed
        return self

    def threads(self):
        total = 1
        for k in range(3):
            total *= self.local[k] * self.grid[k]
        return total

    def input(self):
        return random_words(INPUT_WORDS, self.seed, self.name)

    def source(self):
        text = (HERE / "shaders" / f"{self.shader}.comp").read_text()
        return text.replace("#version 460\n", f"#version 460\n{self.define}\n") if self.define else text

    def write(self, folder, tag, words):
        path = folder / f"{self.name}.{tag}.in"
        path.write_bytes(struct.pack(f"<{len(words)}I", *words))
        return path

    def line(self, folder, device):
        # lavapipe's subgroups do not go on from one row of threads to the next: it gets them in one row.
        flat = device == "lavapipe" and self.name.startswith("subgroup")
        local = (self.local[0] * self.local[1] * self.local[2], 1, 1) if flat else self.local
        outs = [f"{self.name}.0.out"]
        words = [f"grid={','.join(map(str, self.grid))}", *self.flags]
        words += [f"spec={k}:{size}" for k, size in enumerate(local)] + [f"spec={k}:{v}" for k, v in self.spec.items()]
        words += [f"storage=0:0:{4 * INPUT_WORDS}:{self.write(folder, 'a', self.input())}:-",
                  f"storage=0:1:{4 * self.words * self.threads()}:-:{{out}}/{outs[0]}"]
        if self.push_bytes:
            path = self.write(folder, "push", self.push or random_words(self.push_bytes // 4, self.seed, self.name, "push"))
            words.append(f"push={self.push_bytes}:{path}")
        for n, (group, binding, kind, size, filled, kept) in enumerate(self.extra):
            if kind == "null":
                words.append(f"null={group}:{binding}")
                continue
            path = self.write(folder, f"b{n}", random_words(size // 4, self.seed, self.name, n)) if filled else "-"
            if kept:
                outs.append(f"{self.name}.{n + 1}.out")
            words.append(f"{kind}={group}:{binding}:{size}:{path}:{'{out}/' + outs[-1] if kept else '-'}")
        return words, outs

    def compare(self, lavapipe, mali):
        want = [self.want(self)] + [None] * (len(mali) - 1) if self.want else None
        return compare.compare_words(lavapipe, mali, want)


# ---- expected values

def ids(job):
    """lavapipe 22.3 rounds the number of subgroups down, and starts new ones in each row of threads."""
    expected, words, size = [], job.input(), job.local[0] * job.local[1] * job.local[2]
    split = lambda index, shape: [index % shape[0], index // shape[0] % shape[1], index // shape[0] // shape[1]]
    for thread in range(job.threads()):
        group, local, index = split(thread // size, job.grid), split(thread % size, job.local), thread % size
        lane = index % SUBGROUP
        expected += [*job.grid, *group, *local, *(group[k] * job.local[k] + local[k] for k in range(3)), index, index // SUBGROUP,
                     -(-size // SUBGROUP), SUBGROUP, lane, 1 << lane, 0xffff << lane & 0xffff, 0xfffe << lane & 0xffff, (2 << lane) - 1,
                     (1 << lane) - 1, words[thread % 64], job.local[0] * 10000 + job.local[1] * 100 + job.local[2]]
    return expected


def clustered(job):
    """lavapipe 22.3 does not know clusters."""
    word = 0xffffffff
    signed = lambda v: v - (1 << 32) if v >> 31 else v
    rows = ((2, lambda p, q: p + q), (4, lambda p, q: p + q), (8, lambda p, q: p + q), (16, lambda p, q: p + q), (4, max),
            (8, lambda p, q: p ^ q), (2, lambda p, q: min(p, q, key=signed)), (4, lambda p, q: p * q))
    words, expected = job.input(), []
    for thread in range(job.threads()):
        for size, combine in rows:
            first = thread - thread % size
            values = [words[k % INPUT_WORDS] for k in range(first, first + size)]
            total = values[0]
            for value in values[1:]:
                total = combine(total, value) & word
            expected.append(total)
    return expected


# ---- the table

LOCALS = ((1, 1, 1), (16, 1, 1), (7, 3, 2), (33, 1, 1), (64, 1, 1), (8, 8, 4), (1024, 1, 1))


def tag(size):
    return "x".join(map(str, size))


def plain():
    for local in LOCALS:
        yield Dispatch(f"ids_{tag(local)}", "ids", 24, local, (3, 2, 2) if local[0] < 1024 else (2, 1, 1), want=ids)
        yield Dispatch(f"flow_{tag(local)}", "flow", 5, local)
        yield Dispatch(f"shared_{tag(local)}", "shared", 8, local, (3, 1, 1))
    for live in (62, 63): # a stack of 4 bytes, and one of some more
        yield Dispatch(f"spill_{live}", "spill", 1, (40, 1, 1), (5, 1, 1), define=f"#define LIVE {live}")
    for name, words in (("stack", 6), ("spill", 1), ("large", 1)):
        yield Dispatch(name, name, words, (40, 1, 1), (13, 3, 2) if name == "large" else (5, 1, 1))
    yield Dispatch("shared_atomics", "shared_atomics", 14, (100, 1, 1))
    yield Dispatch("clock", "clock", 2)
    yield Dispatch("late_load", "late_load", 2, (16, 1, 1), (3, 1, 1))


def bound():
    threads = 4 * 64
    yield Dispatch("indirect", "ids", 24, (20, 1, 1), (3, 2, 1), flags=("indirect",), want=ids)
    yield Dispatch("base", "base", 8, (4, 2, 1), (3, 2, 1), flags=("base=5,3,9",), push=[5, 3, 9], push_bytes=12)
    yield Dispatch("atomics", "atomics", 34, extra=((0, 2, "storage", 4 * threads, True, True), (0, 3, "storage", 8 * threads, True, True),
                                                   (0, 4, "storage", 128, True, True)))
    yield Dispatch("constants", "constants", 8, extra=((0, 2, "uniform", 640, True, False),), push_bytes=112, spec={3: 77, 4: 1, 5: 0x3fa00000})
    yield Dispatch("memory", "memory", 1, (40, 1, 1), (4, 1, 1), extra=((0, 2, "storage", 2048, True, False), (0, 3, "storage", 160, False, True),
                   (0, 4, "storage", 320, False, True), (0, 5, "storage", 1280, False, True), (0, 6, "storage", 1920, False, True),
                   (0, 7, "storage", 2560, False, True), (0, 8, "storage", 160 * 48, False, True)))
    yield Dispatch("reference", "reference", 4, extra=((0, 0, "address", 2052, True, False), (0, 8, "address", 16 * threads, False, True)), push=[0] * 4, push_bytes=16)
    yield Dispatch("robust", "robust", 6, (32, 1, 1), (2, 1, 1), flags=("robust",), extra=((0, 2, "storage", 240, True, True), (0, 3, "null", 0, False, False),
                                                                                          (0, 4, "storage", 64, True, False)))
    yield Dispatch("sets", "sets", 3, extra=((1, 0, "storage", 256, True, False), (1, 3, "storage", 128, True, False), (2, 5, "uniform", 64, True, False),
                                             (3, 1, "storage", 4 * threads, False, True)))


def subgroups():
    whole, part = ((16, 1, 1), (64, 1, 1), (8, 4, 2)), ((5, 1, 1), (7, 3, 1), (40, 1, 1)) # part: the last warp has fewer lanes
    for local in whole + part:
        yield Dispatch(f"subgroup_votes_{tag(local)}", "subgroup_votes", 20, local)
        yield Dispatch(f"subgroup_divergent_{tag(local)}", "subgroup_divergent", 8, local)
    for local in whole:
        yield Dispatch(f"subgroup_shuffle_{tag(local)}", "subgroup_shuffle", 16, local)
        yield Dispatch(f"subgroup_clustered_{tag(local)}", "subgroup_clustered", 8, local, want=clustered)
    for local in (whole[1], part[1]):
        yield Dispatch(f"subgroup_float_{tag(local)}", "subgroup_float", 18, local)
        yield Dispatch(f"subgroup_uint_{tag(local)}", "subgroup_arithmetic", 21, local, define="#define KIND uint")
    for kind in ("int", "uint8_t", "int8_t", "uint16_t", "int16_t", "uint64_t", "int64_t"): # each operation takes the compiler long
        yield Dispatch(f"subgroup_{kind}", "subgroup_arithmetic", 21, whole[1], define=f"#define KIND {kind}\n#define FEW")


def all_jobs(seed):
    return [job.seeded(seed) for part in (plain, bound, subgroups) for job in part()]
