# SPDX-License-Identifier: MIT
"""How the library is built: size, symbols, dependencies, compilers, format, sanitizers, the validation layer."""

import pathlib
import re
import shutil
import threading

from harness import FOREIGN, ROOT, Failed, Skipped, Test, check, validation_folder, validation_silent


def size(ctx):
    bytes_ = ctx.build.library.stat().st_size
    ctx.log(f"{bytes_} bytes")
    check(bytes_ < 2 << 20, f"the library has {bytes_} bytes; 2 MiB are the limit")


def symbols(ctx):
    run = ctx.run(["nm", "-D", "--defined-only", ctx.build.library])
    names = sorted(line.split()[-1] for line in run.out.splitlines())
    check(names == ["ggml_backend_init", "ggml_backend_score"], f"exported: {names}")


def needed(ctx):
    """Nothing but ggml and libc is linked: without a Vulkan loader the host program must start."""
    run = ctx.run(["readelf", "-d", ctx.build.library])
    libraries = sorted(re.findall(r"NEEDED.*\[(.*)\]", run.out))
    ours = [name for name in libraries if not re.match(r"(libc|libm|libdl|libpthread|ld-linux.*|libggml-base)\.so", name)]
    check(not ours and "libggml-base.so" in " ".join(libraries), f"needed: {libraries}")


def borders(ctx):
    """Only the border files know ggml, and pure files know no Vulkan either."""
    pure = {"cachefile", "env", "format", "hostmem", "routing", "split", "tile", "product"}
    sources = sorted((ROOT / "src").glob("*.[ch]"))
    check(len(sources) > 20, "the sources are not where they were")
    for path in sources:
        included = re.findall(r'#include\s+[<"]([^>"]+)[>"]', path.read_text())
        knows_ggml = any(name.startswith(("ggml", "llama", "gguf")) or name == "border.h" for name in included)
        border = path.name.endswith("_ggml.c") or path.name in ("border.h", "plugin.c")
        check(not knows_ggml or border, f"{path.name} includes ggml's headers")
        knows_vulkan = any(name.startswith("vulkan") or name in ("vk.h", "device.h", "adapter.h") for name in included)
        check(not knows_vulkan or path.stem not in pure, f"{path.name} includes Vulkan's headers")


def source_format(ctx):
    if shutil.which("clang-format") is None:
        raise Skipped("clang-format is not installed")
    sources = [path for folder in ("src", "bench", "tests", "sim") for path in sorted((ROOT / folder).rglob("*.[ch]"))]
    ctx.run(["clang-format", "--dry-run", "-Werror", *sources])


# ---- sanitizers ----

# Builds of their own, made once for all tests that need them.
LOCKS = {"address": threading.Lock(), "thread": threading.Lock()}
SANITIZERS = {"address": "address,undefined", "thread": "thread"}


def sanitized(ctx, kind, targets=()):
    """Builds with clang and a sanitizer, and lets the test's programs come from there."""
    folder = ctx.build.folder / f"sanitize-{kind}"
    with LOCKS[kind]:
        env = {key: value for key, value in ctx.environment().items() if not FOREIGN.match(key)}
        ctx.run(["cmake", "-S", ROOT, "-B", folder, "-DCMAKE_C_COMPILER=clang", "-DCMAKE_BUILD_TYPE=RelWithDebInfo",
                 f"-DROCKFILL_SANITIZE={SANITIZERS[kind]}", f"-DROCKFILL_LLAMA_DIR={ctx.build.llama}"], env=env)
        words = [word for target in targets for word in ("--target", target)]
        ctx.run(["cmake", "--build", folder, "--parallel", "2", *words], env=env)
    ctx.build = type(ctx.build)(**{**vars(ctx.build), "folder": folder})


PROGRAMS = ("ggml-rockfill", "rockfill-unit", "rockfill-ops", "rockfill-scenario", "VkLayer_rockfill_trial")
# The first report ends the program, with a status that nothing else has.
REPORTS = dict(ASAN_OPTIONS="exitcode=99:detect_stack_use_after_return=1", UBSAN_OPTIONS="print_stacktrace=1",
               LSAN_OPTIONS=f"exitcode=99:suppressions={ROOT / 'tests' / 'lsan.supp'}",
               TSAN_OPTIONS="exitcode=99:halt_on_error=1")


def clang(ctx):
    """Everything compiles with clang without a warning, too: the sanitizers' build is clang's, and warnings are errors."""
    sanitized(ctx, "address")


def sanitizers_unit(ctx):
    sanitized(ctx, "address", PROGRAMS)
    ctx.run([ctx.build.program("rockfill-unit")], env=ctx.environment(**REPORTS))


def sanitizers_ops(ctx):
    sanitized(ctx, "address", PROGRAMS)
    some = ("odd", "routed-", "view", "permuted", "rewritten", "zero", "types-q", "wide")
    # Cutting into pieces is the same whatever computes them.
    for path, names in (("int8", (*some, "split")), ("fp16", some), ("fp32", some)):
        ctx.run([ctx.build.program("rockfill-ops"), "--library", ctx.build.library, "--runs", "2", "--min-cases", "100",
                 *[word for name in names for word in ("--filter", name)]],
                env=ctx.environment(**REPORTS, GGML_ROCKFILL_PATH=path, GGML_ROCKFILL_MIN_BATCH="1"))


def sanitizers_scenario(ctx):
    sanitized(ctx, "address", PROGRAMS)
    for memory in ("shared", "imported", "mirrored"):
        env = {**REPORTS, "GGML_ROCKFILL_MEMORY": memory}
        for act, keys in (("product", {"repeat": 3}), ("product", {"experts": 4, "n": 40}), ("grow", {"repeat": 6}),
                          ("reload", {}), ("noops", {"repeat": 2}), ("zero", {}), ("threads", {"repeat": 3}),
                          ("twice", {}), ("twice", {"type": "q5_1"})):
            ctx.scenario(act, env, **keys)
    for knobs in ({"LOST_SUBMIT": 2}, {"LOST_WAIT": 1}, {"DROP_SUBMIT": 1}, {"HEAP_MB": 1}, {"MEMORY": "split"},
                  {"MEMORY": "noncoherent", "EVICT": "1"}, {"FEATURES": "old"}, {"FEATURES": "dotzero"}):
        ctx.scenario("product", REPORTS, trial=knobs, repeat=3, layers=2)


def sanitizers_every_call(ctx):
    """Nothing leaks and nothing is freed twice, whichever call fails."""
    sanitized(ctx, "address", PROGRAMS)
    count = ctx.scratch / "count"
    for number in range(1, 1000):
        count.unlink(missing_ok=True)
        ctx.scenario("product", {**REPORTS, "XDG_CACHE_HOME": ctx.scratch}, expect=(0, 3), m=48, n=40, k=64,
                     trial={"FAIL_CALL": number, "COUNT_FILE": count})
        if " failed=0 " in count.read_text():
            break
    check(number > 30, f"only {number} calls were tried")


def sanitizers_threads(ctx):
    sanitized(ctx, "thread", ("ggml-rockfill", "rockfill-scenario"))
    for memory in ("shared", "imported", "mirrored"):
        run = ctx.scenario("threads", {**REPORTS, "GGML_ROCKFILL_MEMORY": memory}, threads=4, repeat=6, n=60)
        check(len(run.events("thread")) == 4, "not all threads ended")


# ---- the validation layer ----

def validated(ctx, filters, enable="", trial=None, least=10, **env):
    """Runs operators under the validation layer (and the trial layer with these knobs); any message is a failure."""
    if enable:
        # The environment variable of that purpose has no effect on the layer of Debian 12; its settings file has.
        (ctx.scratch / "vk_layer_settings.txt").write_text(
            f"khronos_validation.enables = {enable}\nkhronos_validation.report_flags = error,warn,info\n")
        env["VK_LAYER_SETTINGS_PATH"] = ctx.scratch
    layers = {"VK_INSTANCE_LAYERS": "VK_LAYER_KHRONOS_validation", "VK_LAYER_PATH": validation_folder()}
    if trial:
        layers = ctx.trial(validation=True, **trial)
    words = [word for text in filters for word in ("--filter", text)]
    run = ctx.run([ctx.build.program("rockfill-ops"), "--library", ctx.build.library, "--runs", "2", "--min-cases", str(least),
                   *words],
                  env=ctx.environment(**layers, VK_LOADER_DEBUG="layer", GGML_ROCKFILL_MIN_BATCH="1", **env))
    check(not enable or f"Current Enables: {enable.removesuffix('_EXT')}" in run.out + run.err, f"{enable} was not on")
    validation_silent(run)


def validation(ctx):
    some = ("types", "odd", "routed-", "view", "few-columns")
    for path, names in (("int8", (*some, "split")), ("fp16", some), ("fp32", some)):
        validated(ctx, names, GGML_ROCKFILL_PATH=path)
    for memory in ("imported", "mirrored"):
        validated(ctx, ("odd", "routed", "split", "view", "rewritten"), GGML_ROCKFILL_MEMORY=memory)


def validation_synchronization(ctx):
    for path in ("int8", "fp32"):
        validated(ctx, ("odd", "routed", "split", "dependent", "computed", "shared-columns", "address-reuse", "long-chain"),
                  "VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT", GGML_ROCKFILL_PATH=path)
    # A discrete device computes in copies: their readers wait, too.
    validated(ctx, ("types-q4_0", "types-f16", "routed", "dependent"),
              "VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT", trial={"TYPE": "gpu", "MEMORY": "split"})


def validation_reads(ctx):
    """Out-of-bounds accesses that robustness would hide: shaders are instrumented and tell."""
    enable = "VK_VALIDATION_FEATURE_ENABLE_GPU_ASSISTED_EXT"
    # Weights that are floats take the fp32 kernels here, too. Compiling instrumented kernels takes most of the time.
    validated(ctx, ("fault-08",), enable, GGML_ROCKFILL_PATH="int8")
    validated(ctx, ("fault-08-odd-q4",), enable, least=6, GGML_ROCKFILL_PATH="fp32")


def validation_devices(ctx):
    """The pretended devices' limits, features and memory types are kept to."""
    for knobs in ({"LIMITS": "small"}, {"FEATURES": "old"}, {"MEMORY": "noncoherent"}, {"MEMORY": "split"},
                  {"MEMORY": "nocached"}, {"HEAP_MB": "8"}, {"FEATURES": "dot4lie"},
                  {"FEATURES": "old", "MEMORY": "nocached", "LIMITS": "small"}):
        for keys in ({"type": "q4_K", "m": 600, "n": 300, "k": 512, "layers": 2}, {"type": "f16", "experts": 4, "n": 40}):
            env = {**ctx.trial(validation=True), "VK_LOADER_DEBUG": "layer"}
            validation_silent(ctx.scenario("product", env, trial=knobs, repeat=2, **keys))


def tests():
    return [Test("library-size", size), Test("exported-symbols", symbols), Test("needed-libraries", needed),
            Test("dependency-rule", borders), Test("source-format", source_format),
            Test("clang-without-warnings", clang, limit_s=600),
            Test("sanitizers-unit", sanitizers_unit, limit_s=600), Test("sanitizers-ops", sanitizers_ops, limit_s=600),
            Test("sanitizers-scenario", sanitizers_scenario, limit_s=600),
            Test("sanitizers-every-call-fails", sanitizers_every_call, limit_s=600),
            Test("fault-23-threads-sanitized", sanitizers_threads, limit_s=600),
            Test("validation-layer", validation, limit_s=600),
            Test("validation-synchronization", validation_synchronization, limit_s=600),
            Test("validation-bad-devices", validation_devices, limit_s=600),
            Test("fault-08-gpu-assisted", validation_reads, limit_s=900)]
