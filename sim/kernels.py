# SPDX-License-Identifier: MIT
"""rockfill's pipelines through the stock Mali compiler: statistics and final assembly, one record a pipeline."""

import json
import pathlib
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
            "instructions": loops["stated_instructions"], "unknown_instructions": loops["unknown"],
            "compile_ms": compile_ms}


def compile_all(command, env, catalogue, model, spirv_folder, paths):
    """Compiles the pipelines that `catalogue` lists with `command` (sm-dump in the userland), as far as they are of the
    arithmetic `paths` that the device takes; yields their records."""
    for name, (spirv, spec) in dumps.catalogue_read(catalogue).items():
        if not any(f"_{path}" in name for path in paths) and not (name == "selftest" and "int8" in paths):
            continue
        begin = time.monotonic()
        try:
            dump = dumps.compiled(command, dumps.own_spirv(pathlib.Path(spirv_folder), spirv), spec, 64, env)
            yield record(model, name, spec, dump, round((time.monotonic() - begin) * 1e3))
        except dumps.CompileError as error:
            yield {"name": name, "error": str(error)}
