# SPDX-License-Identifier: MIT
"""What every test needs: programs run with a time limit, their output kept, bad devices, and one way to fail.

A test is a function that gets a Context. It fails by raising Failed (or any other exception), is skipped by raising
Skipped, and passes otherwise. Whatever is tested runs in processes of its own.
"""

import dataclasses
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Nothing of the caller's environment may decide a test.
FOREIGN = re.compile(r"^(GGML_|LLAMA_|TRIAL_|VK_|LP_|LD_PRELOAD$|OMP_|XDG_CACHE_HOME$|NODEVICE_SELECT$|[ATUL]*SAN_OPTIONS$)")


class Failed(Exception):
    pass


class Skipped(Exception):
    pass


@dataclasses.dataclass
class Test:
    name: str
    run: object  # called with a Context
    limit_s: float = 60  # for all of it, on a machine of two slow cores that does other work, too
    cores: int = 1  # that it keeps busy; ALONE where time is measured
    fields: dict = dataclasses.field(default_factory=dict)  # what a passed test adds to test.json


ALONE = 99


@dataclasses.dataclass
class Run:
    """A program that has ended."""

    status: int  # negative: the signal that ended it
    out: str
    err: str
    seconds: float

    def lines(self, start="rockfill: "):
        """What the plug-in said."""
        return [line for line in self.err.splitlines() if line.startswith(start)]

    def events(self, name):
        """The fields of all lines `name key=value ...` that rockfill-scenario printed."""
        found = []
        for line in self.out.splitlines():
            words = line.split()
            if words and words[0] == name:
                found.append(dict(word.split("=", 1) for word in words[1:] if "=" in word))
        return found


@dataclasses.dataclass
class Build:
    """Where things are."""

    folder: pathlib.Path
    llama: pathlib.Path
    models: pathlib.Path
    device: str  # GGML_ROCKFILL_DEVICE
    driver: str  # VK_DRIVER_FILES, or empty: the system's own choice

    @property
    def library(self):
        return self.folder / "libggml-rockfill.so"

    def program(self, name):
        path = self.folder / "bin" / name
        if not path.exists():
            raise Failed(f"{path} is missing: the build is not complete")
        return path

    def llama_program(self, name):
        for folder in (self.llama / "bin", self.llama / "build" / "bin"):
            if (folder / name).exists():
                return folder / name
        raise Failed(f"no {name} in {self.llama}")


class Context:
    """One run of one test."""

    def __init__(self, test, build):
        self.test, self.build = test, build
        self.deadline = time.monotonic() + test.limit_s
        safe = re.sub(r"[^\w.-]", "_", test.name)
        self.log_path = build.folder / "test-logs" / f"{safe}.log"
        self.log_path.parent.mkdir(parents=True, exist_ok=True)
        self.log_path.write_text("")
        # Files that a test leaves, beside the log for whoever looks into a failure.
        self.scratch = build.folder / "test-logs" / f"{safe}.files"
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.scratch.mkdir()

    def log(self, text):
        with self.log_path.open("a", errors="replace") as file:
            file.write(text if text.endswith("\n") else text + "\n")

    def environment(self, **changes):
        """The tests' own, with `changes`; a value of None removes a variable."""
        env = {key: value for key, value in os.environ.items() if not FOREIGN.match(key)}
        cache = self.build.folder / "test-cache"
        cache.mkdir(exist_ok=True)
        env.update(GGML_ROCKFILL_DEVICE=self.build.device, XDG_CACHE_HOME=str(cache), NODEVICE_SELECT="1")
        if self.build.driver:
            env["VK_DRIVER_FILES"] = self.build.driver
        for key, value in changes.items():
            if value is None:
                env.pop(key, None)
            else:
                env[key] = str(value)
        return env

    def run(self, argv, env=None, expect=(0,), limit_s=None, cwd=None):
        """Runs a program; fails when it ends in another way than `expect` (None: any but a signal)."""
        argv = [str(word) for word in argv]
        env = env if env is not None else self.environment()
        changed = " ".join(f"{key}={value}" for key, value in sorted(env.items())
                           if FOREIGN.match(key) or os.environ.get(key) != value)
        self.log(f"$ {changed} {' '.join(argv)}")
        left = self.deadline - time.monotonic()
        begin = time.monotonic()
        with subprocess.Popen(argv, env=env, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True) as process:
            late = False
            try:
                out, err = process.communicate(timeout=max(0.1, min(left, limit_s or left)))
            except subprocess.TimeoutExpired:
                late = True
                # The process leads a group of its own: nothing else is in it.
                os.killpg(process.pid, signal.SIGKILL)
                out, err = process.communicate()
        run = Run(process.returncode, out, err, time.monotonic() - begin)
        self.log(f"{out}{err}[status {run.status}, {run.seconds:.2f} s]\n")
        name = pathlib.Path(argv[0]).name
        if late:
            raise Failed(f"{name} ran longer than {run.seconds:.0f} s")
        if run.status < 0 or (expect is not None and run.status not in expect):
            how = f"signal {-run.status}" if run.status < 0 else f"status {run.status}"
            raise Failed(f"{name} ended with {how}: {last_line(err) or last_line(out)}")
        return run

    # ---- bad devices ----

    def trial(self, validation=False, **knobs):
        """Environment for a device with the trial layer's knobs (TRIAL_ left out) in front of it."""
        layers, folders = ["VK_LAYER_ROCKFILL_trial"], [str(self.build.folder / "trial")]
        if validation:
            # Stacked in this order, whatever that of the layers' names: see tests/trial/README.md.
            layers.insert(0, "VK_LAYER_KHRONOS_validation")
            folders.insert(0, validation_folder())
        return dict(VK_INSTANCE_LAYERS=":".join(layers), VK_LAYER_PATH=":".join(folders),
                    **{f"TRIAL_{key}": value for key, value in knobs.items()})

    def scenario(self, act, env=None, expect=(0,), limit_s=None, trial=None, **keys):
        """Runs rockfill-scenario, with the trial layer when `trial` is given. Returns the Run; with a trial layer it has
        the layer's log as `run.trial`, and the program must have made no fault that the layer knows."""
        changes = dict(env or {})
        log = self.scratch / "trial.json"
        if trial is not None:
            log.unlink(missing_ok=True)
            changes = {**self.trial(LOG=log, **trial), **changes}
        words = [f"{key}={value}" for key, value in keys.items()]
        run = self.run([self.build.program("rockfill-scenario"), act, f"library={self.build.library}", *words],
                       env=self.environment(**changes), expect=expect, limit_s=limit_s)
        run.trial = json.loads(log.read_text()) if log.exists() else None
        if trial is not None:
            check(run.trial is not None, "the trial layer was not in the way: it wrote no log")
            check(run.trial["faulted"] == 0, f"the trial layer saw: {run.trial['faults'][:3]}")
        return run


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip()[:200] if lines else ""


def check(condition, message):
    if not condition:
        raise Failed(message)


def validation_folder():
    """Where the validation layer's manifest lies."""
    for folder in ("/usr/share/vulkan/explicit_layer.d", "/usr/local/share/vulkan/explicit_layer.d",
                   "/etc/vulkan/explicit_layer.d"):
        if list(pathlib.Path(folder).glob("*khronos_validation.json")):
            return folder
    raise Failed("the Vulkan validation layer is missing: install vulkan-validationlayers")


# Said by the validation layer whatever the program does, where its settings ask for information.
VALIDATION_HARMLESS = ("UNASSIGNED-cache-file-error", "UNASSIGNED-CreateInstance-status-message",
                       "UNASSIGNED-khronos-validation-createinstance-status-message")


def validation_silent(run):
    """The validation layer was there (VK_LOADER_DEBUG=layer tells) and had nothing to say."""
    both = run.out + run.err
    check('Insert instance layer "VK_LAYER_KHRONOS_validation"' in both, "the validation layer was not in the way")
    messages = [line for line in re.findall(
        r".*(?:VUID-|UNASSIGNED-|SYNC-HAZARD|Validation Error|Validation Warning).*", both)
        if not any(name in line for name in VALIDATION_HARMLESS)]
    check(not messages, f"{len(messages)} messages, the first: {messages[0][:300] if messages else ''}")


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def memory_available_mib():
    match = re.search(r"MemAvailable:\s+(\d+)", pathlib.Path("/proc/meminfo").read_text())
    return int(match.group(1)) // 1024 if match else 0
