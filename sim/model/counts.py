#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Executes kernels on the simulated Mali and keeps what mali-exec counts, for sim-model (docs/speed-model.md).

usage: counts.py names  [options] --out FILE          hash of every kernel of the list: its entry, for mali-exec --names
       counts.py runs   [options] --out FILE [--only TEXT]... products in the list's tiles, counted; "own": rockfill's
       counts.py graphs [options] --out FILE           the stock Vulkan backend's whole graphs, a published speed each
options: --build FOLDER, --dumps FOLDER (of dumps.py), and a PROGRAM each: --mali-exec, --mx-shade, --sm-dump, --sim-model;
         --stacks-apart: as mali-exec's

After make sim. Inputs are zeros or random: no kernel here chooses its way by what it computes.
"""
import argparse
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

import dumps

ROOT = pathlib.Path(__file__).resolve().parents[2]
# m, n, k. At least a wave of workgroups for the largest tiles (4 cores x 8 workgroups of 128 x 128); the second differs
# in k alone, from which the model scales; the third tells how well that does.
SIZES = ((1024, 512, 512), (1024, 512, 1024), (2048, 512, 512))
OWN_TYPES = ("q4_K", "q6_K")
# Name, published t/s, layers, what rockfill-synth is to make of one layer, options of llama-bench, tokens. Qwen3 0.6B
# has heads of 128 and 16 of them on 1024: rockfill-synth's Qwen2 cannot, so its attention is half as wide here.
LLAMA = ("--embd", 2048, "--ff", 8192, "--heads", 32, "--heads-kv", 8, "--vocab", 128256, "--mix", "q4_1")
QWEN3 = ("--embd", 1024, "--ff", 3072, "--heads", 16, "--heads-kv", 8, "--vocab", 151936, "--mix", "q4_0")
GRAPHS = (
    ("llama-3.2-1b q4_1, generation", 3.6, 16, LLAMA, ("-p", 0, "-n", 1, "-fa", 1), 1),
    ("qwen3-0.6b q4_0, generation", 5.7, 28, QWEN3, ("-p", 0, "-n", 1, "-fa", 0), 1),
    ("qwen3-0.6b q4_0, prompt of 16", 3.3, 28, QWEN3, ("-p", 16, "-n", 0, "-fa", 0), 16),
)


class Bench:
    def __init__(self, args):
        self.args, self.build = args, args.build
        self.programs = args.build / "sim" / "arm64" / "bin"

    def environment(self, report, options, knobs):
        env = {key: value for key, value in os.environ.items() if not key.startswith(("GGML_", "VK_", "PANTHOR_SIM_"))}
        home = pathlib.Path(env.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
        env.setdefault("ROCKFILL_CACHE", str(home / "rockfill"))
        env.setdefault("XDG_CACHE_HOME", str(self.build / "sim" / "cache"))
        env["ROCKFILL_SIM_PANTHOR"] = str(self.build / "sim" / "libpanthor-sim.so")
        env["PANTHOR_SIM_EXEC"] = str(self.args.mali_exec or self.build / "bin" / "mali-exec")
        env["PANTHOR_SIM_EXEC_OPTIONS"] = " ".join(["--count", "--report", str(report), *options, *self.args.exec_options])
        return {**env, **{key: str(value) for key, value in knobs.items()}}

    def run(self, words, variant="backports", options=(), **knobs):
        """mali-exec's report of an arm64 program's run."""
        with tempfile.TemporaryDirectory() as folder:
            report = pathlib.Path(folder) / "report.json"
            command = ["sh", ROOT / "sim" / "userland" / "run.sh", "--variant", variant, *words]
            done = subprocess.run(list(map(str, command)), capture_output=True, text=True,
                                  env=self.environment(report, options, knobs))
            result = json.loads(report.read_text()) if report.exists() else {}
        if done.returncode != 0 or not result or result["faults"]:
            sys.exit(f"counts.py: {words[0]}: status {done.returncode}: {(done.stderr or done.stdout).strip()[-500:]}")
        return result


def entries(args):
    """The list's lines, without their dumps."""
    for line in (args.dumps / "list.txt").read_text().splitlines():
        words = line.split()
        yield f"point {words[1]} {words[3]}" if words[0] == "point" else " ".join(words[:-1])


def names(bench):
    catalogue, result = dumps.catalogue_read(bench.build / "bin" / "rockfill-catalogue"), {}
    dump = bench.args.sm_dump or bench.build / "sim" / "dump" / "sm-dump"
    for entry in entries(bench.args):
        if entry.startswith("point "):
            continue
        name = dumps.catalogue_name(entry)
        spec = [word for i, value in enumerate(catalogue[name][1]) for word in ("--spec", f"{i}={value}")]
        report = bench.run([dump, *spec, "--empty", bench.args.dumps / f"{name}.spv"])
        result[report["kernels"][0]["hash"]] = entry
    return result


def divided(value, times):
    """A kernel's counts divided; what describes the kernel stays."""
    kept = ("registers", "group_threads", "occupancy", "stack_bytes", "shared_bytes_a_group", "instructions")
    return {key: divided(part, times) if isinstance(part, dict)
            else part / times if isinstance(part, (int, float)) and key not in kept else part for key, part in value.items()}


def point_run(bench, name, form, spec, size):
    """A product in a tile of the rival, by mx-shade. Binding 1 is large enough for fp32 columns and for q8_1."""
    m, n, k = size
    with tempfile.TemporaryDirectory() as folder:
        push, listing = pathlib.Path(folder) / "push", pathlib.Path(folder) / "list"
        # M, N, K, strides of a, b, d, of their batches, first batch, batches, k of a split, and broadcasting: none.
        push.write_bytes(struct.pack("<16I", m, n, k, k, k, m, m * k, n * k, m * n, 0, 1, k, 1, 1, 1, 1))
        words = [name, str(bench.args.dumps / f"{name}_{form}.spv"), f"grid={-(-m // spec[1])},{-(-n // spec[2])},1", f"push=64:{push}",
                 *(f"spec={i}:{value}" for i, value in enumerate(spec)),
                 f"storage=0:0:{m * k // 256 * 210}:-:-", f"storage=0:1:{n * k * 4}:-:-", f"storage=0:2:{m * n * 4}:-:-"]
        listing.write_text(" ".join(words) + "\n")
        report = bench.run([bench.args.mx_shade or bench.programs / "mx-shade", listing])
    return {"entry": f"point {name} {form}", "m": m, "n": n, "k": k, "kernel": report["kernels"][0]}


def own_runs(bench, path, form, size, names_file):
    """The kernels of a product that the library makes, which are named."""
    m, n, k = size
    library = bench.build / "sim" / "arm64" / "libggml-rockfill.so"
    report = bench.run([bench.programs / "rockfill-products", "--library", library, "--repeats", 1, f"{form}:{m}:{n}:{k}"],
                       options=("--names", str(names_file)), GGML_ROCKFILL_PATH=path,
                       ROCKFILL_SIM_LIBRARIES=bench.build / "deps" / "llama-arm64" / "lib")
    for kernel in (kernel for kernel in report["kernels"] if kernel["name"]):
        entry = kernel["name"]
        role, *tile = entry.split()
        times = kernel["dispatches"]
        if role == "tile":  # a product may be cut into several dispatches
            lanes, tm, tn = map(int, tile[1:4])
            times = kernel["groups"] / (-(-m // tm) * -(-n // (lanes * tn)))
            yield {"entry": f"point rockfill-{path} {form}", "m": m, "n": n, "k": k, "kernel": divided(kernel, times)}
        yield {"entry": entry, "m": m, "n": n, "k": k, "kernel": divided(kernel, times)}


def runs(bench):
    wanted = lambda text: not bench.args.text or any(word in text for word in bench.args.text)
    result = []
    for name, _, form, _, spec, _, _ in dumps.POINTS:
        for size in SIZES if wanted(f"point {name} {form}") else ():
            print(f"point {name} {form} {size}", file=sys.stderr, flush=True)
            result.append(point_run(bench, name, form, spec, size))
    if not wanted("own"):
        return {"runs": result}
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(names(bench), file)
        file.flush()
        for path in dumps.PATHS:
            for form in OWN_TYPES:
                for size in SIZES:
                    print(f"{path} {form} {size}", file=sys.stderr, flush=True)
                    result += own_runs(bench, path, form, size, file.name)
    return {"runs": result}


def minus(after, before, share):
    """What the kernels of one report did more than those of another, times `share`."""
    old = {kernel["hash"]: kernel for kernel in before["kernels"]}

    def difference(a, b):
        return {key: difference(part, b.get(key, {})) if isinstance(part, dict)
                else (part - b.get(key, 0)) * share if isinstance(part, int) and key not in ("registers", "group_threads", "instructions")
                else part for key, part in a.items()}

    kernels = [difference(kernel, old.get(kernel["hash"], {})) for kernel in after["kernels"]]
    return {"kernels": [kernel for kernel in kernels if kernel["warp_instructions"] > 0]}


def repetition(bench, model, words):
    """The counts of one repetition of llama-bench: three less one, so that loading the model drops out."""
    root = pathlib.Path(subprocess.run(["sh", ROOT / "sim" / "userland" / "setup.sh", "--variant", "rival"], check=True,
                                       capture_output=True, text=True).stdout.strip())
    reports = [bench.run([root / "usr" / "bin" / "llama-bench", "-m", model, *words, "-r", times, "-t", 2, "--no-warmup", "-ngl", 99],
                         variant="rival", GGML_VK_VISIBLE_DEVICES=0) for times in (1, 3)]
    return minus(reports[1], reports[0], 0.5)


def seconds(bench, report):
    """Modelled, summed over the kernels; and the kernels' rows."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(report, file)
        file.flush()
        done = subprocess.run([bench.args.sim_model or bench.build / "bin" / "sim-model", "report", file.name], check=True,
                              capture_output=True, text=True)
    rows = json.loads(done.stdout)
    return sum(row["total_s"] for row in rows), rows


def graphs(bench):
    result = []
    for name, published, layers, shape, words, tokens in GRAPHS:
        parts = []
        for count in (1, 2):
            with tempfile.NamedTemporaryFile(suffix=".gguf") as model:
                subprocess.run([bench.build / "bin" / "rockfill-synth", "--layers", str(count), *map(str, shape), "--vocab-kind", "none", "-o", model.name],
                               check=True, stdout=subprocess.DEVNULL)
                parts.append(repetition(bench, model.name, words))
        one, (two, rows) = seconds(bench, parts[0])[0], seconds(bench, parts[1])
        total = one + (layers - 1) * (two - one)
        dispatches = [sum(kernel["dispatches"] for kernel in part["kernels"]) for part in parts]
        result.append({"name": name, "published_tps": published, "modelled_tps": tokens / total, "ratio": published * total / tokens,
                       "layer_s": two - one, "rest_s": 2 * one - two, "dispatches": dispatches[0] + (layers - 1) * (dispatches[1] - dispatches[0]),
                       "two_layers": rows, "kernels": parts[1]["kernels"]})
        print(json.dumps({key: value for key, value in result[-1].items() if key not in ("two_layers", "kernels")}), file=sys.stderr, flush=True)
    return {"graphs": result}


def main():
    parser = argparse.ArgumentParser(usage=re.split(r"\n\n", __doc__)[1].removeprefix("usage: "))
    parser.add_argument("what", choices=("names", "runs", "graphs"))
    parser.add_argument("--only", action="append", default=[], dest="text")
    parser.add_argument("--build", default=ROOT / "build", type=pathlib.Path)
    parser.add_argument("--dumps", type=pathlib.Path)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--stacks-apart", action="store_const", const=["--stacks-apart"], default=[], dest="exec_options")
    for program in ("mali-exec", "mx-shade", "sm-dump", "sim-model"):
        parser.add_argument(f"--{program}", type=pathlib.Path)
    args = parser.parse_args()
    args.build = args.build.resolve()
    args.dumps = args.dumps or next(iter(sorted((args.build / "sim").glob("dumps-26.1*"))), None)
    if args.dumps is None:
        sys.exit("counts.py: no dumps: make sim makes them")
    result = {"names": names, "runs": runs, "graphs": graphs}[args.what](Bench(args))
    args.out.write_text(json.dumps(result, indent=1) + "\n")
    print(args.out)


if __name__ == "__main__":
    main()
