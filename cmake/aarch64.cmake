# SPDX-License-Identifier: MIT
# Toolchain file: arm64 Linux with Debian's cross compiler (packages gcc-aarch64-linux-gnu, g++-aarch64-linux-gnu).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
