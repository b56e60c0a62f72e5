# SPDX-License-Identifier: MIT
"""How the library is built: size, symbols, dependencies, compilers, format, sanitizers, the validation layer."""

import re

from harness import ROOT, Test, check


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
    border = {"border.h", "backend_ggml.c", "buffer_ggml.c", "device_ggml.c", "ops_ggml.c", "plugin.c"}
    pure = {"cachefile", "env", "format", "routing", "split", "tile", "product"}
    sources = sorted((ROOT / "src").glob("*.[ch]"))
    check(len(sources) > 20, "the sources are not where they were")
    for path in sources:
        included = re.findall(r'#include\s+[<"]([^>"]+)[>"]', path.read_text())
        knows_ggml = any(name.startswith(("ggml", "llama", "gguf")) or name == "border.h" for name in included)
        check(not knows_ggml or path.name in border, f"{path.name} includes ggml's headers")
        knows_vulkan = any(name.startswith("vulkan") or name in ("vk.h", "device.h", "adapter.h") for name in included)
        check(not knows_vulkan or path.stem not in pure, f"{path.name} includes Vulkan's headers")


def tests():
    return [Test("library-size", size), Test("exported-symbols", symbols), Test("needed-libraries", needed),
            Test("dependency-rule", borders)]
