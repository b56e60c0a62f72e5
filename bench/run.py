#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make bench: matrix products and whole models, rockfill against the CPU and llama.cpp's own Vulkan backend.

Everything that is compared runs in turn within one run, several times; medians and ratios are printed and written to
build/results/bench.json (fields: docs/measurements.md). On a software rasteriser the ratios say something about the
code, the speeds nothing about any GPU.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys

CASES = [f"{kind}:{m}:512:{k}" for kind in ("q4_K", "q6_K", "q8_0", "q4_0", "f16") for m, k in ((768, 768),)]
GPU_CASES = [f"{kind}:4096:512:4096" for kind in ("q4_K", "q6_K", "q8_0", "q4_0", "f16")] + [
    # Qwen2.5-3B: query and output, key and value, gate and up, down
    f"{kind}:{m}:512:{k}" for m, k in ((2048, 2048), (256, 2048), (11008, 2048), (2048, 11008)) for kind in ("q4_K", "q6_K")]

# name, rockfill-synth shape, prompt tokens for the prefill comparison (0: none), tokens for the decode comparison
MODELS = [("100m-q4_k_m", "100m", 512, 0), ("qwen2.5-0.5b-q4_k_m", "0.5b", 0, 32), ("qwen2.5-1.5b-q4_k_m", "1.5b", 0, 32)]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", help="build folder (default: build)")
    parser.add_argument("--device", default=os.environ.get("GGML_ROCKFILL_DEVICE", "llvmpipe"),
                        help="as GGML_ROCKFILL_DEVICE (default: llvmpipe)")
    parser.add_argument("--repeats", type=int, default=5, help="runs of each program, interleaved (default: 5)")
    parser.add_argument("--prefill-repeats", type=int, default=3, help="the same for prefill, where the stock backend on "
                        "a software rasteriser takes more than a minute a run (default: 3)")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="CPU threads (default: all)")
    parser.add_argument("--gpu", action="store_true", help="the larger products, and prefill of every model")
    parser.add_argument("--no-models", action="store_true", help="products only")
    return parser.parse_args()


class Bench:
    def __init__(self, args):
        self.args = args
        self.build = os.path.abspath(args.build)
        self.library = os.path.join(self.build, "libggml-rockfill.so")
        self.deps = os.path.join(self.build, "deps")
        self.rival = os.path.join(self.deps, "rival", "lib", "libggml-vulkan.so")
        self.has_rival = os.path.exists(self.rival)
        # The stock backend without matrix cores, as on the Mali; it skips software devices unless told otherwise.
        self.environment = dict(os.environ, GGML_VK_DISABLE_COOPMAT="1", GGML_VK_DISABLE_COOPMAT2="1",
                                GGML_VK_VISIBLE_DEVICES="0", GGML_ROCKFILL_DEVICE=args.device)
        self.environment.pop("GGML_BACKEND_PATH", None)

    def products(self):
        path = os.path.join(self.build, "results", "bench.json")
        command = [os.path.join(self.build, "bin", "rockfill-products"), "--library", self.library, "--out", path,
                   "--repeats", str(self.args.repeats)]
        command += ["--rival", self.rival] if self.has_rival else []
        subprocess.run(command + (GPU_CASES if self.args.gpu else CASES), env=self.environment, check=True)
        with open(path, encoding="utf-8") as file:
            return json.load(file)

    def model(self, name, shape):
        path = os.path.join(self.build, "models", name + ".gguf")
        if not os.path.exists(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            subprocess.run([os.path.join(self.build, "bin", "rockfill-synth"), "--shape", shape, "-o", path], check=True)
        return path

    def speed(self, who, model, prompt, tokens, ubatch):
        """Tokens a second of one llama-bench run; who: cpu, rival, rockfill, or rockfill_once (weights kept once)."""
        tree = "rival" if who == "rival" else "llama"
        environment = dict(self.environment)
        if who.startswith("rockfill"):
            environment.update(GGML_BACKEND_PATH=self.library, GGML_ROCKFILL_DEBUG="1",
                               GGML_ROCKFILL_MEMORY="once" if who == "rockfill_once" else "auto")
        command = [os.path.join(self.deps, tree, "bin", "llama-bench"), "-m", model, "-p", str(prompt), "-n",
                   str(tokens), "-ub", str(ubatch), "-r", "1", "--no-warmup", "-t", str(self.args.threads), "-ngl",
                   "0" if who == "cpu" else "99", "-o", "jsonl"]
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        if done.returncode != 0 or len(rows) != 1:
            sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr[-2000:]}")
        for mib in re.findall(r"(\d+) MiB of weights are kept a second time", done.stderr):
            self.twice_mib = int(mib)
        return rows[0]["avg_ts"]

    def compare(self, model, prompt, tokens, ubatch, who):
        samples = {name: [] for name in who}
        for _ in range(self.args.prefill_repeats if prompt else self.args.repeats):
            for name in who:
                samples[name].append(self.speed(name, model, prompt, tokens, ubatch))
        return {name: statistics.median(values) for name, values in samples.items()}

    def models(self):
        rows = []
        for name, shape, prompt, tokens in MODELS:
            path = self.model(name, shape)
            row = {"model": name, "ubatch": 512}
            prompt = 512 if self.args.gpu else prompt
            if prompt:
                who = ["cpu", "rockfill"] + (["rival"] if self.has_rival else [])
                for key, value in self.compare(path, prompt, 0, 512, who).items():
                    row["pp_" + key] = value
            if tokens:
                self.twice_mib = 0
                for key, value in self.compare(path, 0, tokens, 512, ["cpu", "rockfill", "rockfill_once"]).items():
                    row["tg_" + key] = value
                row["twice_mib"] = self.twice_mib
            rows.append(row)
            report(row)
        return rows


def report(row):
    def ratio(a, b):
        return f"{row[a] / row[b]:.2f}x" if a in row and b in row else "-"
    print(f"{row['model']}: prefill of 512 tokens, t/s: " + ", ".join(
        f"{who} {row['pp_' + who]:.1f}" for who in ("cpu", "rival", "rockfill") if "pp_" + who in row)
        + f"; rockfill/rival {ratio('pp_rockfill', 'pp_rival')}" if "pp_cpu" in row else
        f"{row['model']}: decode, t/s: cpu {row['tg_cpu']:.2f}, rockfill {row['tg_rockfill']:.2f}; "
        f"rockfill/cpu {ratio('tg_rockfill', 'tg_cpu')} with {row['twice_mib']} MiB kept twice, "
        f"{ratio('tg_rockfill_once', 'tg_cpu')} with all weights kept once", flush=True)


def main():
    args = arguments()
    bench = Bench(args)
    result = bench.products()
    if not args.no_models:
        result["models"] = bench.models()
    path = os.path.join(bench.build, "results", "bench.json")
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)
    os.replace(path + ".new", path)
    print(path)


main()
