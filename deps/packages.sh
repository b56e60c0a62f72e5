# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154,SC2086 # the globals come from setup.sh; lists of package names are to be split
#
# Debian packages: which are missing, and their installation. Nothing is started when none is missing.

# Debian 12 is the oldest release that has them all; names without versions, so that newer releases work alike.
packages_all="gcc g++ make cmake pkg-config git unzip python3 clang clang-format clang-tidy glslang-tools spirv-tools
    libvulkan-dev mesa-vulkan-drivers vulkan-validationlayers vulkan-tools libjansson-dev"
packages_for_llama="g++ make cmake git"
packages_for_cross="gcc-aarch64-linux-gnu g++-aarch64-linux-gnu make cmake git"
packages_for_models="unzip"

# packages_absent NAME...: prints those that are not installed.
packages_absent() {
    installed=$(dpkg-query -W -f '<${Package} ${db:Status-Status}>' "$@" 2>/dev/null) || :
    for package in "$@"; do
        case $installed in
        *"<$package installed>"*) ;;
        *) echo "$package" ;;
        esac
    done
}

# The sanitizers' runtime is a package of its own, named after clang's release (libclang-rt-14-dev). The one without a
# number stands for the distribution's clang.
packages_absent_sanitizers() {
    release=$(dpkg-query -W -f '${Depends}' clang 2>/dev/null | sed -n 's/^clang-\([0-9]*\).*/\1/p')
    if [ -z "$release" ] || [ -n "$(packages_absent "libclang-rt-$release-dev")" ]; then
        packages_absent libclang-rt-dev
    fi
}

# packages_absent_fetchers GROUPS: npm and pip matter only while something is to be fetched, and any working one will do.
packages_absent_fetchers() {
    sources=$(downloads_sources "$1")
    if [ -n "$sources" ]; then packages_absent ca-certificates; fi
    for source in $sources; do
        case $source in
        npm) command -v npm >/dev/null || echo npm ;;
        pypi) python3 -m pip --version >/dev/null 2>&1 || echo python3-pip ;;
        esac
    done
}

# packages_absent_for GROUPS: what is missing to build (if --packages asks for it) and to make these groups.
packages_absent_for() {
    needed=''
    case $1 in *llama*) needed=$packages_for_llama ;; esac
    if [ -n "$cross" ]; then needed=$packages_for_cross; fi
    case $1 in *smollm2* | *gemma*) needed="$needed $packages_for_models" ;; esac
    if [ -n "$want_packages" ]; then
        needed=$packages_all
        packages_absent_sanitizers
    fi
    if [ -n "$needed" ]; then packages_absent $needed; fi
    packages_absent_fetchers "$1"
}

# packages_install GROUPS: installs what packages_absent_for lists, or says what somebody has to install.
packages_install() {
    if ! command -v dpkg-query >/dev/null; then
        if [ -n "$want_packages" ]; then
            say "not a Debian system, packages are not checked; needed are the equivalents of:" $packages_all npm python3-pip
        fi
        return
    fi
    absent=$(packages_absent_for "$1" | tr '\n' ' ')
    absent=${absent% }
    if [ -z "$absent" ]; then return; fi
    command="apt-get install -y --no-install-recommends $absent"
    if [ "$(id -u)" -eq 0 ]; then
        as_root='env'
    elif sudo -n true 2>/dev/null; then
        as_root='sudo -n env'
    else
        say "missing Debian packages: $absent"
        cannot "neither root nor sudo without a password here; run this once: sudo sh -c 'apt-get update && $command'"
    fi
    say "installing Debian packages: $absent"
    options='-qq -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0'
    # A fresh machine has no package lists.
    $as_root DEBIAN_FRONTEND=noninteractive apt-get $options update >&2 ||
        say "apt-get update failed; going on with the package lists that there are"
    $as_root DEBIAN_FRONTEND=noninteractive $command $options >&2 ||
        cannot "the packages were not installed (apt-get's reason is above); repair that and repeat, or run: $command"
}
