# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# Messages of this folder's scripts, all on stderr.

say() { printf 'sim: %s\n' "$*" >&2; }

# One line: what happened, to what, and what to do about it.
die() {
    printf 'sim: error: %s\n' "$*" >&2
    exit 1
}

# The same for what this machine cannot have just now: no network, no apt, or the archive lacks something.
cannot() {
    printf 'sim: cannot be had here: %s\n' "$*" >&2
    exit 3
}
