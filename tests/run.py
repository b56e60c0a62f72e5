#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs all tests, each in processes of its own. `run.py --help` says how."""

import argparse
import json
import os
import pathlib
import platform
import re
import sys
import threading
import time

import suite_build
import suite_devices
import suite_exec
import suite_models
import suite_programs
import suite_sim
import suite_twice
import suite_upstream
from harness import ROOT, Build, Context, Failed, Skipped

sys.path.insert(0, str(ROOT / "bench"))
import record  # noqa: E402

LAVAPIPE = "/usr/share/vulkan/icd.d"


def arguments():
    parser = argparse.ArgumentParser(description="Runs rockfill's tests; writes test.json to BUILD/results and what each "
                                                 "test printed to BUILD/test-logs. Exit status 1 when one failed.")
    parser.add_argument("--build", default="build", type=pathlib.Path, help="the build folder (default: build)")
    parser.add_argument("--filter", action="append", default=[], metavar="TEXT",
                        help="only tests with this in their names; may be repeated; 'fault-05' or '^steady' (a pattern)")
    parser.add_argument("--list", action="store_true", help="only print the tests' names")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), metavar="N",
                        help="tests at once (default: 2, or 1 on one core); those that measure time run alone")
    parser.add_argument("--device", default=os.environ.get("GGML_ROCKFILL_DEVICE", "llvmpipe"),
                        help="the Vulkan device (default: GGML_ROCKFILL_DEVICE, else llvmpipe)")
    return parser.parse_args()


def find_build(options):
    folder = options.build.resolve()
    cache = folder / "CMakeCache.txt"
    if not cache.exists():
        sys.exit(f"error: {folder} is no build folder: run make build, or name another with --build")
    match = re.search(r"^ROCKFILL_LLAMA_DIR:PATH=(.*)$", cache.read_text(), re.M)
    llama = pathlib.Path(match.group(1)) if match else ROOT / "build" / "deps" / "llama"
    driver = ""
    if "llvmpipe" in options.device.lower():
        # Without other drivers the software device is there alone, as on a machine without a GPU.
        found = sorted(pathlib.Path(LAVAPIPE).glob(f"lvp_icd.*{platform.machine()}*.json")) or sorted(
            pathlib.Path(LAVAPIPE).glob("lvp_icd*.json"))
        driver = str(found[0]) if found else ""
    return Build(folder=folder, llama=llama, models=ROOT / "build" / "deps" / "models", device=options.device,
                 driver=driver)


def all_tests(build):
    found = [*suite_upstream.tests(), *suite_programs.tests(build), *suite_devices.tests(), *suite_models.tests(build),
             *suite_twice.tests(), *suite_sim.tests(), *suite_exec.tests(), *suite_build.tests()]
    names = [test.name for test in found]
    assert len(names) == len(set(names)), sorted(name for name in names if names.count(name) > 1)
    return found


class Runner:
    """Runs tests side by side as far as the cores go, and keeps what became of each."""

    def __init__(self, build, jobs):
        self.build, self.cores, self.free = build, jobs, jobs
        self.passed, self.failed, self.skipped = [], [], []
        self.changed = threading.Condition()

    def judge(self, test):
        begin = time.monotonic()
        context = Context(test, self.build)
        try:
            test.run(context)
            outcome, why, kept = "ok", "", self.passed
        except Skipped as skip:
            outcome, why, kept = "skipped", str(skip), self.skipped
        except Failed as failure:
            outcome, why, kept = "FAILED", str(failure), self.failed
        except Exception as error:  # a test that breaks is no reason to leave out the others
            outcome, why, kept = "FAILED", f"the test itself broke: {error!r}", self.failed
        context.log(f"{outcome} {why}")
        seconds = time.monotonic() - begin
        with self.changed:
            kept.append((test, why))
            print(f"{test.name:<48} {outcome:<7} {seconds:7.1f} s{'  ' + why if why else ''}", flush=True)
            if outcome == "FAILED":
                print(f"    see {context.log_path}", flush=True)

    def work(self, test, cores):
        self.judge(test)
        with self.changed:
            self.free += cores
            self.changed.notify_all()

    def run(self, tests):
        threads = []
        # Those that need all cores come last, so that nobody waits for them.
        for test in sorted(tests, key=lambda test: test.cores > 1):
            cores = min(test.cores, self.cores)
            with self.changed:
                self.changed.wait_for(lambda: self.free >= cores)
                self.free -= cores
            thread = threading.Thread(target=self.work, args=(test, cores))
            thread.start()
            threads.append(thread)
        for thread in threads:
            thread.join()


def field_faults(runner):
    """Numbers of the field faults (tests named fault-NN-...) of which every test passed."""
    def numbers(kept):
        return {int(match.group(1)) for test, _ in kept if (match := re.match(r"fault-(\d+)-", test.name))}
    return sorted(numbers(runner.passed) - numbers(runner.failed) - numbers(runner.skipped))


def backend_ops(runner):
    """Upstream's cases: how many the device claimed, and how many of them passed."""
    ops = {}
    for kept, passed in ((runner.passed, True), (runner.failed, False)):
        for test, _ in kept:
            for op, (claimed, good) in test.fields.get("backend_ops", {}).items():
                entry = ops.setdefault(op, {"claimed": 0, "passed": 0})
                entry["claimed"] += claimed
                entry["passed"] += good
    return ops


def write_results(build, runner, whole):
    result = {**record.header(), "passed": len(runner.passed), "failed": len(runner.failed),
        "skipped": [{"name": test.name, "why": why} for test, why in runner.skipped],
        "backend_ops": backend_ops(runner), "field_faults": field_faults(runner),
        "library_bytes": build.library.stat().st_size if build.library.exists() else 0, "device": build.device,
        "complete": whole, "failures": [{"name": test.name, "why": why} for test, why in runner.failed]}
    folder = build.folder / "results"
    folder.mkdir(exist_ok=True)
    beside = folder / f"test.json.{os.getpid()}.tmp"
    beside.write_text(json.dumps(result, indent=2) + "\n")
    beside.rename(folder / "test.json")


def main():
    options = arguments()
    build = find_build(options)
    tests = all_tests(build)
    chosen = [test for test in tests if not options.filter or any(re.search(text, test.name) for text in options.filter)]
    if options.list:
        print("\n".join(test.name for test in chosen))
        return 0
    if not chosen:
        sys.exit("error: no test has such a name; --list shows all")
    runner = Runner(build, max(1, options.jobs))
    runner.run(chosen)
    write_results(build, runner, len(chosen) == len(tests))
    skipped = f", {len(runner.skipped)} skipped" if runner.skipped else ""
    print(f"{len(runner.passed)} passed, {len(runner.failed)} failed{skipped}")
    return 1 if runner.failed else 0


if __name__ == "__main__":
    sys.exit(main())
