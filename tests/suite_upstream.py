# SPDX-License-Identifier: MIT
"""Upstream's own test-backend-ops, unmodified, on the device."""

import sys

from harness import ALONE, ROOT, Skipped, Test, check, memory_available_mib

sys.path.insert(0, str(ROOT / "sim"))
import backend_ops  # noqa: E402

# These quantise a thousand million weights each, alone in one thread: minutes of processor time and 6 GiB of memory.
LARGE = "m=4096,"
LARGE_MIB = 7000
TYPES = ("f32 f16 bf16 q4_0 q4_1 q5_0 q5_1 q8_0 q2_K q3_K q4_K q5_K q6_K iq4_nl iq4_xs mxfp4").split()


def run_cases(ctx, op, pattern, env):
    """Runs the cases whose parameters match; returns the run, the claimed cases and those that failed."""
    argv = [ctx.build.llama_program("test-backend-ops"), "test", "-b", "ROCKFILL0", "-o", op, "-p", pattern]
    run = ctx.run(argv, env=ctx.environment(GGML_BACKEND_PATH=ctx.build.library, GGML_ROCKFILL_MIN_BATCH="1", **env),
                  expect=None)
    return run, *backend_ops.read(run.out, op)


def upstream(name, op, pattern, least, limit_s, env=None, counts=False, **more):
    def body(ctx):
        if pattern.startswith(LARGE) and memory_available_mib() < LARGE_MIB:
            raise Skipped(f"{LARGE_MIB} MiB of free memory are needed, there are {memory_available_mib()}")
        run, claimed, failed = run_cases(ctx, op, pattern, env or {})
        if counts:
            ctx.test.fields["backend_ops"] = {op: (len(claimed), len(claimed) - len(failed))}
        check(not failed, f"{len(failed)} of {len(claimed)} cases failed: {'; '.join(failed)[:300]}")
        counted = backend_ops.summary(run.out)
        check(counted and run.status == 0, f"test-backend-ops did not get to its end: status {run.status}")
        check(counted == (len(claimed), len(claimed)), f"{op}: {counted} passed, {len(claimed)} were understood")
        check(len(claimed) >= least, f"{len(claimed)} cases were claimed, {least} should be")
        # Failing over to the CPU would pass, too.
        check(not run.lines(), f"the plug-in complained: {run.lines()[:1]}")

    return Test(name, body, limit_s=limit_s, **more)


def tests():
    found = [upstream(f"upstream-mul-mat-id-large-{n}", "MUL_MAT_ID", rf"{LARGE}n={n},", 1, 900, counts=True)
             for n in (16, 32, 64)]
    found.append(upstream("upstream-mul-mat", "MUL_MAT", ".", 400, 900, counts=True, cores=ALONE))
    found.append(upstream("upstream-mul-mat-id", "MUL_MAT_ID", f"^(?!.*{LARGE})", 100, 900, counts=True, cores=ALONE))
    subset = rf"type_a=({'|'.join(TYPES)}),type_b=f32,m=16,n=(1|8|9|16),k=(256|257|1024),bs=\[(1,1|3,2)\]"
    experts = rf"^(?!.*{LARGE}).*type_a=({'|'.join(TYPES)}),.*n_mats=(4|8),n_used=2,b=0,m=(64|512),n=(5|16|32),"
    for path in ("int8", "fp16"):
        env = {"GGML_ROCKFILL_PATH": path}
        found.append(upstream(f"upstream-mul-mat-{path}", "MUL_MAT", subset, 50, 600, env, cores=ALONE))
        found.append(upstream(f"upstream-mul-mat-id-{path}", "MUL_MAT_ID", experts, 16, 600, env, cores=ALONE))
    for mode in ("imported", "mirrored"):
        env = {"GGML_ROCKFILL_MEMORY": mode}
        found.append(upstream(f"upstream-mul-mat-{mode}", "MUL_MAT", subset, 50, 600, env, cores=ALONE))
    return found
