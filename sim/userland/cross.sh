#!/bin/sh
# SPDX-License-Identifier: MIT
#
# usage: sim/userland/cross.sh [--out FOLDER]
#
# Builds rockfill for arm64 in FOLDER (default: build/sim/arm64): the library, and in bin/ its test programs, demo and
# benchmarks. They are for the pinned llama.cpp, whose arm64 libraries and programs deps/setup.sh puts in
# build/deps/llama-arm64. Prints the library's path. Exit status: 3 if something cannot be had here, 1 for other errors.
# shellcheck source-path=SCRIPTDIR
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
repo=$(CDPATH='' cd -- "$here/../.." && pwd)
llama=$repo/build/deps/llama-arm64
. "$here/report.sh"

usage() {
    echo "usage: sim/userland/cross.sh [--out FOLDER]"
}

out=$repo/build/sim/arm64
while [ $# -gt 0 ]; do
    case $1 in
    --out)
        [ -n "${2:-}" ] || die "--out needs a folder"
        out=$2
        shift
        ;;
    --help | -h)
        usage
        exit 0
        ;;
    *) die "unknown option '$1'; $(usage)" ;;
    esac
    shift
done
case $out in
/*) ;;
*) out=$PWD/$out ;;
esac

# quietly COMMAND...: its output matters only if it fails.
quietly() {
    "$@" >"$out/cross.log" 2>&1 || {
        tail -n 20 "$out/cross.log" >&2
        die "the cross build failed; the end of $out/cross.log is above"
    }
}

sh "$repo/deps/setup.sh" --arm64 >&2
# Of backports: unlike unstable's, its headers come without a libc, which would get before the cross compiler's own.
root=$(sh "$here/setup.sh" --variant backports)
jansson=$root/usr/lib/aarch64-linux-gnu/pkgconfig
[ -e "$jansson/jansson.pc" ] ||
    cannot "$root was made before it had jansson: run sim/userland/setup.sh --variant backports --refresh"
for tool in cmake make pkg-config glslangValidator aarch64-linux-gnu-gcc; do
    command -v $tool >/dev/null || cannot "$tool is needed; deps/setup.sh --packages installs it"
done
mkdir -p "$out" || die "cannot write in $out; name another folder with --out"
say "building rockfill for arm64 in $out"
# With an emulator CMake can ask the arm64 libggml for its release. The root's libraries may want a newer libc than the
# cross compiler's: they get it where the programs run.
emulator=''
[ "$(uname -m)" = aarch64 ] || emulator="$(dirname "$(dirname "$root")")/emulator/usr/bin/qemu-aarch64;-L;$root"
PKG_CONFIG_LIBDIR=$jansson PKG_CONFIG_SYSROOT_DIR=$root quietly cmake -S "$repo" -B "$out" \
    -DCMAKE_TOOLCHAIN_FILE="$repo/cmake/aarch64.cmake" -DCMAKE_CROSSCOMPILING_EMULATOR="$emulator" \
    -DROCKFILL_LLAMA_DIR="$llama" -DROCKFILL_PROGRAMS=ON \
    -DTRIAL_VULKAN_LIBRARY="$root/usr/lib/aarch64-linux-gnu/libvulkan.so.1" \
    -DCMAKE_EXE_LINKER_FLAGS=-Wl,--allow-shlib-undefined
quietly cmake --build "$out" --parallel
echo "$out/libggml-rockfill.so"
