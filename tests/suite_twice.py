# SPDX-License-Identifier: MIT
"""Weights that are kept twice: plain for the device, reordered for the CPU's decode (src/repack_ggml.c)."""

import re

from harness import Skipped, Test, check
from suite_devices import completion, right, says
from suite_models import SMOLLM2, models_folder, quantised

SHAPE = dict(m=1040, n=64, k=512)
ON_CPU = (2, 3, 5)  # the computations of act `twice` whose batches are small


def cpu_reorders():
    """Where the CPU backend has kernels for reordered 4-bit weights."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        words = set(re.findall(r"avx2|asimddp", file.read()))
    if not words:
        raise Skipped("this CPU has neither AVX2 nor the dot product instructions: its backend reorders nothing")


def placed(run, buffer):
    """All five graphs are right, each on the backend that its batch calls for, and the weights lie where they should."""
    weights = run.events("weights")
    check(weights and weights[0]["buffer"] == buffer, f"the weights lie in {weights}, not in {buffer}")
    for compute in right(run, 5, None):
        wanted = "CPU" if int(compute["index"]) in ON_CPU else "ROCKFILL0"
        check(compute["backend"] == wanted, f"graph {compute['index']} was computed on {compute['backend']}")


def twice(ctx):
    cpu_reorders()
    for memory in ("shared", "imported", "mirrored"):
        for keys in (dict(type="q4_0"), dict(type="q4_K"), dict(type="q4_K", experts=4)):
            env = {"GGML_ROCKFILL_MEMORY": f"{memory},twice", "GGML_ROCKFILL_DEBUG": "1"}
            run = ctx.scenario("twice", env, **SHAPE, **keys)
            placed(run, "CPU_REPACK")
            says(run, "kept a second time")


def once(ctx):
    """Asked for, decode on the device too, or a type that the CPU does not reorder."""
    for env, type_ in (({"GGML_ROCKFILL_MEMORY": "once"}, "q4_0"), ({}, "f16"), ({}, "q5_1")):
        placed(ctx.scenario("twice", env, type=type_, **SHAPE), "ROCKFILL0")
    run = ctx.scenario("twice", {"GGML_ROCKFILL_MIN_BATCH": "1"}, type="q4_0", **SHAPE)
    right(run, 5)


def bad_devices(ctx):
    """The CPU goes on with its own copy; where the device has no memory the plain one lies in the host's."""
    cpu_reorders()
    for knobs in ({"LOST_SUBMIT": 2}, {"LOST_WAIT": 1}, {"DROP_SUBMIT": 1}, {"HEAP_MB": 1},
                  {"MEMORY": "noncoherent", "EVICT": "1"}):
        env = {"GGML_ROCKFILL_MEMORY": "auto,twice", "GGML_ROCKFILL_PATH": "fp32"}
        run = ctx.scenario("twice", env, trial=knobs, type="q4_0", **SHAPE)
        right(run, 5, None)


def model(ctx):
    """An unmodified llama.cpp asks for it, and gets to its end on a device that is lost, too."""
    cpu_reorders()
    weights = quantised(ctx, ctx.build.models / SMOLLM2, models_folder(ctx) / "twice-q4_0.gguf", "Q4_0")
    for memory, knobs in (("once", {}), ("twice", {}), ("twice", {"LOST_SUBMIT": "2"})):
        run = completion(ctx, knobs, {"GGML_ROCKFILL_MEMORY": memory, "GGML_ROCKFILL_DEBUG": "1"}, model=weights)
        says(run, "kept a second time", 1 if memory == "twice" else 0)


def attention(ctx):
    """llama.cpp's "auto" keeps flash attention on, and the device is not left with it (src/probe_ggml.c)."""
    for parallel in ("1", "4"):
        run = completion(ctx, {}, more=("-fa", "auto", "-v", "-np", parallel, "-fit", "off"))
        check("Flash Attention enabled" in run.err, "flash attention was switched off")
        check(not run.lines(), f"the plug-in complained: {run.lines()[:2]}")
    run = completion(ctx, {}, more=("-fa", "on", "-ub", "1"))
    check(not run.lines(), f"the plug-in complained: {run.lines()[:2]}")


def tests():
    return [Test("weights-kept-twice", twice, limit_s=120), Test("weights-kept-once", once, limit_s=120),
            Test("weights-kept-twice-bad-devices", bad_devices, limit_s=120),
            Test("weights-kept-twice-llama", model, limit_s=240), Test("flash-attention-auto", attention, limit_s=240)]
