#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Small shaders through the stock arm64 driver on the simulated Mali, which executes them, and on lavapipe: integers are
equal to the bit, floats within the error that tables.py tells for each expression. Then which operations of the shader
core were executed. Exit status: 0 all equal, 1 not, 2 the proof cannot be done here.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import compare
import dispatches
import generate
import tables
import values

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
LAVAPIPE = pathlib.Path("/usr/share/vulkan/icd.d")
DEVICES = ("lavapipe", "mali")
COMPILE = ("--quiet", "-V", "--target-env", "vulkan1.2")


class GroupJob:
    """A table's group as a dispatch: inputs at bindings 0-2, results from binding 8 on."""

    def __init__(self, group, seed):
        self.name, self.group = group.name, group
        self.columns = group.make(group.inputs, tables.ELEMENTS, values.seeded(seed, group.name))

    def source(self):
        return self.group.source()

    def line(self, folder, _):
        """Writes the inputs. Returns the words of mx-shade's list for the device, with {out} for the folder of results, and their files."""
        grid = (tables.ELEMENTS + tables.LOCAL_SIZE - 1) // tables.LOCAL_SIZE
        words, outs = [f"grid={grid},1,1"], []
        for k, (kind, column) in enumerate(zip(self.group.inputs, self.columns)):
            path = folder / f"{self.name}.{k}.in"
            path.write_bytes(values.pack(kind, column))
            words.append(f"storage=0:{k}:{path.stat().st_size}:{path}:-")
        for k, (kind, expressions) in enumerate(self.group.results().items()):
            outs.append(f"{self.name}.{k}.out")
            words.append(f"storage=0:{8 + k}:{values.size_bytes(kind) * tables.ELEMENTS * len(expressions)}:-:{{out}}/{outs[-1]}")
        return words, outs

    def compare(self, lavapipe, mali):
        return compare.compare_group(self.group, self.columns, lavapipe, mali)


class Bench:
    def __init__(self, args, folder):
        self.args, self.folder = args, pathlib.Path(folder)
        self.report = {}

    def compile(self, job):
        """The SPIR-V's path; None when it does not compile, which is said."""
        source, kernel = self.folder / f"{job.name}.comp", self.folder / f"{job.name}.spv"
        source.write_text(job.source())
        done = subprocess.run([self.args.glslang, *COMPILE, f"-I{HERE / 'shaders'}", "-o", kernel, source], capture_output=True, text=True)
        if done.returncode != 0:
            print(f"{job.name}: does not compile: {done.stdout.strip()[:400]}")
        return kernel if done.returncode == 0 else None

    def prepare(self, jobs):
        """Each device's lines of the list, and each job's files of results."""
        with ThreadPoolExecutor(2) as pool:
            kernels = list(pool.map(self.compile, jobs))
        lines, outs = {device: [] for device in DEVICES}, {}
        for job, kernel in zip(jobs, kernels):
            for device in DEVICES if kernel is not None else ():
                words, outs[job.name] = job.line(self.folder, device)
                lines[device].append(" ".join([job.name, str(kernel), *words]))
        return lines, outs

    def run(self, device, command, lines, env):
        """Each job's answer."""
        out = self.folder / device
        out.mkdir(exist_ok=True)
        path = self.folder / f"{device}.list"
        path.write_text("".join(line.replace("{out}", str(out)) + "\n" for line in lines))
        done = subprocess.run([*command, path], env={**os.environ, **env}, capture_output=True, text=True)
        if done.returncode != 0:
            print(f"proof.py: {device}: status {done.returncode}: {done.stderr.strip()[-600:]}", file=sys.stderr)
        return dict(line.split(" ", 1) for line in done.stdout.splitlines())

    def lavapipe(self, lines):
        driver = self.args.lavapipe or next(iter(sorted(LAVAPIPE.glob("lvp_icd*.json"))), None)
        if driver is None:
            sys.exit("proof.py: error: lavapipe is needed; deps/setup.sh --packages installs it")
        return self.run("lavapipe", [self.args.native], lines, {"VK_DRIVER_FILES": str(driver), "LP_NATIVE_VECTOR_WIDTH": "512",
                                                                "VK_LOADER_LAYERS_DISABLE": "*"})

    def mali(self, lines, device="mali", **more):
        report = self.folder / f"{device}.json"
        env = {"PANTHOR_SIM_EXEC": str(self.args.mali_exec), "PANTHOR_SIM_EXEC_OPTIONS": " ".join(["--report", str(report), *self.args.options]), **more}
        if self.args.panthor:
            env["ROCKFILL_SIM_PANTHOR"] = str(self.args.panthor)
        answers = self.run(device, ["sh", ROOT / "sim" / "userland" / "run.sh", "--variant", self.args.variant, self.args.arm64], lines, env)
        if device == "mali":
            self.report = json.loads(report.read_text()) if report.exists() else {}
        return answers

    def results(self, device, files):
        return [(self.folder / device / name).read_bytes() for name in files]


def table_row(name, elements, differences, worst, reference, answer=""):
    print(f"{name:34} {elements:>9} {differences:>11} {worst:>9} {reference:>9}  {answer}".rstrip())


def judge(job, bench, answers, outs):
    """Prints a job's row. Returns whether it is good."""
    said = {device: answers[device].get(job.name, "no answer") for device in DEVICES}
    bad = [f"{device}: {text}" for device, text in said.items() if text != "ok"]
    if bad:
        table_row(job.name, "-", "-", "-", "-", "; ".join(bad))
        return False
    result = job.compare(*(bench.results(device, outs[job.name]) for device in DEVICES))
    table_row(job.name, result.elements, result.differences, f"{result.worst:g}", result.reference, "" if result.differences == 0 else "DIFFERENT")
    for line in result.first[:bench.args.show]:
        print(f"    {line}")
    return result.differences == 0


def blame(jobs, bench, lines, outs):
    """Which of the jobs, all different, come out right when the driver's compiler leaves out its pressure scheduler: that one of
    Mesa 26.1.6 moves loads behind stores and barriers (shaders/late_load.comp)."""
    names = {job.name for job in jobs}
    again = [line for line in lines["mali"] if line.split(" ", 1)[0] in names]
    if not again:
        return []
    answers = bench.mali(again, "unscheduled", BIFROST_MESA_DEBUG="nopsched", MESA_SHADER_CACHE_DISABLE="true")
    right = [job for job in jobs if answers.get(job.name) == "ok" and
             job.compare(bench.results("lavapipe", outs[job.name]), bench.results("unscheduled", outs[job.name])).differences == 0]
    for job in right:
        print(f"{job.name}: the driver's fault: its compiler moves a load behind a store or a barrier; equal with BIFROST_MESA_DEBUG=nopsched")
    return right


def operation_names():
    """Of sim/exec/core/ops.h, as mali-exec names them, in its order: the C preprocessor knows best."""
    text = f'#include "{HERE.parent / "core" / "ops.h"}"\n#define ROW(id, opcode, shift, mask, value, printed, ...) ROW printed END\nMX_OPS(ROW)\n'
    done = subprocess.run(["cc", "-E", "-P", "-"], input=text, capture_output=True, text=True, check=True)
    rows = re.findall(r"ROW ((?:\"[^\"]*\"\s*)+)END", done.stdout)
    return list(dict.fromkeys("".join(re.findall(r"\"([^\"]*)\"", row)) for row in rows))


# What no shader made the stock compiler emit: 261 were looked at, 190 of them llama.cpp's. Anything else has to be executed.
NOT_EMITTED = re.compile(r"""ATOM | [LR]ROT_.* | HADD\..* | ICMP_MULTI\..* | A?RSHIFT_(AND|XOR)\..* | .*SHIFT_.*\.i64 | IMUL\.(s32|v2s16|v4s8) |
    I(ADD|SUB)\.[us]64 | SHADDX\.u64 | ICMP_AND\.v.* | ISUB\.(v2u16|v4u8) | CLZ\.v.* | FREXP[ME]\.v2f16 | MUX\.i32 | FCMP_AND\.v2f16 | CSEL\.(f32|v2f16)""",
                         re.VERBOSE)


def coverage(bench):
    """Prints what was executed and what not. Returns whether all was that the compiler emits."""
    executed = bench.report.get("operations")
    if executed is None:
        print("coverage: mali-exec counts no operations; it needs --count")
        return False
    known = operation_names()
    never = [name for name in known if not executed.get(name)]
    missing = [name for name in never if not NOT_EMITTED.fullmatch(name)]
    print(f"coverage: {len(known) - len(never)} of {len(known)} operations executed; {len(never) - len(missing)} are never emitted, as far as is known; "
          f"missing: {', '.join(missing) or 'none'}")
    if bench.args.verbose:
        print(f"    never: {', '.join(never)}")
        for name in sorted(executed, key=executed.get):
            print(f"    {name:20} {executed[name]:>12}")
    return not missing


def jobs_of(args):
    jobs = [GroupJob(group, args.seed) for group in tables.all_groups()] + dispatches.all_jobs(args.seed)
    jobs += [generate.RandomJob(args.seed + n, args.subgroup) for n in range(args.random)]
    jobs = [job for job in jobs if not args.only or any(only in job.name for only in args.only)]
    return [job for job in jobs if not args.subgroup or "subgroup" in job.name or "random" in job.name]


def options_add(parser):
    """Where programs are, and what they are told: also faults.py's."""
    parser.add_argument("--options", default=[], type=str.split, help="of mali-exec, for example '--shuffle 7'")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for shaders, inputs and results (default: a temporary one)")
    parser.add_argument("--native", default=ROOT / "build" / "bin" / "mx-shade", type=pathlib.Path, help="mx-shade of this machine")
    parser.add_argument("--arm64", default=ROOT / "build" / "sim" / "arm64" / "bin" / "mx-shade", type=pathlib.Path, help="mx-shade for arm64")
    parser.add_argument("--mali-exec", default=ROOT / "build" / "bin" / "mali-exec", type=pathlib.Path)
    parser.add_argument("--panthor", type=pathlib.Path, help="the simulated kernel driver (default: run.sh's)")
    parser.add_argument("--variant", default="backports", help="of the arm64 userland, that is, the driver: see sim/userland/run.sh")
    parser.add_argument("--glslang", default="glslangValidator")


def can_run(args):
    missing = [path for path in (args.native, args.arm64, args.mali_exec) if not path.exists()]
    for path in missing:
        print(f"proof.py: error: there is no {path}: build it", file=sys.stderr)
    if args.keep:
        args.keep.mkdir(parents=True, exist_ok=True)
        args.keep = args.keep.resolve()
    return not missing


def options_read():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options_add(parser)
    parser.add_argument("--random", type=int, default=0, metavar="N", help="also N random shaders")
    parser.add_argument("--seed", type=int, default=1, help="of the first random shader, and of random inputs")
    parser.add_argument("--only", action="append", metavar="NAME", help="shaders whose names contain this; may be repeated")
    parser.add_argument("--subgroup", action="store_true", help="subgroup operations only; random shaders get more of them")
    parser.add_argument("--show", type=int, default=6, help="differences to print for each shader")
    parser.add_argument("--no-count", action="store_true", help="no coverage: operations are executed without being counted")
    parser.add_argument("--lavapipe", type=pathlib.Path, help="its ICD file")
    parser.add_argument("--verbose", action="store_true", help="print how often each operation was executed")
    args = parser.parse_args()
    args.no_count |= "--check" in args.options  # mali-exec does one or the other
    args.options += [] if args.no_count else ["--count"]
    return args


def prove(args, folder):
    bench, jobs = Bench(args, folder), jobs_of(args)
    lines, outs = bench.prepare(jobs)
    with ThreadPoolExecutor(2) as pool:
        answers = dict(zip(DEVICES, pool.map(lambda device: getattr(bench, device)(lines[device]), DEVICES)))
    table_row("shader", "elements", "differences", "worst ulp", "reference")
    bad = [job for job in jobs if job.name not in outs or not judge(job, bench, answers, outs)]
    excused = blame(bad, bench, lines, outs)
    good = [job not in bad or job in excused for job in jobs]
    for fault in bench.report.get("faults", ()):
        print(f"fault: {fault['kind']}, kernel {fault['kernel']}, instruction at {fault['pc']}: {fault['text']}")
    if not args.no_count:
        covered = coverage(bench)
        good += [] if args.only or args.subgroup else [covered]
    print(f"{good.count(True)} passed, {good.count(False)} failed")
    return all(good) and len(good) > 0


def main():
    args = options_read()
    if not can_run(args):
        return 2
    with tempfile.TemporaryDirectory() as folder:
        return 0 if prove(args, args.keep or folder) else 1


if __name__ == "__main__":
    sys.exit(main())
