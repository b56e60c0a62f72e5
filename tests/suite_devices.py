# SPDX-License-Identifier: MIT
"""Bad devices, bad memory, bad hosts: rockfill-scenario (scenario.h) and llama.cpp's own programs on the trial layer."""

import ctypes
import os
import pathlib
import select
import struct

from harness import Test, check, median, validation_silent

FOUND = []


def test(name, **more):
    """Makes a function a test."""

    def add(body):
        FOUND.append(Test(name, body, **more))
        return body

    return add


def right(run, graphs=1, backend="ROCKFILL0"):
    """Every graph was computed, is right, and was given to `backend`."""
    computes = run.events("compute")
    check(len(computes) == graphs, f"{len(computes)} of {graphs} graphs were computed")
    for compute in computes:
        check(compute["right"] == "1", f"a wrong result: {compute}")
        check(backend is None or compute["backend"] == backend, f"computed on {compute['backend']}, not on {backend}")
    return computes


def says(run, text, times=1):
    """The plug-in said so, in so many lines."""
    lines = [line for line in run.lines() if text in line]
    check(len(lines) == times, f'{len(lines)} lines, not {times}, say "{text}": {run.lines()[:3]}')


def quiet(run):
    check(not run.lines(), f"the plug-in complained: {run.lines()[:2]}")


def submits(run):
    return len(run.trial["submits"])


# ---- what a driver says of itself ----

def dot_lies(kind, wrong):
    @test(f"fault-05-{kind}")
    def body(ctx):
        run = ctx.scenario("product", {"GGML_ROCKFILL_PATH": "int8", "GGML_ROCKFILL_DEBUG": "1"},
                           trial={"FEATURES": kind}, repeat=2)
        right(run, 2)
        # A path that only claims to be fast is kept, a path that is wrong is switched off and named.
        says(run, "the driver's byte dot product is wrong", 1 if wrong else 0)
        says(run, "path int8 is not possible here", 1 if wrong else 0)
        says(run, "quantised weights in int8", 0 if wrong else 1)


dot_lies("dot4lie", False)
dot_lies("dotwrong", True)
dot_lies("dotzero", True)


@test("fault-05-chosen-by-itself")
def dot_auto(ctx):
    """A device that advertises a fast dot product which is wrong must not get int8 without being asked either."""
    run = ctx.scenario("product", {"GGML_ROCKFILL_DEBUG": "1", "GGML_ROCKFILL_DEVICE": "liar"},
                       trial={"FEATURES": "dotwrong", "TYPE": "igpu", "NAME": "liar"}, repeat=2)
    right(run, 2)
    says(run, "the driver's byte dot product is wrong")
    says(run, "quantised weights in int8", 0)


@test("fault-24-small-limits", limit_s=120)
def small_limits(ctx):
    for type_ in ("q4_0", "q6_K", "f16"):
        for path in ("auto", "int8", "fp16"):
            run = ctx.scenario("product", {"GGML_ROCKFILL_PATH": path}, trial={"LIMITS": "small"}, type=type_,
                               m=260, n=150, k=512, repeat=2)
            right(run, 2)
            quiet(run)
    right(ctx.scenario("product", trial={"LIMITS": "small"}, experts=8, n=70))


@test("old-driver-vulkan-1.1")
def old_driver(ctx):
    for type_ in ("q4_0", "f16"):
        run = ctx.scenario("product", {"GGML_ROCKFILL_DEBUG": "1"}, trial={"FEATURES": "old"}, type=type_, repeat=2)
        right(run, 2)
        says(run, "quantised weights in fp32, half-precision weights in fp32")


@test("debian-13-mali")
def debian_mali(ctx):
    """Debian 13's own Mesa on the Mali-G610: Vulkan 1.1, no fp16, no dot product, nothing cached, small limits."""
    env = {"GGML_ROCKFILL_DEBUG": "1", "GGML_ROCKFILL_DEVICE": "mali"}
    trial = {"FEATURES": "old", "MEMORY": "nocached", "LIMITS": "small", "TYPE": "igpu", "NAME": "Mali-G610"}
    for keys in ({"type": "q4_K", "n": 100}, {"type": "f16", "n": 33}, {"type": "q8_0", "experts": 4, "n": 40}):
        run = ctx.scenario("product", env, trial=trial, repeat=3, **keys)
        right(run, 3)
        says(run, "memory mirrored, quantised weights in fp32, half-precision weights in fp32")


# ---- which device is taken ----

@test("fault-21-no-driver")
def no_driver(ctx):
    run = ctx.scenario("product", {"VK_DRIVER_FILES": "/nonexistent", "VK_ICD_FILENAMES": None}, expect=(3,))
    right(run, 1, "CPU")
    says(run, "no devices: ")
    check(len(run.lines()) == 1, f"more than one line: {run.lines()}")


@test("fault-21-no-loader")
def no_loader(ctx):
    # The loader is found before the system's own, and is none.
    (ctx.scratch / "libvulkan.so.1").write_text("not a library\n")
    run = ctx.scenario("product", {"LD_LIBRARY_PATH": ctx.scratch}, expect=(3,))
    right(run, 1, "CPU")
    says(run, "no devices: ")
    check(len(run.lines()) == 1, f"more than one line: {run.lines()}")


@test("fault-22-software-only")
def software_only(ctx):
    run = ctx.scenario("product", {"GGML_ROCKFILL_DEVICE": None}, trial={"TYPE": "cpu"}, expect=(3,))
    right(run, 1, "CPU")
    says(run, "only a software rasteriser was found")
    check(len(run.lines()) == 1, f"more than one line: {run.lines()}")


@test("fault-22-asked-for-by-name")
def software_named(ctx):
    run = ctx.scenario("product", {"GGML_ROCKFILL_DEVICE": "SoftThing"}, trial={"TYPE": "cpu", "NAME": "the softthing"})
    right(run)
    quiet(run)


@test("fault-22-hardware-taken")
def hardware_taken(ctx):
    run = ctx.scenario("product", {"GGML_ROCKFILL_DEVICE": None}, trial={"TYPE": "igpu", "NAME": "Mali-G610"})
    right(run)
    quiet(run)


# ---- memory ----

def equal_memory(name, trial, mode, **more):
    @test(name, limit_s=120, **more)
    def body(ctx):
        env = {"GGML_ROCKFILL_DEBUG": "1", "GGML_ROCKFILL_DEVICE": "pretender"}
        kind = "gpu" if trial.get("MEMORY") == "split" else "igpu"
        knobs = {"TYPE": kind, "NAME": "pretender", **trial}
        for keys in ({"type": "q4_0", "m": 64, "n": 33, "k": 64, "layers": 2}, {"type": "f16", "n": 40},
                     {"type": "q6_K", "m": 300, "n": 130, "k": 512, "layers": 3}, {"experts": 4, "n": 40}):
            run = ctx.scenario("product", env, trial=knobs, repeat=4, **keys)
            right(run, 4)
            says(run, f"memory {mode}, ")
        run = ctx.scenario("noops", env, trial=knobs, repeat=3)
        check(len(run.events("compute")) == 3, "the no-ops were not computed")


equal_memory("fault-25-nothing-cached", {"MEMORY": "nocached"}, "imported")
equal_memory("fault-25-nothing-cached-no-import", {"MEMORY": "nocached", "HIDE": "VK_EXT_external_memory_host"},
             "mirrored")
equal_memory("fault-25-discrete", {"MEMORY": "split"}, "mirrored")
equal_memory("fault-34-noncoherent", {"MEMORY": "noncoherent"}, "shared")
for seed in (1, 2, 3):
    equal_memory(f"fault-34-evicting-{seed}", {"MEMORY": "noncoherent", "EVICT": "1", "SEED": seed}, "shared")


@test("fault-34-field-case")
def noncoherent_case(ctx):
    """The case seen on the chip: one product of 64 x 64 x 8, output poisoned."""
    for seed in range(1, 6):
        run = ctx.scenario("product", {"GGML_ROCKFILL_MIN_BATCH": "1"}, m=64, n=8, k=64, repeat=2, type="f32",
                           trial={"MEMORY": "noncoherent", "EVICT": "1", "SEED": seed, "POISON": "1"})
        right(run, 2)


def limit_case(name, limit_s=120, **keys):
    @test(f"fault-10-{name}", limit_s=limit_s)
    def body(ctx):
        # 128 MiB is the least that Vulkan allows a device to have. Drivers may serve bindings beyond their limit all the
        # same: the validation layer, in front of the pretended device, knows it.
        env = {**ctx.trial(validation=True), "VK_LOADER_DEBUG": "layer", "GGML_ROCKFILL_MIN_BATCH": "1"}
        run = ctx.scenario("product", env, trial={"RANGE_MB": "128"}, **keys)
        validation_silent(run)
        # Who computes is free; the result is not.
        right(run, 1, None)
        quiet(run)


# Weights of 128 MiB less 256 bytes, less 8, less 2, exactly, 2 more, 256 more; then activations and results around it.
limit_case("weights-less-256", type="f32", m=524287, n=2, k=64)
limit_case("weights-less-8", type="mxfp4", m=986895, n=2, k=256)
limit_case("weights-less-2", type="f16", m=8191, n=2, k=8193)
limit_case("weights-exact", type="f32", m=524288, n=2, k=64)
limit_case("weights-more-2", type="f16", m=41605, n=2, k=1613)
limit_case("weights-more-256", type="f32", m=524289, n=2, k=64)
limit_case("activations-less-256", type="f32", m=16, n=524287, k=64)
limit_case("activations-exact", type="q4_0", m=16, n=524288, k=64)
limit_case("activations-more-256", type="f32", m=16, n=524289, k=64)
limit_case("result-exact", type="q4_0", m=8192, n=4096, k=32)
limit_case("result-more-32768", type="q4_0", m=8192, n=4097, k=32)
limit_case("experts-beyond", type="q4_0", m=4096, n=8, k=4096, experts=16)
limit_case("vocabulary-q4_0", 300, type="q4_0", m=262144, n=4, k=2560)
limit_case("vocabulary-f16", 300, type="f16", m=262144, n=2, k=2560)


@test("fault-11-weights-beyond-heap", limit_s=120)
def heap_weights(ctx):
    """Weights of 285 MB where a heap has 256 MiB: they stay in host memory, and are staged piece by piece."""
    env = {"GGML_ROCKFILL_MIN_BATCH": "1", "GGML_ROCKFILL_MEMORY": "shared"}
    run = ctx.scenario("product", env, trial={"HEAP_MB": "256"}, type="q8_0", m=65536, n=2, k=4096)
    right(run, 1, None)
    says(run, "it stays in host memory")
    check(len(run.lines()) == 1, f"more than one line: {run.lines()}")
    check(run.trial["memory"]["refused"] >= 1, "nothing was refused: the test is too small")


@test("fault-11-heap-of-nothing", limit_s=120)
def heap_tiny(ctx):
    for megabytes in (1, 4, 16, 48):
        run = ctx.scenario("product", trial={"HEAP_MB": megabytes}, type="q4_0", m=2048, n=64, k=2048, repeat=2,
                           limit_s=60)
        right(run, 2, None)


@test("fault-11-llama", limit_s=240)
def heap_llama(ctx):
    """An unmodified llama.cpp whose model does not fit."""
    run = completion(ctx, {"HEAP_MB": "64"})
    check(any("it stays in host memory" in line for line in run.lines()), "nothing was refused")


# ---- failures while computing ----

def completion(ctx, trial, env=None, expect=(0,), model=None, more=()):
    """llama-completion of a prompt long enough for the device, 4 tokens; it must get to its end."""
    model = model or ctx.build.models / "smollm2-135m-instruct-q4_1.gguf"
    changes = {**ctx.trial(LOG=ctx.scratch / "trial.json", **trial), **(env or {})}
    run = ctx.run([ctx.build.llama_program("llama-completion"), "-m", model, "-ngl", "99", "-t", "1", "-no-cnv", "-n", "4",
                   "--temp", "0", "-c", "256", "--no-warmup", "-p", "The miller weighs every sack twice, because " * 4, *more],
                  env=ctx.environment(GGML_BACKEND_PATH=ctx.build.library, **changes), expect=expect)
    check("The miller" in run.out, "no answer")
    return run


def failing(name, knobs, said, path="fp32", repeat=4, limit_s=120):
    """The graph in which it fails, and those after it, are right; the failure is said once; the device says that it
    takes nothing any more. The fp32 path has no self-test: the first submission is a product's."""

    @test(name, limit_s=limit_s)
    def body(ctx):
        for keys in ({"layers": 2}, {"type": "q6_K", "m": 700, "n": 300, "k": 1024, "layers": 3},
                     {"experts": 4, "n": 40}):
            run = ctx.scenario("product", {"GGML_ROCKFILL_PATH": path}, trial=knobs, repeat=repeat, **keys)
            right(run, repeat, None)
            says(run, "out of use from here on")
            check(any(said in line for line in run.lines()), f'no line says "{said}": {run.lines()}')
            check(run.events("supports")[0]["product"] == "0", "the failed device still takes products")


for number in (1, 2, 3):
    failing(f"fault-14-lost-at-submit-{number}", {"LOST_SUBMIT": number}, "VK_ERROR_DEVICE_LOST")
    failing(f"fault-14-lost-at-wait-{number}", {"LOST_WAIT": number}, "VK_ERROR_DEVICE_LOST")
    failing(f"fault-13-dropped-submission-{number}", {"DROP_SUBMIT": number}, "without its last write")
failing("fault-14-lost-in-self-test", {"LOST_WAIT": 1}, "VK_ERROR_DEVICE_LOST", path="int8")
failing("fault-13-dropped-self-test", {"DROP_SUBMIT": 1}, "without its last write", path="int8")
for number in (1, 2):
    for error in ("host", "device"):
        failing(f"fault-15-graph-after-failed-submit-{number}-{error}",
                {"FAIL_NAME": f"vkQueueSubmit:{number}", "FAIL_ERROR": error}, "submitting")


@test("fault-14-llama", limit_s=240)
def lost_llama(ctx):
    run = completion(ctx, {"LOST_SUBMIT": "2"})
    says(run, "out of use from here on")


@test("fault-13-llama", limit_s=240)
def dropped_llama(ctx):
    run = completion(ctx, {"DROP_SUBMIT": "2"})
    says(run, "out of use from here on")


@test("fault-12-submissions-bounded", limit_s=300)
def bounded(ctx):
    """Work is cut into submissions: their number grows with it, and half a second is about what each takes."""
    shape = dict(type="q4_0", m=1024, k=1024, layers=8)
    few, many = (ctx.scenario("product", trial={}, n=n, **shape) for n in (64, 1024))
    right(few)
    right(many)
    check(submits(many) >= 3, f"8 products of 1024 x 1024 x 1024 were {submits(many)} submissions")
    check(submits(many) > submits(few), "16 times the work is no more submissions")
    # With two in flight, the one after the next is made when this one is over.
    at = [submit["at_ns"] * 1e-9 for submit in many.trial["submits"]]
    spans = [later - earlier for earlier, later in zip(at, at[2:])]
    check(median(spans) < 2.0, f"the median submission takes {median(spans):.1f} s or more")


@test("fault-12-slow-device", limit_s=300)
def bounded_slow(ctx):
    """A device that turns out to be slow gets less at a time."""
    shape = dict(type="q4_0", m=1024, n=512, k=1024, layers=2)
    quick, slow = (ctx.scenario("product", trial=knobs, **shape) for knobs in ({}, {"DELAY_MS": "1500"}))
    for run in (quick, slow):
        right(run)
        quiet(run)
    # The self-test of the dot product is a submission of one workgroup.
    groups = [submit["groups"] for submit in slow.trial["submits"] if submit["groups"] > 1]
    check(len(groups) > submits(quick), f"{len(groups)} submissions on the slow device, {submits(quick)} on the quick one")
    # The first two were made before anything was known.
    check(max(groups[2:]) < groups[0] / 2, f"submissions do not shrink on a slow device: {groups}")


@test("every-call-fails", limit_s=900)
def every_call(ctx):
    """Each Vulkan call fails in turn: the program goes on, and every result is right."""
    count = ctx.scratch / "count"
    for keys in ({"experts": "0", "layers": "2"}, {"experts": "4"}):
        number, failed = 1, "?"
        while failed != "0":
            count.unlink(missing_ok=True)
            run = ctx.scenario("product", trial={"FAIL_CALL": number, "COUNT_FILE": count}, repeat=2, expect=(0, 3),
                               limit_s=60, m=48, n=40, k=64, env={"XDG_CACHE_HOME": ctx.scratch}, **keys)
            right(run, 2, None)
            fields = dict(word.split("=") for word in count.read_text().split())
            failed = fields["failed"]
            if failed != "0" and not run.lines():
                # Whatever is not said must not matter: then the device computed.
                right(run, 2, "ROCKFILL0")
            number += 1
            check(number < 2000, "no end of calls")
        check(number > 40, f"only {number} calls were tried")


# ---- the host program ----

@test("fault-20-no-ops")
def no_ops(ctx):
    for memory in ("shared", "imported", "mirrored"):
        run = ctx.scenario("noops", {"GGML_ROCKFILL_MEMORY": memory}, repeat=3)
        computes = run.events("compute")
        check(len(computes) == 3, "not all graphs were computed")
        for compute in computes:
            check(compute["backend"] == "ROCKFILL0", f"the product ran on {compute['backend']}")


@test("fault-23-threads", limit_s=180)
def threads(ctx):
    for memory in ("shared", "imported", "mirrored"):
        run = ctx.scenario("threads", {"GGML_ROCKFILL_MEMORY": memory}, threads=4, repeat=12, n=60)
        check([thread["right"] for thread in run.events("thread")] == ["1"] * 4, "a thread has a wrong result")
        quiet(run)


@test("fault-27-growing-batches", limit_s=180)
def growing(ctx):
    for memory in ("shared", "imported", "mirrored"):
        run = ctx.scenario("grow", {"GGML_ROCKFILL_MEMORY": memory}, trial={}, repeat=9, n=700, m=300, k=512)
        right(run, 9)
        quiet(run)


@test("fault-30-other-release")
def other_release(ctx):
    host = ctx.build.folder / "bin" / "libscenario-host.so"
    for what in ("version", "overhead", "op", "type"):
        run = ctx.scenario("product", {"LD_PRELOAD": host, "SCENARIO_HOST": what}, expect=(3,))
        right(run, 1, "CPU")
        says(run, "not loaded: built for ggml")
        check(len(run.lines()) == 1, f"more than one line: {run.lines()}")
    # The preloaded library itself changes nothing.
    right(ctx.scenario("product", {"LD_PRELOAD": host}))


@test("fault-30-llama-goes-on", limit_s=240)
def other_release_llama(ctx):
    host = ctx.build.folder / "bin" / "libscenario-host.so"
    run = completion(ctx, {}, {"LD_PRELOAD": host, "SCENARIO_HOST": "version"})
    says(run, "not loaded: built for ggml")


@test("load-unload-load")
def reload(ctx):
    run = ctx.scenario("reload", trial={})
    computes = run.events("compute")
    check([compute["backend"] for compute in computes] == ["ROCKFILL0"] * 3 + ["CPU"], f"not as asked: {computes}")
    check(all(compute["right"] == "1" for compute in computes), "a wrong result")
    check([event["left"] for event in run.events("unloaded")] == ["0"] * 3, "the registry was not unloaded")
    quiet(run)


@test("memory-is-given-back")
def given_back(ctx):
    """Three rounds leave no more behind than one."""
    for memory in ("shared", "imported", "mirrored"):
        once, thrice = (ctx.scenario(act, {"GGML_ROCKFILL_MEMORY": memory}, trial={}, m=512, k=512)
                        for act in ("product", "reload"))
        for kind in once.trial["objects"]:
            live = [run.trial["objects"][kind]["live"] for run in (once, thrice)]
            check(live[0] == live[1], f"{memory}: {live[0]} {kind} are left after one round, {live[1]} after three")


@test("zero-size")
def zero_size(ctx):
    for memory in ("shared", "imported", "mirrored"):
        run = ctx.scenario("zero", {"GGML_ROCKFILL_MEMORY": memory, "GGML_ROCKFILL_MIN_BATCH": "1"}, trial={})
        check(len(run.events("empty")) >= 5, "not all shapes were tried")
        right(run)
        quiet(run)


@test("steady-state")
def steady(ctx):
    """After the first graph of a shape nothing is created or allocated."""
    for memory in ("shared", "imported", "mirrored"):
        for keys in ({"layers": 3}, {"type": "q8_0", "m": 700, "n": 600, "k": 1024}, {"experts": 8, "n": 90}):
            run = ctx.scenario("product", {"GGML_ROCKFILL_MEMORY": memory}, trial={}, repeat=8, **keys)
            right(run, 8)
            list_ = run.trial["submits"]
            later = list_[len(list_) // 4:]
            check(later[0]["so_far"] == later[-1]["so_far"],
                  f"{memory} {keys}: calls went from {later[0]['so_far']} to {later[-1]['so_far']}")


GARBAGE = ["", " ", "0x", "-1", "1e9", "99999999999999999999", "%s%n%s", "auto ", ",,,", "\udcff\udcfe", "x" * 20000]


@test("garbage-environment", limit_s=300)
def garbage(ctx):
    """A typing error never changes results or stops the host; it is named in one line."""
    for name in ("MIN_BATCH", "MEMORY", "DEBUG", "PATH"):
        variable = f"GGML_ROCKFILL_{name}"
        for value in GARBAGE:
            run = ctx.scenario("product", {variable: value})
            right(run)
            said = [line for line in run.lines() if variable in line]
            check(len(said) == (1 if value else len(said[:1])), f"{variable}={value[:30]!r}: {run.lines()}")
    for value in GARBAGE:
        run = ctx.scenario("product", {"GGML_ROCKFILL_DEVICE": value}, expect=(0, 3))
        right(run, 1, None)
        check(run.status == 0 or len(run.lines()) == 1, f"GGML_ROCKFILL_DEVICE={value[:30]!r}: {run.lines()}")
    everything = {f"GGML_ROCKFILL_{name}": "%n%n%n" for name in ("MIN_BATCH", "MEMORY", "DEBUG", "PATH", "DEVICE")}
    right(ctx.scenario("product", everything, expect=(3,)), 1, None)


# ---- the pipeline cache ----

class Watch:
    """Which files of a folder are opened and read, by inotify."""

    ACCESS, OPEN = 0x1, 0x20

    def __init__(self, folder):
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.fd = self.libc.inotify_init1(os.O_NONBLOCK)
        check(self.fd >= 0 and self.libc.inotify_add_watch(self.fd, os.fsencode(folder), self.ACCESS | self.OPEN) >= 0,
              "inotify is not there")

    def read(self):
        """Names of files read since the last call."""
        names = set()
        while select.select([self.fd], [], [], 0)[0]:
            data, at = os.read(self.fd, 65536), 0
            while at < len(data):
                _, mask, _, length = struct.unpack_from("iIII", data, at)
                if mask & self.ACCESS:
                    names.add(data[at + 16:at + 16 + length].rstrip(b"\0").decode())
                at += 16 + length
        return names

    def close(self):
        os.close(self.fd)


CACHED = dict(type="q4_K", m=256, n=64, k=256, repeat=3)


def cached_start(ctx, folder, **more):
    """Starts on a cache folder; returns the files there and what creating the pipelines took, in ms."""
    run = ctx.scenario("product", {"XDG_CACHE_HOME": folder}, **CACHED, **more)
    times = [float(compute["ms"]) for compute in right(run, 3)]
    quiet(run)
    return sorted(pathlib.Path(folder).glob("rockfill/*")), times[0] - min(times[1:])


@test("fault-26-second-start")
def second_start(ctx):
    files, _ = cached_start(ctx, ctx.scratch)
    check(len(files) == 1 and files[0].stat().st_size > 40, f"not one cache file: {files}")
    watch = Watch(files[0].parent)
    again, ms = cached_start(ctx, ctx.scratch)
    check(files[0].name in watch.read(), "the second start did not read the cache file")
    watch.close()
    check(again == files, f"files were left behind: {again}")
    check(ms < 2000, f"creating all pipelines in the second start took {ms:.0f} ms")


def spoilt(name, spoil):
    @test(f"fault-26-{name}")
    def body(ctx):
        files, _ = cached_start(ctx, ctx.scratch)
        good = files[0].read_bytes()
        bad = spoil(good)
        files[0].write_bytes(bad)
        again, _ = cached_start(ctx, ctx.scratch)
        check(again == files, f"files were left behind: {again}")
        check(files[0].read_bytes() != bad, "the useless file was kept")


def flipped(data, at):
    return data[:at] + bytes([data[at] ^ 0x40]) + data[at + 1:]


spoilt("corrupt-cache", lambda data: flipped(data, len(data) * 3 // 4))
spoilt("corrupt-cache-header", lambda data: flipped(data, 2))
spoilt("truncated-cache", lambda data: data[:len(data) // 2])
spoilt("header-only-cache", lambda data: data[:24])
spoilt("empty-cache", lambda data: b"")
spoilt("longer-cache", lambda data: data + b"more")
spoilt("foreign-cache", lambda data: b"RIFF" + os.urandom(3000))


@test("fault-26-unwritable-cache")
def unwritable(ctx):
    (ctx.scratch / "file").write_text("in the way")
    for folder in (ctx.scratch / "file", "/proc", "/nonexistent/\udcff", "relative/folder"):
        run = ctx.scenario("product", {"XDG_CACHE_HOME": folder, "HOME": "/nonexistent"}, **CACHED)
        right(run, 3)
        quiet(run)
    (ctx.scratch / "cache" / "rockfill").mkdir(parents=True)
    files, _ = cached_start(ctx, ctx.scratch / "cache")
    files[0].unlink()
    # A folder where the file should be.
    files[0].mkdir()
    again, _ = cached_start(ctx, ctx.scratch / "cache")
    check(again == files, f"files were left behind: {again}")
    run = ctx.scenario("product", {"XDG_CACHE_HOME": None, "HOME": None}, **CACHED)
    right(run, 3)


def tests():
    return FOUND
