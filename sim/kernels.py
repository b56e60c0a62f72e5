# SPDX-License-Identifier: MIT
"""rockfill's pipelines through the stock Mali compiler: statistics and final assembly, one record a pipeline."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "model"))
import dumps  # noqa: E402


def local_size(name, spec):
    """Shape of a workgroup, which the assembly does not tell: the tile's lanes, or what the shader fixes."""
    if name.startswith("tile_"):
        return spec[0]
    return {"columns": "16,4", "unpack": "8,8", "selftest": "16"}[name.split("_")[0]]


def statistic(text, name):
    found = re.search(rf"^ *{name} (\d+)$", text, re.M)
    return int(found.group(1)) if found else None


def record(model, name, spec, dump, compile_ms):
    """A kernels[] entry of sim.json; the loop is the one with the most work."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(dump)
        file.flush()
        loops = json.loads(subprocess.run([model, "loops", "--local", local_size(name, spec), file.name], check=True,
                                          capture_output=True, text=True).stdout)
    hot = loops["loops"][loops["hot"]] if loops["loops"] else loops["outside"]
    # Mesa 25.0 does not state spills; what the assembly does with the stack is counted on every driver.
    stack = sum(part["stack"] for part in [loops["outside"], *loops["loops"]])
    return {"name": name, "registers": loops["registers"], "spills": loops["spills"], "fills": loops["fills"],
            "stack_accesses": stack, "stack_bytes": loops["stack_bytes"], "uses_shared": loops["uses_shared"],
            "loop": {unit: hot[unit] for unit in ("fma", "cvt", "sfu", "ls")}, "macs_per_loop": hot["macs_per_loop"],
            "instructions": statistic(dump, "Instructions"), "unknown_instructions": loops["unknown"],
            "compile_ms": compile_ms}


def compile_all(command, env, catalogue, model, spirv_folder, paths):
    """Compiles the pipelines that `catalogue` lists with `command` (sm-dump in the userland), as far as they are of the
    arithmetic `paths` that the device takes; yields their records."""
    lines = subprocess.run([catalogue], check=True, capture_output=True, text=True).stdout.splitlines()
    for line in lines:
        name, spirv, *spec = line.split()
        if not any(f"_{path}" in name for path in paths) and not (name == "selftest" and "int8" in paths):
            continue
        with tempfile.NamedTemporaryFile(suffix=".spv") as file:
            file.write(dumps.own_spirv(pathlib.Path(spirv_folder), spirv))
            file.flush()
            options = [word for i, value in enumerate(spec) for word in ("--spec", f"{i}={value}")]
            begin = time.monotonic()
            done = subprocess.run([*command, *options, "--push", "64", file.name], capture_output=True, text=True, env=env)
            wall_ms = (time.monotonic() - begin) * 1e3
        if done.returncode != 0 or "---- Assembly" not in done.stdout:
            yield {"name": name, "error": (done.stderr.strip().splitlines() or ["no assembly"])[-1]}
        else:
            yield record(model, name, spec, done.stdout, round(wall_ms))
