# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154,SC2015 # globals come from setup.sh; in "A && B || die" either may fail
#
# The cache folder: its lock, scratch space, checksums, and the links into it.
#
#   downloads/         npm and PyPI files, as published
#   llama-*/ rival-*/  finished trees: include/, lib/, bin/
#   models/            GGUF files, with their terms
#   scratch.*/         a run's unfinished work; only the holder of .lock has one

scratch=''

# Takes the lock (one set-up works at a time) and makes an empty scratch folder, removed when the shell ends.
cache_lock() {
    mkdir -p "$cache/downloads" "$cache/models" && : >>"$cache/.lock" ||
        die "cannot write in $cache; name a folder that can be written in ROCKFILL_CACHE"
    # Commands that we start inherit the lock: if this shell is killed, it stays taken until they have ended.
    exec 9>>"$cache/.lock"
    if ! flock -n 9; then
        say "another set-up is at work in $cache, waiting for it"
        flock 9
    fi
    # Left by a run that was killed. Its lock is ours now, so nobody uses them.
    rm -rf "$cache"/scratch.*
    trap 'rm -rf "$scratch"' EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM
    scratch=$(mktemp -d "$cache/scratch.XXXXXX")
}

cache_unlock() {
    rm -rf "$scratch"
    trap - EXIT HUP INT TERM
    exec 9>&-
}

# cache_pins GROUP SOURCE: the lines of pins.txt of a group and source; SOURCE may be alternatives, as npm|pypi.
cache_pins() {
    awk -v group="$1" -v source="$2" '$1 == group && $2 ~ "^(" source ")$"' "$pins"
}

# cache_file_has FILE BYTES SHA256: the size is looked at first, because that is free.
cache_file_has() {
    [ -f "$1" ] && [ "$(wc -c <"$1")" -eq "$2" ] && [ "$(sha256sum <"$1")" = "$3  -" ]
}

# Removes every download and model that is not what pins.txt says, so that it is made anew.
cache_verify() {
    cache_lock
    while read -r _ source name version file bytes sha; do
        case $source in
        npm | pypi) path=$cache/downloads/$file ;;
        gguf) path=$cache/models/$file ;;
        *) continue ;;
        esac
        if [ ! -e "$path" ]; then continue; fi
        if cache_file_has "$path" "$bytes" "$sha"; then
            say "verified $name $version"
        else
            say "$path is damaged (not the pinned size or SHA-256): removed"
            rm -f "$path"
        fi
    done <"$pins"
    cache_unlock
}

# cache_link TARGET NAME: build/deps/NAME -> TARGET, replaced in one step if it pointed elsewhere.
cache_link() {
    if [ "$(readlink "$links/$2")" = "$1" ]; then return; fi
    mkdir -p "$links"
    ln -sfn "$1" "$links/.$2.$$"
    mv -fT "$links/.$2.$$" "$links/$2"
}
