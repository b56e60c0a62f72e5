# SPDX-License-Identifier: MIT
"""What every measurement file begins with (docs/measurements.md)."""

import datetime
import os
import pathlib
import platform
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent


def commit():
    git = subprocess.run(["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=12", "--exclude", "*"],
                         capture_output=True, text=True)
    return git.stdout.strip() or "unknown"


def host():
    cpu = re.search(r"^model name\s*:\s*(.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
    board = pathlib.Path("/proc/device-tree/model")
    name = cpu.group(1) if cpu else board.read_text().strip("\0\n") if board.exists() else "unknown"
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
    return {"system": f"{platform.system()} {platform.release()}", "machine": platform.machine(), "cpu": name,
            "cores": len(os.sched_getaffinity(0)), "memory_mib": memory}


def header():
    date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {"version": 1, "commit": commit(), "date": date, "host": host()}
