#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A small arm64 Debian with the stock Mali driver, unpacked into the cache folder; see usage() below. apt resolves and
# verifies with a private configuration, and nothing is installed on this machine. The archive moves on, so versions are
# not pinned but recorded, in versions.json beside the root.
#
# A root appears by one rename: a run can be interrupted anywhere and repeated.
# shellcheck source-path=SCRIPTDIR
set -eu

cache=${ROCKFILL_CACHE:-${XDG_CACHE_HOME:-${HOME:?set HOME or ROCKFILL_CACHE}/.cache}/rockfill}/sim
# apt would take a relative one from the file system's root.
case $cache in
/*) ;;
*) cache=$PWD/$cache ;;
esac
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
. "$(dirname -- "$0")/report.sh"

usage() {
    cat <<END
usage: sim/userland/setup.sh [--variant NAME] [--refresh | --offline]

Makes a userland of the simulated Mali and prints its root's path. Needs apt and, once, network.
  --variant NAME  whose Mesa: trixie (Debian 13's own), backports (default), unstable; rival: a suite that has
                  llama.cpp's programs with the stock Vulkan backend, too
  --refresh       resolve and download anew
  --offline       never use the network: what is not in the cache cannot be had
  --help          this text

Cache: $cache (ROCKFILL_CACHE names another folder than its parent).
ROCKFILL_DEBIAN_MIRROR is the archive's address on machines that are not Debian; else apt's own is taken.
Exit status: 3 if it cannot be had here (no network, no apt, or the archive lacks something), 1 for other errors.
END
}

variant=backports refresh='' offline=''
while [ $# -gt 0 ]; do
    case $1 in
    --variant)
        [ $# -gt 1 ] || die "--variant needs a name; --help lists them"
        variant=$2
        shift
        ;;
    --refresh) refresh=yes ;;
    --offline) offline=yes ;;
    --help | -h)
        usage
        exit 0
        ;;
    *) die "unknown option '$1'; --help lists the options" ;;
    esac
    shift
done
[ -z "$refresh" ] || [ -z "$offline" ] || die "--refresh and --offline exclude each other"

# The driver, its loader, what llama.cpp's programs link, and the headers to build against: the simulated kernel driver
# needs those of Linux 7.3, which only backports and unstable have. rockfill's own programs want jansson.
packages='mesa-vulkan-drivers libvulkan1 vulkan-tools libdrm2 libdrm-dev libjansson-dev libstdc++6 libgomp1 libc6'
case $variant in
trixie) suites='trixie trixie-backports' mesa_known=25.0 packages="$packages linux-libc-dev/trixie-backports" ;;
backports)
    suites='trixie trixie-backports' mesa_known=26.1 target=trixie-backports
    packages="$packages linux-libc-dev"
    ;;
unstable) suites="sid trixie-backports" mesa_known=26.2 packages="$packages linux-libc-dev/trixie-backports" ;;
rival)
    suites="sid trixie-backports" mesa_known=26.2
    packages="$packages linux-libc-dev/trixie-backports llama.cpp-tools llama.cpp-tests libggml0-backend-vulkan"
    ;;
*) die "no variant '$variant'; --help lists them" ;;
esac

# The archive that this machine's apt uses for its own release.
mirror() {
    if [ -n "${ROCKFILL_DEBIAN_MIRROR:-}" ]; then
        echo "$ROCKFILL_DEBIAN_MIRROR"
        return
    fi
    # shellcheck disable=SC2016 # apt's own placeholders
    apt-get indextargets --format '$(IDENTIFIER) $(COMPONENT) $(REPO_URI)' 2>/dev/null |
        awk '$1 == "Packages" && $2 == "main" && $3 ~ /\/debian\/?$/ { print $3; exit }'
}

# apt_settings STATE ARCHITECTURE: a configuration that overrides the machine's own. Certificates, proxy and the like
# are left of that, but no hooks, no pins, and nothing that would let an unsigned archive pass.
apt_settings() {
    cat <<END
#clear APT::Update;
#clear AptCli::Hooks;
#clear APT::Default-Release;
Dir::State "$1";
Dir::State::Lists "$1/lists";
Dir::State::status "$1/status";
Dir::Cache "$1";
Dir::Cache::archives "$1/archives";
Dir::Etc::SourceList "$1/sources.list";
Dir::Etc::SourceParts "/dev/null";
Dir::Etc::Preferences "/dev/null";
Dir::Etc::PreferencesParts "/dev/null";
APT::Architecture "$2";
#clear APT::Architectures;
APT::Architectures { "$2"; };
APT::Install-Recommends "false";
APT::Install-Suggests "false";
APT::Sandbox::User "root";
APT::Update::Error-Mode "any";
APT::Get::AllowUnauthenticated "false";
Acquire::AllowInsecureRepositories "false";
Acquire::AllowWeakRepositories "false";
Acquire::AllowDowngradeToInsecureRepositories "false";
Acquire::Languages "none";
Acquire::Retries "2";
Debug::NoLocking "true";
END
}

# apt_private ARCHITECTURE WORDS...: apt-get with these settings.
apt_private() {
    state=$scratch/apt-$1
    if [ ! -d "$state" ]; then
        mkdir -p "$state/lists/partial" "$state/archives/partial"
        : >"$state/status"
        for suite in $suites; do
            echo "deb [signed-by=$keyring] $archive $suite main"
        done >"$state/sources.list"
        apt_settings "$state" "$1" >"$state/apt.conf"
    fi
    shift
    apt-get -qq -c "$state/apt.conf" "$@" >&2
}

# What is there in the file system of packages without being of use here.
root_trim() {
    rm -rf "$1/usr/share/doc" "$1/usr/share/man" "$1/usr/share/locale" "$1/usr/share/lintian"
}

# versions_list FOLDER: what its packages are, as JSON.
versions_list() {
    separator='{'
    for deb in "$1"/*.deb; do
        printf '%s\n"%s": "%s"' "$separator" "$(dpkg-deb -f "$deb" Package)" "$(dpkg-deb -f "$deb" Version)"
        separator=,
    done
    echo '}'
}

# versions_write ARCHIVES FILE
versions_write() {
    mesa=$(dpkg-deb -f "$1"/mesa-vulkan-drivers_*.deb Version)
    mesa=${mesa%%-*}
    {
        printf '{"variant": "%s", "date": "%s", "packages": ' "$variant" "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
        versions_list "$1"
        printf ',\n"mesa": "%s"}\n' "$mesa"
    } >"$2"
    case $mesa in
    "$mesa_known".*) ;;
    *) say "$variant: note: it has Mesa $mesa by now; docs/drivers.md was written with $mesa_known" ;;
    esac
}

# root_check ROOT: ends where the archive has packages of these names, but without what they are needed for.
root_check() {
    grep -q MMU_INFO "$1/usr/include/drm/panthor_drm.h" 2>/dev/null ||
        cannot "linux-libc-dev of $variant has no panthor_drm.h of Linux 7.3 or later"
    find "$1/usr/share/vulkan/icd.d" -name 'panfrost_icd*.json' 2>/dev/null | grep -q . ||
        cannot "mesa-vulkan-drivers of $variant has no Mali driver (panfrost_icd*.json) any more"
}

make_root() {
    say "$variant: resolving and downloading packages"
    apt_private arm64 update >/dev/null || cannot "apt cannot read the package lists (its message is above)"
    # shellcheck disable=SC2086 # lists
    apt_private arm64 --yes --download-only ${target:+-t $target} install $packages ||
        cannot "the archive does not have what $variant needs any more, or broke off (apt's message is above)"
    debs=$scratch/apt-arm64/archives
    # Alone, for its headers: it depends on Python, which nothing here needs.
    (cd "$debs" && apt_private arm64 download libvulkan-dev) ||
        cannot "libvulkan-dev cannot be downloaded (apt's message is above)"
    say "$variant: unpacking $(find "$debs" -name '*.deb' | wc -l) packages"
    mkdir -p "$scratch/new/root"
    for deb in "$debs"/*.deb; do
        dpkg-deb -x "$deb" "$scratch/new/root" || die "cannot unpack $deb (is the disk full?)"
    done
    [ -e "$scratch/new/root/lib" ] || ln -s usr/lib "$scratch/new/root/lib"
    root_trim "$scratch/new/root"
    root_check "$scratch/new/root"
    versions_write "$debs" "$scratch/new/versions.json"
    [ ! -e "$cache/$variant" ] || mv "$cache/$variant" "$scratch/old"
    mv "$scratch/new" "$cache/$variant"
}

# The emulator is a static program: only that file is kept. In a shell of its own: it has its own suites.
make_emulator() (
    say "emulator: resolving and downloading"
    suites='trixie trixie-backports' host=$(dpkg --print-architecture)
    apt_private "$host" update >/dev/null || cannot "apt cannot read the package lists (its message is above)"
    (cd "$scratch" && apt_private "$host" download qemu-user/trixie-backports) ||
        cannot "qemu-user cannot be downloaded (apt's message is above)"
    mkdir "$scratch/emulator"
    dpkg-deb --fsys-tarfile "$scratch"/qemu-user_*.deb | tar xf - -C "$scratch/emulator" ./usr/bin/qemu-aarch64 ||
        cannot "qemu-user has no usr/bin/qemu-aarch64 any more"
    versions_list "$scratch" >"$scratch/emulator/versions.json"
    mv "$scratch/emulator" "$cache/emulator"
)

is_complete() {
    [ -z "$refresh" ] && [ -e "$cache/$variant/versions.json" ] && { [ "$(uname -m)" = aarch64 ] || [ -d "$cache/emulator" ]; }
}

if ! is_complete; then
    [ -z "$offline" ] || cannot "$variant is not in $cache; run this once without --offline, with network"
    for tool in apt-get dpkg-deb flock; do
        command -v $tool >/dev/null || cannot "$tool is needed"
    done
    [ -e "$keyring" ] || cannot "the package debian-archive-keyring is needed ($keyring)"
    archive=$(mirror)
    [ -n "$archive" ] || cannot "apt knows no Debian archive; name one in ROCKFILL_DEBIAN_MIRROR"
    mkdir -p "$cache" || die "cannot write in $cache; name a folder that can be written in ROCKFILL_CACHE"
    exec 9>>"$cache/.lock"
    flock -n 9 || {
        say "another set-up is at work in $cache, waiting for it"
        flock 9
    }
    rm -rf "$cache"/scratch.*
    scratch=$(mktemp -d "$cache/scratch.XXXXXX")
    trap 'rm -rf "$scratch"' EXIT
    trap 'exit 130' INT TERM HUP
    [ "$(uname -m)" = aarch64 ] || [ -d "$cache/emulator" ] || make_emulator
    is_complete || make_root
fi
echo "$cache/$variant/root"
