// SPDX-License-Identifier: MIT
// The GPUs that can be simulated: one row each, with the origin of its values.
#pragma once

#include <stdint.h>

#include <drm/drm.h>
#include <drm/panthor_drm.h>

struct ps_gpu {
    const char *name, *chip;
    const char *compatible; // of the device tree
    struct drm_panthor_gpu_info info;
    struct drm_panthor_csif_info csif;
    uint32_t timestamp_hz;
};

#define PS_GPU_NAMES "g610, g310, g710, g725"

const struct ps_gpu *ps_gpu_find(const char *name); // NULL when there is none

// Address bits of the MMU.
static inline uint32_t ps_gpu_va_bits(const struct ps_gpu *gpu) {
    return DRM_PANTHOR_MMU_VA_BITS(gpu->info.mmu_features);
}
