#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each shader of faults/ through the stock arm64 driver on the simulated Mali with the checker on: the finding that it
commits, and silence from its correct twin (-DRIGHT). Then the product of field fault 34 with forgotten cache
maintenance. Exit status: 0 all as it should be, 1 not.

Uninitialised registers have no shader: the compiler's code never reads one (undefined values of a program become
constants), so this kind stands in check_test alone.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]

# Kinds that must be found; the shader's twin must be silent.
FAULTS = {
    "uninitialised_shared": {"uninitialised-memory"},
    "uninitialised_stack": {"uninitialised-memory"},
    "uninitialised_buffer": {"uninitialised-memory"},
    "beyond_load": {"out-of-bounds"},
    "beyond_store": {"out-of-bounds"},
    "race_shared": {"race-shared"},
    "race_lanes": {"race-global"},
    "race_global": {"race-global"},
    "race_same": {"race-same-value"},
    "nan": {"nan"},
    "product": set(),
}
# Options of mx-fault, of mali-exec, and whether results must be wrong.
COHERENCY = (
    ((), ("--coherency",), False),
    (("--forget-flush",), ("--coherency",), True),
    (("--forget-invalidate",), ("--coherency",), True),
    (("--forget-flush", "--forget-invalidate"), (), False),
)


class Bench:
    def __init__(self, args, folder):
        self.args, self.folder = args, pathlib.Path(folder)

    def compile(self, name, right):
        path = self.folder / f"{name}{'-right' if right else ''}.spv"
        subprocess.run([self.args.glslang, "--quiet", "-V", "--target-env", "vulkan1.1", *(["-DRIGHT"] if right else []),
                        "-o", path, HERE / "faults" / f"{name}.comp"], check=True)
        return path

    def run(self, words, options):
        """What mx-fault printed, and mali-exec's report."""
        report = self.folder / "report.json"
        report.unlink(missing_ok=True)
        env = {**os.environ, "PANTHOR_SIM_EXEC": str(self.args.mali_exec), "PANTHOR_SIM_FLUSHES": "1" if "--coherency" in options
               else "0", "PANTHOR_SIM_EXEC_OPTIONS": " ".join(["--report", str(report), *options])}
        if self.args.panthor:
            env["ROCKFILL_SIM_PANTHOR"] = str(self.args.panthor)
        done = subprocess.run(["sh", ROOT / "sim" / "userland" / "run.sh", self.args.program, *words], env=env,
                              capture_output=True, text=True)
        if done.returncode != 0 or not report.exists():
            sys.exit(f"faults.py: error: {' '.join(map(str, words))}: status {done.returncode}: {done.stderr.strip()[-300:]}")
        return done.stdout, json.loads(report.read_text())

    def findings(self, name, right, wanted):
        _, report = self.run(["--coherent", self.compile(name, right)], ("--check", *self.args.options))
        found = {finding["kind"] for finding in report["findings"]}
        good = found == wanted and not report["faults"]
        print(f"  {'ok  ' if good else 'FAIL'} {name}{', right' if right else ''}: {', '.join(sorted(found)) or 'silent'}")
        for finding in report["findings"] if self.args.verbose or not good else ():
            print(f"         {finding['kind']}: {finding['assembly']}: {finding['text']}; {finding['count']} times, first workgroup "
                  f"{finding['workgroup']}, thread {finding['thread']}, address {finding['address']}")
        return good

    def coherency(self, words, options, wanted):
        text, _ = self.run([*words, self.compile("product", False)], options)
        wrong = int(text.split()[0])
        good = (wrong > 0) == wanted
        print(f"  {'ok  ' if good else 'FAIL'} {' '.join(['product', *words, *options])}: {text.strip()}")
        return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mali-exec", default=ROOT / "build" / "bin" / "mali-exec", type=pathlib.Path)
    parser.add_argument("--program", default=ROOT / "build" / "sim" / "arm64" / "bin" / "mx-fault", type=pathlib.Path)
    parser.add_argument("--panthor", type=pathlib.Path, help="the simulated kernel driver (default: run.sh's)")
    parser.add_argument("--glslang", default="glslangValidator")
    parser.add_argument("--options", default=[], type=str.split, help="more of mali-exec, for example '--threads 1'")
    parser.add_argument("--verbose", action="store_true", help="print the findings")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(args, folder)
        good = [bench.findings(name, right, set() if right else wanted) for name, wanted in FAULTS.items() for right in (False, True)]
        good += [bench.coherency(*row) for row in COHERENCY]
    print(f"{good.count(True)} passed, {good.count(False)} failed")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
