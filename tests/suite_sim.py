# SPDX-License-Identifier: MIT
"""The simulated Mali: the stock arm64 driver and compiler over a simulated kernel driver (sim/)."""

import json
import re
import sys
import threading

from harness import ROOT, Skipped, Test, check

sys.path.insert(0, str(ROOT / "sim"))
import sim as sim_run  # noqa: E402

VARIANT = "backports"
LOCK = threading.Lock()
READY = []  # the outcome of the set-up: a Sim, or why there is none


def prepared(ctx):
    """Userland, cross build and simulator, made once; skips where they cannot be had."""
    with LOCK:
        if not READY:
            try:
                sim_run.setup(ctx.build.folder, [VARIANT])
                READY.append(sim_run.Sim(ctx.build.folder, VARIANT))
            except sim_run.Impossible as error:
                READY.append(str(error))
    if isinstance(READY[0], str):
        raise Skipped(READY[0])
    return READY[0]


def no_network(ctx):
    """The set-up says what it could not get, leaves nothing half made, and has a status of its own for it."""
    env = {**ctx.environment(), "ROCKFILL_CACHE": str(ctx.scratch), "ROCKFILL_DEBIAN_MIRROR": "http://127.0.0.1:9/debian"}
    run = ctx.run(["sh", ROOT / "sim" / "userland" / "setup.sh"], env=env, expect=(3,))
    check("sim: cannot be had here" in run.err and run.out == "", "it does not say so")
    left = [path.name for path in (ctx.scratch / "sim").iterdir() if path.name != ".lock"]
    check(not left, f"left behind: {left}")
    ctx.run(["sh", ROOT / "sim" / "userland" / "setup.sh", "--variant", "sarge"], env=env, expect=(1,))


def speed_model(ctx):
    ctx.run([ctx.build.program("sim_model_test"), ctx.build.program("sim-model"), ROOT / "sim" / "model" / "fixtures"])


def catalogue(ctx):
    """Every kernel is in it, and none that the library lacks."""
    lines = ctx.run([ctx.build.program("rockfill-catalogue")]).out.splitlines()
    modules = {line.split()[1] for line in lines}
    built = {path.name.removesuffix(".spv.h") for path in (ctx.build.folder / "spirv").glob("*.spv.h")}
    check(modules == built, f"not in both: {sorted(modules ^ built)}")
    check(len({line.split()[0] for line in lines}) == len(lines), "a name comes twice")
    ctx.run([ctx.build.program("rockfill-catalogue"), "--subgroup", "x"], expect=(2,))


def panthor(ctx):
    """The simulated kernel driver's own unit test, on this machine."""
    sim = prepared(ctx)
    folder = sim.folder / "panthor-test"
    ctx.run(["cmake", "-S", ROOT / "sim" / "panthor", "-B", folder, f"-DPANTHOR_SIM_ROOT={sim.root}"])
    ctx.run(["cmake", "--build", folder])
    run = ctx.run([folder / "panthor_sim_test"])
    check(re.search(r"\b\d\d+ passed, 0 failed", run.out), f"it ended in: {run.out[-200:]}")


def compiles(ctx):
    """No pipeline spills, has a stack or uses workgroup memory: panvk then needs no scratch memory."""
    sim = prepared(ctx)
    rows = sim_run.compile_kernels(sim)
    ctx.log(json.dumps(rows))
    check(len(rows) > 90, f"only {len(rows)} pipelines")
    for row in rows:
        check("error" not in row, f"{row['name']}: {row.get('error')}")
        check(row["spills"] == row["fills"] == row["stack_bytes"] == row["stack_accesses"] == 0, f"{row['name']} spills")
        check(not row["uses_shared"], f"{row['name']} uses workgroup memory")
        check(not row["unknown_instructions"], f"{row['name']}: unknown instructions {row['unknown_instructions']}")


def arm64_unit(ctx):
    """The library's own unit test as it runs on the board: cross-built, over the stock driver."""
    sim = prepared(ctx)
    run = ctx.run(sim.command(sim.arm64 / "bin" / "rockfill-unit"), env=sim.environment(GGML_ROCKFILL_DEBUG=2))
    check(re.search(r"\b\d\d passed, 0 failed", run.out), f"it ended in: {run.out[-200:]}")


def prefill(ctx, **knobs):
    sim = prepared(ctx)
    graph, done = sim.prefill("100m", 64, 64, limit_s=300, **knobs)
    ctx.log(json.dumps(graph))
    ctx.log(done.stderr[-6000:])
    lines = [line for line in done.stderr.splitlines() if line.startswith("rockfill: ")]
    return graph, done, lines


def small_prefill(ctx):
    graph, _, lines = prefill(ctx)
    check(not graph["oom"] and graph["used"], f"the prefill did not end on the device: {lines[-2:]}")
    check(graph["submissions"] > 12, f"{graph['submissions']} submissions for 12 layers")
    check(graph["peak_scratch_mib"] < 64, f"{graph['peak_scratch_mib']} MiB of scratch heap")


def ends_well(name, said, **knobs):
    def body(ctx):
        _, done, lines = prefill(ctx, **knobs)
        check(done.returncode == 0, f"llama-bench ended with status {done.returncode}")
        check(any(re.search(said, line) for line in lines), f'no line says "{said}": {lines[-3:]}')

    return Test(name, body, limit_s=420)


def tests():
    first = sim_run.DEVICE_SUBMISSIONS + 4
    return [Test("sim-no-network", no_network), Test("sim-speed-model", speed_model), Test("sim-catalogue", catalogue),
            Test("sim-panthor", panthor, limit_s=1200), Test("sim-pipelines", compiles, limit_s=1200), Test("sim-arm64-unit", arm64_unit, limit_s=600),
            Test("sim-prefill", small_prefill, limit_s=1200),
            ends_well("sim-allocation-fails", "host memory", PANTHOR_SIM_BO_LIMIT_MIB=48),
            ends_well("sim-lost-device", "out of use from here on", PANTHOR_SIM_LOSE_AT=first),
            ends_well("sim-hung-job", "out of use from here on", PANTHOR_SIM_HANG_AT=first,
                      PANTHOR_SIM_JOB_TIMEOUT_MS=1000)]
