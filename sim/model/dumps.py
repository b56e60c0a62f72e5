#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles the kernels that the speed model needs with the stock Mali compiler and writes the list for sim-model.

usage: dumps.py --sim-model PROGRAM --catalogue PROGRAM --spirv FOLDER --out FOLDER [--rival LIBRARY] -- COMMAND...

COMMAND runs sm-dump (in the simulated Mali's userland); options and a SPIR-V file are appended. FOLDER of --spirv is the
build's spirv/, with glslang's *.spv.h; the catalogue is rockfill-catalogue. LIBRARY is a libggml-vulkan.so with its symbols, such as the one deps/setup.sh makes
of the rival's package: its two published tiles are compiled, too (the large one takes the compiler most of a minute).
Dumps of the same SPIR-V that are there already are kept: give each driver a folder of its own.
"""
import argparse
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

PATHS = ("int8", "fp16", "fp32")
SHAPES = ("0.5b", "1.5b", "3b", "7b")
UBATCHES = (32, 64, 128, 256, 512, 1024)

# Specialisation constants of llama.cpp's matmul shaders (ggml-vulkan.cpp, "warptile"): BLOCK_SIZE, BM, BN, BK, WM, WN,
# WMITER, TM, TN, TK, WARP; of matmul_quant: ALIGNED and ggml's number of the type. Loop trips follow from them and the
# shaders: rows or columns over what a workgroup loads at once, then four steps of 32 k.
LARGE, LARGE_K = (128, 128, 128, 32, 32, 64, 2, 4, 4, 1, 16), (128, 128, 128, 32, 32, 64, 1, 4, 4, 1, 16)
ACC16 = (256, 64, 64, 32, 16, 16, 2, 2, 2, 1, 16)
POINTS = (  # name, published, format, shader, constants, k of a trip of the first loop, trips of the others
    ("large", 5.8, "q4_K", "matmul_q4_k_q8_1", LARGE_K, 128, "4,2,4"),
    ("large", 5.8, "q6_K", "matmul_q6_k_q8_1", LARGE_K, 128, "8,2,4"),
    ("acc16", 28.1, "q4_K", "matmul_q4_k_q8_1", ACC16, 128, "1,1,4"),
    ("acc16", 28.1, "q6_K", "matmul_q6_k_q8_1", ACC16, 128, "2,1,4"),
    ("large-fp16", 5.8, "q4_K", "matmul_quant_f32_f16acc", LARGE + (1, 12), 32, "1"),
    ("acc16-fp16", 28.1, "q4_K", "matmul_quant_f32_f16acc", ACC16 + (1, 12), 32, "1"),
    ("large-fp32", 5.8, "q4_K", "matmul_quant_f32", LARGE + (1, 12), 32, "1"),
    ("acc16-fp32", 28.1, "q4_K", "matmul_quant_f32", ACC16 + (1, 12), 32, "1"),
)


def own_spirv(folder, name):
    """The words of one of glslang's headers."""
    text = (folder / f"{name}.spv.h").read_text()
    words = [int(word, 16) for word in re.findall(r"0x[0-9a-fA-F]+", text.split("{", 1)[1])]
    return struct.pack(f"<{len(words)}I", *words)


def elf_objects(data):
    """Name -> bytes of the data objects in a 64-bit little-endian ELF file that still has its symbol table."""
    if data[:6] != b"\x7fELF\x02\x01":
        sys.exit("dumps.py: --rival is no 64-bit ELF library")
    table, size, count = (struct.unpack_from("<Q", data, 40)[0], *struct.unpack_from("<HH", data, 58))
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, table + i * size) for i in range(count)]
    objects = {}
    for symbols in (s for s in sections if s[1] == 2):  # SHT_SYMTAB
        strings = sections[symbols[6]][4]
        for at in range(symbols[4], symbols[4] + symbols[5], 24):
            name, _, _, section, value, length = struct.unpack_from("<IBBHQQ", data, at)
            if length and 0 < section < count:
                text = data[strings + name:data.index(b"\0", strings + name)].decode(errors="replace")
                start = sections[section][4] + value - sections[section][3]
                objects[text] = data[start:start + length]
    return objects


def catalogue_read(program):
    """Name -> SPIR-V's name and specialisation constants, of every pipeline that rockfill-catalogue lists."""
    lines = subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()
    return {name: (spirv, spec) for name, spirv, *spec in map(str.split, lines)}


def catalogue_name(need):
    """The catalogue's name of a line that `sim-model needs` printed."""
    role, path, *rest = need.split()
    if role == "columns":
        return f"columns_{path}"
    if role == "unpack":
        return f"unpack_{rest[0]}_{path}_{rest[1]}"
    lanes, tm, tn, granules, has_min = rest
    return f"tile_{path}_{lanes}x{tm}x{tn}_g{granules}{'_min' if has_min == '1' else ''}"


class CompileError(Exception):
    """The last line that the compiler's program said."""


def compiled(command, spirv, spec, push, env=None):
    """What sm-dump, which `command` runs, prints of a kernel."""
    with tempfile.NamedTemporaryFile(suffix=".spv") as file:
        file.write(spirv)
        file.flush()
        options = [word for i, value in enumerate(spec) for word in ("--spec", f"{i}={value}")]
        done = subprocess.run([*command, *options, "--push", str(push), file.name], capture_output=True, text=True, env=env)
    if done.returncode != 0 or "---- Assembly" not in done.stdout:
        raise CompileError((done.stderr.strip().splitlines() or ["no assembly in the output"])[-1])
    return done.stdout


def dump(command, out, name, spirv, spec, push):
    path, kernel = out / f"{name}.txt", out / f"{name}.spv"
    if path.exists() and kernel.exists() and kernel.read_bytes() == spirv:
        return path.name
    try:
        path.write_text(compiled(command, spirv, spec, push))
    except CompileError as error:
        sys.exit(f"dumps.py: {name}: {error}")
    kernel.write_bytes(spirv)
    return path.name


def own_lines(args, out):
    catalogue = catalogue_read(args.catalogue)
    lines = []
    for path in PATHS:
        for shape in SHAPES:
            for ubatch in UBATCHES:
                needs = [args.sim_model, "needs", "--shape", shape, "--ubatch", str(ubatch), "--path", path]
                lines += subprocess.run(needs, check=True, capture_output=True, text=True).stdout.splitlines()
    for need in dict.fromkeys(lines):
        name = catalogue_name(need)
        source, spec = catalogue[name]
        yield f"{need} {dump(args.command, out, name, own_spirv(args.spirv, source), spec, 64)}"


def rival_lines(args, out):
    objects = elf_objects(args.rival.read_bytes())
    for name, published, form, shader, spec, k, trips in POINTS:
        if f"{shader}_data" not in objects:
            sys.exit(f"dumps.py: {args.rival} has no symbol {shader}_data: it is stripped, or of another version; take "
                     "the library that deps/setup.sh makes of the rival's package")
        file = dump(args.command, out, f"{name}_{form}", objects[f"{shader}_data"], spec, 128)
        yield f"point {name} {published} {form} {spec[0]} {spec[1]} {spec[2]} {k} {trips} {file}"


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n", 2)[1].removeprefix("usage: "))
    parser.add_argument("--sim-model", required=True)
    parser.add_argument("--catalogue", required=True)
    parser.add_argument("--spirv", required=True, type=pathlib.Path)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--rival", type=pathlib.Path)
    parser.add_argument("command", nargs="+")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    lines = list(own_lines(args, args.out))
    if args.rival:
        lines += rival_lines(args, args.out)
    (args.out / "list.txt").write_text("\n".join(lines) + "\n")
    print(args.out / "list.txt")


if __name__ == "__main__":
    main()
