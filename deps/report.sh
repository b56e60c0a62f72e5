# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# Messages of deps/setup.sh, all on stderr.

say() {
    printf 'deps: %s\n' "$*" >&2
}

# One line: what happened, to what, and what to do about it.
die() {
    printf 'deps: error: %s\n' "$*" >&2
    exit 1
}

# The same for what this machine cannot have just now: no network, no rights. Tests that need it are skipped then.
cannot() {
    printf 'deps: error: %s\n' "$*" >&2
    exit 3
}

# Prints a number of bytes as MiB, rounded up, for people.
mib() {
    echo "$((($1 + 1048575) / 1048576)) MiB"
}
