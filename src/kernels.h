// SPDX-License-Identifier: MIT
// The compiled kernels, by name. The SPIR-V arrays are made by CMake from shaders/.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "format.h"

enum rf_kernel {
    RF_KERNEL_TILE_INT8,
    RF_KERNEL_TILE_FP16,
    RF_KERNEL_TILE_FP32,
    RF_KERNEL_COLUMNS,
    RF_KERNEL_UNPACK_FLOAT,
    RF_KERNEL_SELFTEST,
    RF_KERNEL_UNPACK, // + enum rf_format, for the quantised ones
    RF_KERNEL_COUNT = RF_KERNEL_UNPACK + RF_FORMAT_COUNT
};

struct rf_kernel_code {
    const char *name;
    const uint32_t *words;
    size_t bytes;
};

// The code of a kernel; words is NULL for a float format's RF_KERNEL_UNPACK + format, which does not exist.
const struct rf_kernel_code *rf_kernel_code(enum rf_kernel kernel);
