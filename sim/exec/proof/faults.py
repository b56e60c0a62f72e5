#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Shaders that a chip would stop at, through the stock arm64 driver on the simulated Mali: each must end in the fault that
it commits, as the driver's lost device and in mali-exec's report, and the one after it must run again. What a chip would
not stop at is in ../check/faults. Exit status: 0 all as it should be, 1 not, 2 it cannot be tried here.
"""
import argparse
import struct
import sys
import tempfile

import proof

# Name, shader, macro, the report's kind, words of the assembly at which it stops.
FAULTS = (
    ("load_unmapped", "address", None, "translation", "LOAD"),
    ("store_unmapped", "address", "STORE", "translation", "STORE"),
    ("load_odd", "address", "ODD", "translation", "LOAD"),
    ("endless", "endless", None, "endless", ""),
)
LOST = "VkResult -4"
WARP_LIMIT = 200000


class FaultJob:
    def __init__(self, name, shader, macro, kind, stops_at):
        self.name, self.shader, self.macro, self.kind, self.stops_at = name, shader, macro, kind, stops_at

    def source(self):
        text = (proof.HERE / "faults" / f"{self.shader}.comp").read_text()
        return text.replace("#version 460\n", f"#version 460\n#define {self.macro}\n") if self.macro else text

    def line(self, folder, _):
        words = folder / "words.in"
        words.write_bytes(struct.pack("<65I", *range(65)))
        return [f"storage=0:1:260:-:{{out}}/{self.name}.out", f"address=0:0:260:{words}:-", "push=8:-"], [f"{self.name}.out"]


class RightJob(FaultJob):
    """No fault: the thread with the wrong address does not exist."""

    def source(self):
        return super().source().replace("t == 37", "t == 64")


def judge(job, said, fault):
    if job.kind is None:
        good, what = said == "ok", said
    else:
        good = said.startswith(LOST) and fault["kind"] == job.kind and job.stops_at in fault["text"]
        what = f"{said.split(':')[0]}, {fault['kind']}: {fault['text']}"
    print(f"  {'ok  ' if good else 'FAIL'} {job.name}: {what}")
    return good


def prove(args, folder):
    bench = proof.Bench(args, folder)
    jobs = []
    for row in FAULTS:
        jobs += [FaultJob(*row), RightJob(f"after_{row[0]}", "address", None, None, "")]
    lines, _ = bench.prepare(jobs)
    answers = bench.mali(lines["mali"])
    faults = iter(bench.report.get("faults", ()))
    none = {"kind": "none", "text": "there is no report of it"}
    good = [judge(job, answers.get(job.name, "no answer"), next(faults, none) if job.kind else None) for job in jobs]
    good.append(next(faults, None) is None)
    print(f"{good.count(True)} passed, {good.count(False)} failed")
    return all(good)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    proof.options_add(parser)
    args = parser.parse_args()
    args.options += ["--warp-limit", str(WARP_LIMIT)]
    if not proof.can_run(args):
        return 2
    with tempfile.TemporaryDirectory() as folder:
        return 0 if prove(args, args.keep or folder) else 1


if __name__ == "__main__":
    sys.exit(main())
