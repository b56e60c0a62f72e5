#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make sim: what a Mali-G610 would do, from the stock arm64 driver and compiler over a simulated kernel driver.

Compiles every pipeline of rockfill, runs the prefill of a Qwen2.5-3B-shaped Q4_K_M model through an unmodified llama.cpp
at several micro-batches, models the speed (docs/speed-model.md), prints the tables and writes build/results/sim.json and
two pictures. Kernels are compiled, not executed: memory and counts are measured, speeds are modelled.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import kernels
import picture

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))
import record  # noqa: E402

UBATCHES = (32, 64, 128, 256, 512, 1024)
DRIVERS = ("trixie", "backports", "unstable")
RIVAL_UBATCHES = (64, 32, 128, 256, 512)
STOCK = {"GGML_VK_VISIBLE_DEVICES": 0, "GGML_BACKEND_PATH": None, "ROCKFILL_SIM_LIBRARIES": None}  # knobs of the stock backend
DEVICE_SUBMISSIONS = 3  # Mesa's own, while it makes a device


class SimError(Exception):
    """One line: what happened, to what, and what to do about it."""


class Impossible(SimError):
    """Something cannot be had on this machine: no network, no rights, nothing left in the archive."""


def run_setup(script, *options):
    """A set-up script's standard output; the scripts end with 3 where something cannot be had."""
    done = subprocess.run(["sh", str(ROOT / script), *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    sys.stderr.write(done.stderr)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise (Impossible if done.returncode == 3 else SimError)(f"{script}: {last}")
    return done.stdout.strip()


class Sim:
    """A variant of the userland, and the programs that run in it."""

    def __init__(self, build, variant):
        self.build, self.variant = build, variant
        self.folder = build / "sim"
        self.arm64 = self.folder / "arm64"
        self.llama = ROOT / "build" / "deps" / "llama-arm64"
        self.models = build / "models"

    def command(self, *words):
        return ["sh", str(ROOT / "sim" / "userland" / "run.sh"), "--variant", self.variant, *map(str, words)]

    def environment(self, **knobs):
        """The environment of a program with rockfill, and the knobs; None takes a variable out."""
        env = {key: value for key, value in os.environ.items() if not key.startswith(("GGML_", "VK_", "PANTHOR_SIM_"))}
        env["ROCKFILL_SIM_PANTHOR"] = str(self.folder / "libpanthor-sim.so")
        env["ROCKFILL_SIM_LIBRARIES"] = str(self.llama / "lib")
        env["GGML_BACKEND_PATH"] = str(self.arm64 / "libggml-rockfill.so")
        # Mesa's shader cache is kept apart from the user's; setup.sh must not follow it there.
        env.setdefault("ROCKFILL_CACHE", str(pathlib.Path(env.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "rockfill"))
        env["XDG_CACHE_HOME"] = str(self.folder / "cache")
        env.update(knobs)
        return {key: str(value) for key, value in env.items() if value is not None}

    @property
    def root(self):
        return pathlib.Path(run_setup("sim/userland/setup.sh", "--variant", self.variant))

    def versions(self):
        """What the root was made of; setup.sh wrote it."""
        return json.loads((self.root.parent / "versions.json").read_text())

    def packages(self):
        """Every package of the root and of the emulator, with its version: what a result was made with."""
        emulator = self.root.parent.parent / "emulator" / "versions.json"
        return {**self.versions()["packages"], **(json.loads(emulator.read_text()) if emulator.exists() else {})}

    def model(self, shape):
        path = self.models / f"{shape}-q4_k_m-zero.gguf"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            subprocess.run([self.build / "bin" / "rockfill-synth", "--shape", shape, "--weights", "zero", "-o", path],
                           check=True, stdout=subprocess.DEVNULL)
        return path

    def bench(self, program, shape, prompt, ubatch, env, attention, limit_s):
        """llama-bench in the userland; its report, and what it printed."""
        words = self.command(program, "-m", self.model(shape), "-p", prompt, "-n", 0, "-b", max(ubatch, 512), "-ub", ubatch,
                             "-r", 1, "-t", 2, "--no-warmup", "-ngl", 99, "-fa", attention, "-v", "-o", "jsonl")
        # Several may run at once, of the same model.
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            report = pathlib.Path(folder) / "report.json"
            try:
                done = subprocess.run(words, env={**env, "PANTHOR_SIM_REPORT": str(report)}, capture_output=True, text=True,
                                      errors="replace", timeout=limit_s)
            except subprocess.TimeoutExpired:
                raise SimError(f"{' '.join(words)} ran for more than {limit_s} s") from None
            return json.loads(report.read_text()) if report.exists() else {}, done

    def prefill(self, shape, prompt, ubatch, limit_s=900, attention=0, **knobs):
        """One prefill with rockfill: a graphs[] entry, without the modelled fields. Flash attention is off by default:
        the emulated CPU takes minutes for it; its products are the device's then, so that more is asked of the driver."""
        env = self.environment(GGML_ROCKFILL_DEBUG=2, GGML_ROCKFILL_MEMORY="auto,once", GGML_SCHED_DEBUG=1, **knobs)
        counts, done = self.bench(self.llama / "bin" / "llama-bench", shape, prompt, ubatch, env, attention, limit_s)
        splits = [int(number) for number in re.findall(r"## SPLIT #(\d+): (?:ROCKFILL|CPU)", done.stderr)]
        dispatches = re.findall(r"rockfill: .*?(\d+) dispatches", done.stderr)
        return {**graph_entry(shape, ubatch, counts, done.returncode),
                "used": "ROCKFILL0" in done.stdout + done.stderr and "out of use" not in done.stderr,
                "dispatches": int(dispatches[-1]) if dispatches else None, "splits": max(splits) + 1 if splits else None}, done

    def rival_prefill(self, shape, prompt, ubatch, limit_s=900):
        """The same with the stock Vulkan backend and programs of the userland's own distribution."""
        env = self.environment(**STOCK)
        counts, done = self.bench(self.root / "usr" / "bin" / "llama-bench", shape, prompt, ubatch, env, 0, limit_s)
        entry = graph_entry(shape, ubatch, counts, done.returncode)
        words = (done.stdout + done.stderr).strip().splitlines()
        what = [line for line in words if re.search(r"what\(\)|Error|error", line)]
        entry["died_of"] = (what or words or ["nothing was printed"])[-1][:200] if entry["oom"] else None
        entry["used"] = "Mali" in done.stdout + done.stderr
        entry["heap"] = {key: counts.get(key) for key in ("heap_peak_mib", "heap_by_size", "heap_largest_hole_mib")}
        return entry, done


def graph_entry(shape, ubatch, counts, status):
    return {"model": shape, "type": "q4_K_M", "ubatch": ubatch, "oom": status != 0,
            "peak_scratch_mib": counts.get("scratch_peak_mib"), "pinned_mib": counts.get("pinned_mib"),
            "submissions": counts.get("submissions", DEVICE_SUBMISSIONS) - DEVICE_SUBMISSIONS}


def setup(build, variants):
    """Userlands, cross build and simulator; whatever is there already is kept."""
    for variant in variants:
        root = run_setup("sim/userland/setup.sh", "--variant", variant)
    run_setup("sim/userland/cross.sh", "--out", str(build / "sim" / "arm64"))
    loader = f"{root}/usr/lib/aarch64-linux-gnu/libvulkan.so.1"
    cross_build(ROOT / "sim" / "panthor", build / "sim", PANTHOR_SIM_ROOT=root, PANTHOR_SIM_TEST="OFF")
    cross_build(ROOT / "sim" / "model", build / "sim" / "dump", SIM_MODEL_DUMP="ON", SIM_MODEL_VULKAN=loader)


def cross_build(source, folder, **variables):
    toolchain = ROOT / "cmake" / "aarch64.cmake"
    words = ["cmake", "-S", source, "-B", folder, f"-DCMAKE_TOOLCHAIN_FILE={toolchain}",
             *(f"-D{name}={value}" for name, value in variables.items())]
    for command in (words, ["cmake", "--build", folder, "--parallel"]):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            raise SimError(f"{' '.join(map(str, command))}:\n{done.stdout[-3000:]}")


def compile_kernels(sim, paths=("int8", "fp16", "fp32")):
    command = sim.command(sim.folder / "dump" / "sm-dump")
    return list(kernels.compile_all(command, sim.environment(), sim.build / "bin" / "rockfill-catalogue",
                                    sim.build / "bin" / "sim-model", sim.build / "spirv", paths))


def kernel_table(rows):
    bad = [row for row in rows if "error" in row]
    good = [row for row in rows if "error" not in row]
    spilling = [row["name"] for row in good if row["spills"] or row["stack_accesses"]]
    registers = max((row["registers"] or 0 for row in good), default=0)
    print(f"  {len(good)} pipelines compiled, {len(bad)} refused, {len(spilling)} spill, "
          f"{sum(row['uses_shared'] for row in good)} use workgroup memory, at most "
          f"{registers or 'an unstated number of'} registers")
    for row in bad[:3]:
        print(f"  refused: {row['name']}: {row['error']}")
    if spilling:
        print(f"  spilling: {', '.join(spilling)}")


def speeds(sim, graphs, shape, prompt, splits_per_layer):
    """Dumps of what the shape needs, the calibration, and the modelled fields of each graph."""
    out = sim.folder / f"dumps-{sim.versions()['mesa']}"
    model = str(sim.build / "bin" / "sim-model")
    rival = sim.build / "deps" / "rival" / "lib" / "libggml-vulkan.so"
    words = [sys.executable, ROOT / "sim" / "model" / "dumps.py", "--sim-model", model, "--catalogue",
             sim.build / "bin" / "rockfill-catalogue", "--spirv", sim.build / "spirv", "--out", out, *(["--rival", rival] if rival.exists() else []), "--",
             *sim.command(sim.folder / "dump" / "sm-dump")]
    subprocess.run(list(map(str, words)), check=True, stdout=subprocess.DEVNULL, env=sim.environment())
    points = []
    if rival.exists():
        points = json.loads(subprocess.run([model, "calibrate", out / "list.txt"], check=True, capture_output=True,
                                           text=True).stdout)
    for graph in graphs:
        options = ["--shape", shape, "--ubatch", str(graph["ubatch"]), "--prompt", str(prompt),
                   "--splits", str(splits_per_layer)]
        options += ["--derate-by", "acc16-fp16"] if points else []
        graph.update(json.loads(subprocess.run([model, "graph", *options, out / "list.txt"], check=True,
                                               capture_output=True, text=True).stdout) | {
            key: graph[key] for key in ("model", "ubatch", "dispatches", "submissions", "splits")})
    return points


def graph_table(graphs):
    print(f"  {'ubatch':>6} {'done':>5} {'scratch MiB':>12} {'pinned MiB':>11} {'submissions':>12} {'splits':>7} "
          f"{'modelled t/s':>13} {'derated':>8}")
    for g in graphs:
        print(f"  {g['ubatch']:>6} {'no' if g['oom'] else 'yes':>5} {g['peak_scratch_mib']:>12} {g['pinned_mib']:>11} "
              f"{g['submissions']:>12} {g['splits'] or 0:>7} {g.get('tps_modelled', 0):>13.1f} {g.get('tps_derated', 0):>8.1f}")


def ggml_version(build):
    """As the build for this machine found it; the arm64 libraries are of the same release."""
    found = re.search(r"^ROCKFILL_GGML_VERSION:\w+=(.*)$", (build / "CMakeCache.txt").read_text(), re.M)
    if not found:
        raise SimError(f"{build} is no build folder: run make build first")
    return found.group(1)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", type=pathlib.Path, help="build folder (default: build)")
    parser.add_argument("--variants", default=",".join(DRIVERS), help=f"of {', '.join(DRIVERS)} (default: all); the "
                        "micro-batches are run with backports, or with the last one")
    parser.add_argument("--rival", action="store_true", help="make sim-rival: the same prefill with llama.cpp's own Vulkan "
                        "backend, to build/results/rival.json")
    parser.add_argument("--shape", default="3b", help="rockfill-synth's shape (default: 3b)")
    parser.add_argument("--ubatches", default=",".join(map(str, UBATCHES)))
    return parser.parse_args()


def main():
    args = arguments()
    build = args.build.resolve()
    variants = args.variants.split(",")
    reference = "backports" if "backports" in variants else variants[-1]
    if args.rival:
        return rival(build, args.shape)
    setup(build, variants)
    result = {**record.header(), "llama_cpp": f"ggml {ggml_version(build)}", "drivers": []}
    for variant in variants:
        sim = Sim(build, variant)
        versions = sim.versions()
        print(f"{variant}: Mesa {versions['mesa']}", flush=True)
        small, done = sim.prefill("100m", 64, 64)
        choice = re.search(r"memory (\w+), quantised weights in (\w+), half-precision weights in (\w+)", done.stderr)
        small["memory"], *paths = choice.groups() if choice else ("none",)
        print(f"  {', '.join(dict.fromkeys(paths)) or 'no'} path, memory {small['memory']}; prefill of 64 tokens, 100 M: "
              f"{'completed' if not small['oom'] and small['used'] else 'FAILED'}, scratch {small['peak_scratch_mib']} MiB")
        rows = compile_kernels(sim, {*paths, "fp32"})
        kernel_table(rows)
        result["drivers"].append({"variant": variant, "driver": versions["mesa"], "packages": sim.packages(), "kernels": rows,
                                  "small": small})
        if variant == reference:
            result.update(driver=versions["mesa"], kernels=rows)
    sim = Sim(build, reference)
    prompt = 512
    graphs = []
    for ubatch in map(int, args.ubatches.split(",")):
        graph, done = sim.prefill(args.shape, max(prompt, ubatch), ubatch)
        graphs.append(graph)
        print(f"  ubatch {ubatch}: {'completed' if not graph['oom'] else 'FAILED: ' + done.stderr[-300:]}", flush=True)
    flash, done = sim.prefill(args.shape, 32, 32, attention=1)
    layers = int(re.search(r"print_info: n_layer +=\s*(\d+)", done.stderr).group(1))
    result["splits_per_layer"] = round(flash["splits"] / layers)
    result["calibration"] = speeds(sim, graphs, args.shape, prompt, result["splits_per_layer"])
    result["graphs"] = graphs
    graph_table(graphs)
    for point in result["calibration"]:
        print(f"  {point['name']}: published {point['published_tps']} t/s, modelled {point['modelled_tps']:.2f}, "
              f"ratio {point['ratio']:.3f}")
    write(build / "results", result)


def rival(build, shape):
    """Until where the stock backend gets, and what fills the heap when it dies. Shaders come from Mesa's cache the next time."""
    setup(build, ["backports", "rival"])
    sim = Sim(build, "rival")
    versions = sim.versions()
    packages = sim.packages()
    result = {**record.header(), "driver": versions["mesa"], "llama_cpp": packages.get("llama.cpp-tools"),
              "ggml": packages.get("libggml0"), "packages": packages, "graphs": []}
    print(f"Mesa {result['driver']}, llama.cpp {result['llama_cpp']}, ggml {result['ggml']}", flush=True)
    for ubatch in RIVAL_UBATCHES:
        entry, _ = sim.rival_prefill(shape, 512, ubatch)
        result["graphs"].append(entry)
        print(f"  ubatch {ubatch}: {'died: ' + entry['died_of'] if entry['oom'] else 'completed'}; scratch heap peak "
              f"{entry['peak_scratch_mib']} MiB", flush=True)
    result["graphs"].sort(key=lambda entry: entry["ubatch"])
    result["died_at"] = next((entry["ubatch"] for entry in result["graphs"] if entry["oom"]), None)
    print(store(build / "results" / "rival.json", result))


def store(path, result):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result, indent=1) + "\n")
    return path


def write(folder, result):
    path = store(folder / "sim.json", result)
    rival_path = folder / "rival.json"
    picture.draw(folder, result, json.loads(rival_path.read_text()) if rival_path.exists() else None)
    print(path)


def run_program(main_function):
    """A program's main, whose errors end it in one line."""
    try:
        main_function()
    except SimError as error:
        sys.exit(f"sim: error: {error}")


if __name__ == "__main__":
    run_program(main)
