# SPDX-License-Identifier: MIT
"""The test programs of this repository: dependencies, the trial layer itself, the library's parts, its operators."""

import re
import subprocess

from harness import ROOT, Failed, Test, check

PATHS = ("int8", "fp16", "fp32")
MODES = ("shared", "imported", "mirrored")


def dependencies(ctx):
    ctx.run(["sh", ROOT / "deps" / "test.sh"], env=ctx.environment())


def trial_selftest(ctx):
    ctx.run([ctx.build.folder / "trial" / "trial_selftest", ctx.build.folder / "trial"])


def unit(ctx):
    ctx.run([ctx.build.program("rockfill-unit")])


def list_ops(build):
    """The names of rockfill-ops' cases; empty when it cannot be asked, which its tests then say."""
    program = build.folder / "bin" / "rockfill-ops"
    if not program.exists():
        return []
    listed = subprocess.run([str(program), "--library", str(build.library), "--list"], capture_output=True, text=True)
    return [line.split()[0] for line in listed.stdout.splitlines() if line.strip()]


def ops(name, words, env, limit_s=300):
    def body(ctx):
        # That nothing was refused silently is the program's business; that something ran is asked for here.
        ctx.run([ctx.build.program("rockfill-ops"), "--library", ctx.build.library, "--min-cases", "1", *words],
                env=ctx.environment(GGML_ROCKFILL_MIN_BATCH="1", **env))

    return Test(name, body, limit_s=limit_s)


TYPE = re.compile(r"-(?=(?:f32|f16|bf16|i?q\d_\w+|mxfp4|routed)(?:-|$))")


def fault_groups(names):
    """What the cases of each field fault have in common: fault-NN-some-words, up to the weights' type."""
    heads = {TYPE.split(name)[0] for name in names if re.match(r"fault-\d\d-", name)}
    # rockfill-ops filters by parts of names: a longer head belongs to the shorter one's cases.
    return sorted(head for head in heads if not any(head != other and head.startswith(other) for other in heads))


def tests(build):
    found = [Test("dependencies", dependencies, limit_s=120), Test("trial-selftest", trial_selftest, limit_s=180),
             Test("unit", unit)]
    names = list_ops(build)
    if not names:
        def missing(ctx):
            raise Failed("rockfill-ops lists no cases: the build is not complete")
        found.append(Test("ops", missing))
    for group in fault_groups(names):
        for path in PATHS:
            found.append(ops(f"{group}-{path}", ["--filter", group, "--runs", "100"], {"GGML_ROCKFILL_PATH": path}))
    # The faults ran above; rockfill-ops takes 16 filters at most.
    others = sorted({name.split("-")[0] for name in names if not name.startswith("fault-")})
    halves = [[word for head in others[start::2] for word in ("--filter", head)] for start in (0, 1)]
    for half, filters in enumerate(halves, 1):
        for path in PATHS:
            found.append(ops(f"ops-{path}-{half}", ["--runs", "5", *filters], {"GGML_ROCKFILL_PATH": path}))
        for mode in MODES:
            found.append(ops(f"ops-{mode}-{half}", ["--runs", "3", *filters], {"GGML_ROCKFILL_MEMORY": mode}))
    return found
