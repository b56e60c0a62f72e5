#!/bin/sh
# SPDX-License-Identifier: MIT
#
# usage: sim/userland/run.sh [--variant NAME] PROGRAM ARGUMENTS...
#
# Runs an arm64 program on the simulated Mali: in the userland that setup.sh made, under the emulator, with the stock Mesa
# driver over the simulated panthor. A PROGRAM without a slash is the userland's own. The environment is the program's,
# apart from:
#   ROCKFILL_SIM_PANTHOR    the simulated kernel driver (default: build/sim/libpanthor-sim.so)
#   ROCKFILL_SIM_LIBRARIES  folders of arm64 libraries to look in first
# On an arm64 machine with a panthor device of its own, the program runs on that (untested: nobody here has one).
# shellcheck source-path=SCRIPTDIR
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
. "$here/report.sh"
usage() {
    echo "usage: sim/userland/run.sh [--variant NAME] PROGRAM ARGUMENTS..."
}

variant=backports
if [ "${1:-}" = --variant ] && [ $# -gt 1 ]; then
    variant=$2
    shift 2
fi
case ${1:-} in
--help | -h)
    usage
    exit 0
    ;;
'' | -*)
    usage >&2
    exit 2
    ;;
esac

has_panthor() {
    for driver in /sys/class/drm/renderD*/device/driver; do
        case $(readlink -f "$driver") in */panthor) return 0 ;; esac
    done
    return 1
}
if [ "$(uname -m)" = aarch64 ] && has_panthor; then
    # An empty element would be the current folder.
    libraries=${ROCKFILL_SIM_LIBRARIES:-}${ROCKFILL_SIM_LIBRARIES:+${LD_LIBRARY_PATH:+:}}${LD_LIBRARY_PATH:-}
    LD_LIBRARY_PATH=$libraries exec "$@"
fi

root=$(sh "$here/setup.sh" --variant "$variant")
panthor=${ROCKFILL_SIM_PANTHOR:-$here/../../build/sim/libpanthor-sim.so}
[ -e "$panthor" ] || die "no simulated driver at $panthor: make sim builds it"
icd=$(find "$root/usr/share/vulkan/icd.d" -name 'panfrost_icd*.json' | head -n 1)
case $1 in
*/*) program=$1 ;;
*) program=$root/usr/bin/$1 ;;
esac
shift
[ -e "$program" ] || die "no program at $program"
libraries=${ROCKFILL_SIM_LIBRARIES:+$ROCKFILL_SIM_LIBRARIES:}$root/usr/lib/aarch64-linux-gnu
if [ "$(uname -m)" = aarch64 ]; then
    LD_PRELOAD=$panthor VK_DRIVER_FILES=$icd LD_LIBRARY_PATH=$libraries exec "$program" "$@"
fi
# The board's big core: with the emulator's default one, ggml takes a CPU variant that it does not emulate.
QEMU_CPU=${QEMU_CPU:-cortex-a76} exec "$(dirname "$(dirname "$root")")/emulator/usr/bin/qemu-aarch64" -L "$root" \
    -E LD_PRELOAD="$panthor" -E VK_DRIVER_FILES="$icd" -E LD_LIBRARY_PATH="$libraries" "$program" "$@"
