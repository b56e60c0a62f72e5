// SPDX-License-Identifier: MIT
#include "gpu.h"

#include <stddef.h>
#include <string.h>

// What the kernel prints when it finds a GPU ("mali-g610 id 0xa867 major 0x0 minor 0x0 status 0x5", "Features: L2 Tiler
// Mem MMU AS", "shader_present l2_present tiler_present") is public for each row; gpu_id is id << 16 | major << 12 |
// minor << 4 | status. What it does not print (threads, textures, registers of the command stream) is known for the
// G610 only. UNCERTAIN marks a value that another row takes over from it: the compiler's output does not depend on
// these, but scratch memory does (it is sized by max_threads and the highest core of shader_present).
#define THREAD_FEATURES 0x4010000u   // 65536 registers and 4 tasks a core
#define TEXTURE_FEATURES 0xc1ffff9eu // the first 32 compressed formats
#define CSIF(registers)                                                                                                \
    {                                                                                                                  \
        .csg_slot_count = 8, .cs_slot_count = 8, .cs_reg_count = (registers), .scoreboard_slot_count = 8,              \
        .unpreserved_cs_reg_count = 4                                                                                  \
    }

// What is alike in all rows; where a row calls one of these uncertain, it is taken over from the G610.
#define COMMON                                                                                                         \
    .tiler_features = 0x809, .mmu_features = 0x2830, .thread_features = THREAD_FEATURES, .max_threads = 2048,          \
    .thread_max_workgroup_size = 1024, .thread_max_barrier_size = 1024, .texture_features = {TEXTURE_FEATURES},        \
    .as_present = 0xff, .selected_coherency = DRM_PANTHOR_GPU_COHERENCY_NONE, .l2_present = 1, .tiler_present = 1

static const struct ps_gpu rows[] = {
    // Mali-G610 MC4. Kernel log of many RK3588 boards (e.g. Radxa Rock 5 ITX and 5A on the dri-devel list, February
    // 2025); the rest read from a board: ../shared/facts/panthor-sim.md of this project.
    {.name = "g610",
     .chip = "Mali-G610 MC4 (RK3588)",
     .compatible = "rockchip,rk3588-mali",
     .info = {.gpu_id = 0xa8670005,
              .csf_id = 0x40a0412,
              .l2_features = 0x7120306,
              COMMON,
              .mem_features = 0x301,
              .shader_present = 0x50005},
     .csif = CSIF(96),
     .timestamp_hz = 24000000},
    // Mali-G310 V2, one core. Kernel log in the thread "dt-bindings: gpu: mali-valhall-csf: Document i.MX95 support"
    // (dri-devel, February and March 2025). Variant (core_features) 1 is V2 in Mesa's model list (src/panfrost/model/
    // pan_model.c); that the i.MX95 has V2 is NXP's word. UNCERTAIN: csf_id, thread_*, max_threads, texture_features,
    // csif.
    {.name = "g310",
     .chip = "Mali-G310 V2 (i.MX95)",
     .compatible = "fsl,imx95-mali",
     .info = {.gpu_id = 0xac740001,
              .csf_id = 0x40a0412,
              .l2_features = 0x7110306,
              COMMON,
              .mem_features = 0x1,
              .shader_present = 0x1,
              .core_features = 1},
     .csif = CSIF(96),
     .timestamp_hz = 24000000},
    // Mali-G710 MC7. Identity and cores: kernel log of a Google Tensor G2 under panthor, in a public porting journal
    // ("Mali-G710 id 0xa862 major 0x0 minor 0x0 status 0x4", shader_present 0x1110055). Mesa to 26.1 has no model of
    // it and refuses the device. UNCERTAIN: l2_features, mem_features, csf_id, thread_*, max_threads,
    // texture_features, csif, timestamp_hz.
    {.name = "g710",
     .chip = "Mali-G710 MC7 (Tensor G2)",
     .compatible = "arm,mali-valhall-csf",
     .info = {.gpu_id = 0xa8620004,
              .csf_id = 0x40a0412,
              .l2_features = 0x7120306,
              COMMON,
              .mem_features = 0x301,
              .shader_present = 0x1110055},
     .csif = CSIF(96),
     .timestamp_hz = 24576000},
    // 5th generation (v13): Immortalis-G925, which Mesa's model list calls G725 (variant 4). Kernel log of a MediaTek
    // MT8196 in "drm/panthor: add custom ASN_HASH support for mt8196" (dri-devel, September 2025). UNCERTAIN: csf_id,
    // thread_*, max_threads, texture_features, gpu_features (ray tracing is left out), csif (128 registers from v12
    // on), timestamp_hz.
    {.name = "g725",
     .chip = "Immortalis-G925 MC12 (MT8196)",
     .compatible = "mediatek,mt8196-mali",
     .info = {.gpu_id = 0xd8300015,
              .csf_id = 0x40d0412,
              .l2_features = 0x8130306,
              COMMON,
              .mem_features = 0x301,
              .shader_present = 0xee0077,
              .core_features = 4},
     .csif = CSIF(128),
     .timestamp_hz = 13000000},
};

const struct ps_gpu *ps_gpu_find(const char *name) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}
