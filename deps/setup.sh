#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Sets up what rockfill's build, tests and demo need: Debian packages, llama.cpp (libraries, headers, programs), the
# stock Vulkan backend to compare with, and two small models. Downloads are pinned in pins.txt and kept in a cache
# outside the repository; build/deps/ gets links into it. See usage() below.
#
# Every finished thing appears in the cache by one rename, so a run can be interrupted anywhere and repeated; a run
# that finds everything takes no lock, needs no network and prints nothing.
#
# shellcheck source-path=SCRIPTDIR
set -eu

deps_dir=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
repo_dir=$(dirname -- "$deps_dir")
pins=$deps_dir/pins.txt
cache=${ROCKFILL_CACHE:-${XDG_CACHE_HOME:-${HOME:?set HOME or ROCKFILL_CACHE}/.cache}/rockfill}
case $cache in
/*) ;;
*) cache=$PWD/$cache ;;
esac
links=$repo_dir/build/deps

# What a surrounding make or git hook exports for its own work must not shape ours.
unset MAKEFLAGS MFLAGS CFLAGS CXXFLAGS LDFLAGS GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE

. "$deps_dir/report.sh"
. "$deps_dir/cache.sh"
. "$deps_dir/packages.sh"
. "$deps_dir/downloads.sh"
. "$deps_dir/llama.sh"
. "$deps_dir/models.sh"

usage() {
    cat <<END
usage: deps/setup.sh [--packages] [--llama] [--rival] [--models] [--arm64] [--verify]

Sets up what rockfill builds and tests with. Without options: everything that this machine can have.
  --packages  Debian packages: compilers, shader tools, Vulkan (if some are missing, root or sudo is needed)
  --llama     llama.cpp's libraries, headers and programs -> build/deps/llama
  --rival     the same programs over the stock Vulkan backend (x86-64 only) -> build/deps/rival
  --models    SmolLM2-135M-Instruct Q4_1 and Gemma 3 270M Q4_K_M -> build/deps/models
  --arm64     llama.cpp's libraries and programs for arm64, cross-built, and nothing else -> build/deps/llama-arm64
  --verify    first compare every cached download and model with its checksum, and remove the damaged ones
  --help      this text

Cache: $cache
ROCKFILL_CACHE names another folder. Once it is filled, no network is needed; it can be removed at any time.
Downloads go through npm and pip with the settings that they have on this machine. A machine without network can be
served by hand: put the npm and pypi files of deps/pins.txt into the folder downloads/ of the cache.
END
}

want_packages='' want_llama='' want_rival='' want_models='' want_verify='' want_arm64=''
parse_options() {
    for option in "$@"; do
        case $option in
        --packages) want_packages=yes ;;
        --llama) want_llama=yes ;;
        --rival) want_rival=yes ;;
        --models) want_models=yes ;;
        --arm64) want_arm64=yes ;;
        --verify) want_verify=yes ;;
        --help | -h)
            usage
            exit 0
            ;;
        *) die "unknown option '$option'; --help lists the options" ;;
        esac
    done
    if [ -n "$want_arm64" ]; then
        if [ -n "$want_packages$want_llama$want_rival$want_models" ]; then die "--arm64 goes with --verify alone"; fi
        want_llama=yes
        if [ "$arch" != arm64 ]; then cross=-arm64 arch=arm64; fi
    fi
    if [ -z "$want_packages$want_llama$want_rival$want_models" ]; then
        want_packages=yes want_llama=yes want_models=yes
        # The default is what there is; asking for the rival elsewhere is refused in llama_check.
        if [ "$arch" = x64 ]; then want_rival=yes; fi
    fi
}

# Prints the groups of pins.txt that are needed to make what is wanted and not yet in the cache.
groups_missing() {
    if [ -n "$want_llama$want_rival" ] && [ ! -d "$llama_tree" ]; then echo llama "llama-$arch"; fi
    if [ -n "$want_rival" ] && [ ! -d "$rival_tree" ]; then echo "rival-$arch"; fi
    if [ -n "$want_models" ]; then
        if ! models_is_ready smollm2; then echo smollm2; fi
        if ! models_is_ready gemma; then echo gemma-terms gemma; fi
    fi
}

# Makes what is missing. The list is asked for again: another run may have made it while this one waited.
make_missing() {
    cache_lock
    groups=$(groups_missing)
    downloads_fetch_groups "$groups"
    for group in $groups; do
        case $group in
        "llama-$arch") llama_make ;;
        "rival-$arch") llama_make_rival ;;
        smollm2) models_make_smollm2 ;;
        gemma) models_make_gemma ;;
        esac
    done
    cache_unlock
}

arch=$(llama_arch) cross=''
parse_options "$@"
if [ -n "$want_llama$want_rival" ]; then llama_check; fi
if [ -n "$want_verify" ]; then cache_verify; fi

groups=$(groups_missing)
packages_install "$groups"
if [ -n "$groups" ]; then make_missing; fi

if [ -n "$want_llama" ]; then cache_link "$llama_tree" "llama$cross"; fi
if [ -n "$want_rival" ]; then cache_link "$rival_tree" rival; fi
if [ -n "$want_models" ]; then cache_link "$cache/models" models; fi
