#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make sim-run: what the stock driver's machine code computes, executed instruction by instruction.

Small models answer a prompt through the stock arm64 llama.cpp and rockfill on the simulated Mali, and on the CPU alone;
upstream's test-backend-ops runs on it with the checker on, with rockfill and with llama.cpp's own Vulkan backend. Prints
the tables and writes build/results/run.json. Results are computed; speeds are modelled (docs/speed-model.md).
"""
import argparse
import json
import pathlib
import re
import subprocess
import tempfile
import time

import sim as simulation
from sim import ROOT, Sim, SimError, record

import backend_ops

VARIANT = "backports"
MODELS = ("smollm2-135m-instruct-q4_1", "gemma-3-270m-q4_k_m")
OPS = ("MUL_MAT", "MUL_MAT_ID")
STOCK_TYPES = ("q4_0", "q4_K", "q6_K", "q8_0", "f16", "f32")
STOCK_CASES = rf"^type_a=({'|'.join(STOCK_TYPES)}),type_b=f32,m=16,n=\d+,k=256,bs=\[1,1\]"
# Not these: an emulated CPU needs minutes for the reference of each.
LARGE = "m=4096,"


class Machine:
    """The simulated Mali that executes: runs arm64 programs, and reads what was counted and found."""

    def __init__(self, build, variant, options=()):
        self.sim = Sim(build, variant)
        self.build, self.options = build, options

    def run(self, words, limit_s, **knobs):
        """The ended program, mali-exec's reports (one a process that opened the device), and the seconds it took."""
        with tempfile.TemporaryDirectory(dir=self.sim.folder) as folder:
            options = " ".join([*self.options, "--report", f"{folder}/%p.json"])
            env = self.sim.environment(PANTHOR_SIM_EXEC=self.build / "bin" / "mali-exec", PANTHOR_SIM_EXEC_OPTIONS=options,
                                       **knobs)
            start = time.monotonic()
            try:
                done = subprocess.run(self.sim.command(*words), env=env, capture_output=True, text=True, errors="replace",
                                      timeout=limit_s)
            except subprocess.TimeoutExpired:
                raise SimError(f"{' '.join(map(str, words))} ran for more than {limit_s} s") from None
            seconds = time.monotonic() - start
            reports = [json.loads(path.read_text()) for path in sorted(pathlib.Path(folder).glob("*.json"))]
        return done, [report for report in reports if report["jobs"] > 0], seconds


def answer(machine, model, tokens, limit_s):
    """A runs[] entry: the model's answer with rockfill on the simulated Mali against the CPU's."""
    with tempfile.TemporaryDirectory(dir=machine.sim.folder) as folder:
        out = pathlib.Path(folder) / "demo.json"
        done, reports, seconds = machine.run(
            [machine.sim.arm64 / "bin" / "rockfill-demo", "--library", machine.sim.arm64 / "libggml-rockfill.so", "--prompt",
             ROOT / "bench" / "prompt.txt", "--threads", 2, "--repetitions", 0, "--tokens", tokens, "--out", out,
             ROOT / "build" / "deps" / "models" / f"{model}.gguf"], limit_s, GGML_BACKEND_PATH=None)
        if not out.exists() or len(reports) != 1:
            raise SimError(f"{model}: status {done.returncode}, {len(reports)} reports; {done.stderr[-500:]}")
        run = json.loads(out.read_text())["runs"][0]
    report = reports[0]
    return {"model": run["model"], "device": run["device"], "prompt_tokens": run["prompt_tokens"],
            "new_tokens": run["new_tokens"], "tokens_equal": run["tokens_equal"],
            "first_difference": run["first_difference"], "warp_instructions": report["warp_instructions"],
            "jobs": report["jobs"], "seconds": round(seconds, 1), "gpu_seconds": report["busy_s"],
            "failed_over": "out of use" in done.stderr, "faults": report["faults"], "kernels": report.get("kernels", [])}


def cases(machine, program, backend, op, pattern, limit_s, **knobs):
    """One operator through test-backend-ops: cases claimed, passed, the failures and the checker's findings."""
    words = [program, "test", "-b", backend, "-o", op, *(["-p", pattern] if pattern else [])]
    done, reports, seconds = machine.run(words, limit_s, **knobs)
    claimed, failed = backend_ops.read(done.stdout, op)
    ended = backend_ops.summary(done.stdout)
    complaints = [line for line in done.stderr.splitlines() if line.startswith("rockfill: ")]
    return {"claimed": len(claimed), "passed": len(claimed) - len(failed), "failed": failed[:20], "ended": ended is not None,
            "complaints": complaints[:5], "seconds": round(seconds, 1),
            "warp_instructions": sum(report["warp_instructions"] for report in reports),
            "findings": [finding for report in reports for finding in report.get("findings", [])],
            "faults": [fault for report in reports for fault in report["faults"]]}


def print_cases(name, op, result):
    print(f"  {name} {op}: {result['passed']} of {result['claimed']} claimed cases passed, {len(result['findings'])} findings, "
          f"{len(result['faults'])} faults, {result['seconds']:.0f} s{'' if result['ended'] else '; it did not get to its end'}",
          flush=True)
    for line in [*result["failed"][:5], *result["complaints"]]:
        print(f"    {line[:160]}")
    for finding in result["findings"][:5]:
        print(f"    {finding['kind']}: kernel {finding['kernel']}: {finding.get('text', '')[:120]}")


def run_models(build, args, result):
    machine = Machine(build, VARIANT, ("--count",))
    result["runs"] = []
    for model in MODELS:
        entry = answer(machine, model, args.tokens, 3600)
        result["runs"].append(entry)
        print(f"  {model}: {entry['prompt_tokens']} tokens read, {entry['new_tokens']} answered, "
              f"{'equal to' if entry['tokens_equal'] else 'DIFFERENT from'} the CPU's; {entry['warp_instructions'] / 1e6:.0f} "
              f"million warp instructions, GPU {entry['gpu_seconds']:.1f} s of {entry['seconds']:.0f} s, "
              f"{len(entry['faults'])} faults", flush=True)


def run_ops(build, args, result):
    machine = Machine(build, VARIANT, ("--check",))
    program = machine.sim.llama / "bin" / "test-backend-ops"
    for op in OPS:
        entry = cases(machine, program, "ROCKFILL0", op, f"^(?!.*{LARGE})", 3600, GGML_ROCKFILL_MIN_BATCH=1)
        result["backend_ops"].setdefault("rockfill", {})[op] = entry
        print_cases("rockfill", op, entry)


def run_stock(build, args, result):
    machine = Machine(build, "rival", ("--check",))
    program = machine.sim.root / "usr" / "libexec" / "aarch64-linux-gnu" / "llama.cpp-tests" / "test-backend-ops"
    entry = cases(machine, program, "Vulkan0", "MUL_MAT", STOCK_CASES, 3600, **simulation.STOCK)
    result["backend_ops"].setdefault("stock", {})["MUL_MAT"] = entry
    print_cases("stock", "MUL_MAT", entry)


PARTS = {"models": run_models, "ops": run_ops, "stock": run_stock}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", type=pathlib.Path, help="build folder (default: build)")
    parser.add_argument("--only", default=",".join(PARTS), help=f"of {', '.join(PARTS)} (default: all); what is left out keeps "
                        "its place in run.json")
    parser.add_argument("--tokens", default=16, type=int, help="of each answer, at most 64 (default: 16)")
    return parser.parse_args()


def main():
    args = arguments()
    build = args.build.resolve()
    parts = args.only.split(",")
    if unknown := set(parts) - set(PARTS):
        raise SimError(f"--only {','.join(sorted(unknown))}: the parts are {', '.join(PARTS)}")
    simulation.setup(build, [VARIANT, *(["rival"] if "stock" in parts else [])])
    path = build / "results" / "run.json"
    result = json.loads(path.read_text()) if path.exists() else {"backend_ops": {}}
    result.update(record.header(), driver=Sim(build, VARIANT).versions()["mesa"])
    for part in parts:
        print(f"{part}:", flush=True)
        PARTS[part](build, args, result)
        simulation.store(path, result)
    print(path)


if __name__ == "__main__":
    simulation.run_program(main)
