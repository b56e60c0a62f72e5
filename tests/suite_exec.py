# SPDX-License-Identifier: MIT
"""The Mali that computes: the stock arm64 driver's machine code, executed (sim/exec/)."""

import json
import re
import sys

import suite_sim
from harness import ROOT, Test, check

EXEC = ROOT / "sim" / "exec"


def own_test(name, least):
    """A unit test of sim/exec that ends in "N passed, N failed"."""
    def body(ctx):
        run = ctx.run([ctx.build.program(name)])
        counted = re.search(r"(\d+) passed, 0 failed", run.out)
        check(counted and int(counted.group(1)) >= least, f"it ended in: {run.out[-200:]}")

    return Test("exec-" + name.removesuffix("_test"), body, limit_s=300)


def executing(ctx, words, *options, **knobs):
    """An arm64 program on the Mali that executes, and mali-exec's report."""
    sim = suite_sim.prepared(ctx)
    report = ctx.scratch / "exec.json"
    report.unlink(missing_ok=True)
    env = sim.environment(PANTHOR_SIM_EXEC=ctx.build.program("mali-exec"),
                          PANTHOR_SIM_EXEC_OPTIONS=" ".join(["--report", str(report), *options]), **knobs)
    run = ctx.run(sim.command(*words), env=env)
    check(report.exists(), "mali-exec wrote no report")
    return run, json.loads(report.read_text())


def operators(name, cases, least, *options, **knobs):
    """Products of the library's kernels, right in every element; nothing faults."""
    def body(ctx):
        sim = suite_sim.prepared(ctx)
        filters = [word for case in cases for word in ("--filter", case)]
        run, report = executing(ctx, [sim.arm64 / "bin" / "rockfill-ops", "--library", sim.arm64 / "libggml-rockfill.so",
                                      "--quiet", "--min-cases", least, *filters], *options, **knobs)
        check(re.search(r"ops: \d+ passed, 0 failed", run.out), f"it ended in: {run.out[-200:]}")
        check(not report["faults"], f"it faulted: {report['faults'][:1]}")
        check(report["warp_instructions"] > 100000, f"only {report['warp_instructions']} instructions were executed")
        errors = [finding for finding in report.get("findings", []) if finding["error"]]
        check(not errors, f"the checker found: {errors[:1]}")
        ctx.log(json.dumps({key: value for key, value in report.items() if key != "kernels"}))

    return Test("exec-operators-" + name, body, limit_s=900)


def findings(ctx):
    """Each fault that the checker is for is found in a shader that commits it, and in no other."""
    sim = suite_sim.prepared(ctx)
    run = ctx.run([sys.executable, EXEC / "check" / "faults.py", "--mali-exec", ctx.build.program("mali-exec"), "--program",
                   sim.arm64 / "bin" / "mx-fault", "--panthor", sim.folder / "libpanthor-sim.so"], env=sim.environment())
    check(re.search(r"\d\d passed, 0 failed", run.out), f"it ended in: {run.out[-400:]}")


def proof(name, *options):
    """Small and random shaders: the simulated Mali's results against lavapipe's, and every operation executed."""
    def body(ctx):
        sim = suite_sim.prepared(ctx)
        run = ctx.run([sys.executable, EXEC / "proof" / "proof.py", "--native", ctx.build.program("mx-shade"), "--arm64",
                       sim.arm64 / "bin" / "mx-shade", "--mali-exec", ctx.build.program("mali-exec"), "--panthor",
                       sim.folder / "libpanthor-sim.so", *options], env=sim.environment(), expect=None)
        ctx.log(run.out[-8000:])
        check(run.status == 0, f"status {run.status}; it ended in: {run.out[-300:]} {run.err[-200:]}")

    return Test("exec-proof-" + name, body, limit_s=900)


def tests():
    few = ("types-q4_K", "types-q6_K", "types-f16", "fault-09-permuted-q4_0")
    return [own_test("float_test", 700000), own_test("check_test", 200), own_test("stream_test", 20), own_test("core_test", 10),
            own_test("count_test", 10),
            operators("int8", ("types-", "fault-0"), 150),
            operators("fp16", few, 10, GGML_ROCKFILL_PATH="fp16"),
            operators("fp32", few, 10, GGML_ROCKFILL_PATH="fp32"),
            # Neither the order of workgroups nor the rule by which lanes meet again may matter.
            operators("shuffled", few, 10, "--shuffle", "7", "--threads", "3"),
            operators("reconvergence", few, 10, "--reconvergence", "instructions", "--threads", "1"),
            operators("checked", few, 10, "--check"),
            Test("exec-findings", findings, limit_s=600), proof("shaders"),
            proof("random", "--only", "random", "--random", "20", "--no-count"),
            proof("orders", "--only", "random", "--random", "10", "--seed", "100", "--no-count", "--options",
                  "--shuffle 7 --reconvergence instructions")]
