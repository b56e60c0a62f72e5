# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154,SC2015 # globals come from setup.sh; in "A && B || die" either may fail
#
# Trees of llama.cpp for this machine: include/, lib/ and bin/, with the published libraries and programs built
# against them from the source bundle of the same release.

llama_version=v0.5.0
# What the headers and the programs need of the sources.
llama_sources="LICENSE include ggml/include ggml/src/ggml-backend-impl.h common vendor
    tools/llama-bench tools/completion tools/perplexity tools/quantize tests/test-backend-ops.cpp"

# The name that npm gives this machine, or its own.
llama_arch() {
    case $(uname -m) in
    x86_64) echo x64 ;;
    aarch64) echo arm64 ;;
    *) uname -m ;;
    esac
}

# Refuses what npm does not have, and names the folders of the trees. They hold a digest of all that shapes them: a
# finished tree never changes, and checkouts of different age can share the cache.
llama_check() {
    if [ -z "$(cache_pins "llama-$arch" npm)" ]; then
        die "there is no prebuilt llama.cpp for $arch; use --packages --models here and build with a llama.cpp of" \
            "your own: cmake -DROCKFILL_LLAMA_DIR=FOLDER"
    fi
    if [ -n "$want_rival" ] && [ -z "$(cache_pins "rival-$arch" npm)" ]; then
        die "--rival: there is no prebuilt stock Vulkan backend for $arch; leave that option out"
    fi
    recipe=$({
        awk '$1 ~ /^(llama|rival)/' "$pins"
        cat "$deps_dir/llama.sh" "$deps_dir/programs/CMakeLists.txt"
    } | sha256sum | cut -c1-8)
    llama_tree=$cache/llama-$llama_version-$arch-$recipe
    rival_tree=$cache/rival-$llama_version-$arch-$recipe
}

llama_make() {
    tree=$scratch/llama
    sources=$scratch/sources
    say "unpacking llama.cpp $llama_version"
    mkdir -p "$tree/lib" "$tree/bin" "$tree/include/private" "$sources"
    llama_unpack_sources "$sources"
    llama_unpack_libraries "llama-$arch" "$tree/lib"
    cp "$sources/LICENSE" "$tree/"
    cp "$sources"/include/*.h "$sources"/ggml/include/*.h "$tree/include/"
    # Declares what a backend implements; no package ships it.
    cp "$sources/ggml/src/ggml-backend-impl.h" "$tree/include/private/"
    llama_build_programs "$sources" "$tree"
    llama_link_backends "$tree"
    mv "$tree" "$llama_tree"
}

# The same programs over the rival's libraries. Those have other file names (libllama.vulkan.v0.5.0.so), by which they
# ask for each other; links give them ours, too, and the dynamic linker loads a file once, whatever it is called.
llama_make_rival() {
    tree=$scratch/rival
    say "unpacking the stock Vulkan backend of llama.cpp $llama_version"
    mkdir -p "$tree/lib" "$tree/bin"
    llama_unpack_libraries "rival-$arch" "$tree/lib"
    for library in libllama libggml; do
        ln -s "$library.vulkan.$llama_version.so" "$tree/lib/$library.$llama_version.so"
    done
    cp -R "$llama_tree/LICENSE" "$llama_tree/include" "$tree/"
    # Copies, because a program looks for ../lib from where its file really lies.
    find "$llama_tree/bin" -type f -exec cp {} "$tree/bin/" \;
    llama_link_backends "$tree"
    mv "$tree" "$rival_tree"
}

# llama_unpack_sources FOLDER: npm carries the sources of the release as a git bundle.
llama_unpack_sources() {
    archive=$cache/downloads/$(cache_pins llama npm | awk '{ print $5 }')
    bundle=$scratch/release.bundle
    git_dir=$scratch/release.git
    # shellcheck disable=SC2086 # a list of paths
    tar xzOf "$archive" package/llama/gitRelease.bundle >"$bundle" && git init -q --bare "$git_dir" &&
        commit=$(git -C "$git_dir" bundle unbundle "$bundle" | awk '$2 == "HEAD" { print $1 }') &&
        git -C "$git_dir" archive -o "$scratch/sources.tar" "$commit" -- $llama_sources &&
        tar xmf "$scratch/sources.tar" --no-same-owner -C "$1" ||
        die "cannot unpack the sources in $archive (the reason is above; is the disk full?)"
}

# llama_unpack_libraries GROUP FOLDER: the shared libraries of that npm package, and the names that a linker looks for.
llama_unpack_libraries() {
    archive=$cache/downloads/$(cache_pins "$1" npm | awk '{ print $5 }')
    mkdir -p "$scratch/$1"
    tar xzmf "$archive" --no-same-owner -C "$scratch/$1" && mv "$scratch/$1"/package/bins/*/lib*.so "$2/" ||
        die "cannot unpack the libraries in $archive (the reason is above; is the disk full?)"
    for library in libllama libggml; do
        (cd "$2" && ln -s "$library".*"$llama_version.so" "$library.so")
    done
}

# llama_build_programs SOURCES TREE
llama_build_programs() {
    jobs=$(nproc)
    log=$cache/programs.log
    say "building llama.cpp's programs with $jobs jobs (about a minute on two cores)"
    {
        cmake -S "$deps_dir/programs" -B "$scratch/programs" -DCMAKE_BUILD_TYPE=Release \
            -DROCKFILL_LLAMA_SOURCE="$1" -DROCKFILL_LLAMA_LIB="$2/lib" -DCMAKE_INSTALL_PREFIX="$2" \
            ${cross:+-DCMAKE_TOOLCHAIN_FILE="$repo_dir/cmake/aarch64.cmake"} &&
            cmake --build "$scratch/programs" --parallel "$jobs" &&
            cmake --install "$scratch/programs" --strip
    } >"$log" 2>&1 || {
        tail -n 20 "$log" >&2
        die "llama.cpp's programs did not build; the end of $log is above"
    }
}

# ggml looks for its backends beside the program, not beside its own library.
llama_link_backends() {
    for backend in "$1"/lib/libggml-*.so; do
        backend=${backend##*/}
        if [ "$backend" != libggml-base.so ]; then ln -s "../lib/$backend" "$1/bin/$backend"; fi
    done
}
