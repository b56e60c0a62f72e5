# SPDX-License-Identifier: MIT
"""What upstream's test-backend-ops prints, a case a line, read."""

import re

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
CASE = re.compile(r"^\s*([A-Z][A-Z0-9_]*)\((.*)\): (.*)$")


def read(text, op):
    """The parameters of the cases that the device claimed, and those that failed with what was said of them."""
    claimed, failed = [], []
    for line in COLOUR.sub("", text).splitlines():
        match = CASE.match(line)
        if match and match.group(1) == op and "not supported" not in match.group(3):
            claimed.append(match.group(2))
            if match.group(3).strip() != "OK":
                failed.append(f"{match.group(2)}: {match.group(3)}")
    return claimed, failed


def summary(text):
    """(passed, of) as the program itself counted; None when it did not get to its end."""
    match = re.search(r"(\d+)/(\d+) tests passed", COLOUR.sub("", text))
    return (int(match.group(1)), int(match.group(2))) if match else None
