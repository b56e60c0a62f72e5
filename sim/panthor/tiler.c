// SPDX-License-Identifier: MIT
#include "tiler.h"

#include <errno.h>
#include <stdbool.h>

#include <drm/drm.h>
#include <drm/panthor_drm.h>

#include "gpu.h"
#include "knobs.h"
#include "log.h"
#include "vm.h"

#define HEAP_COUNT 128
#define CHUNK_BYTES_MIN (128u << 10)
#define CHUNK_BYTES_MAX (8u << 20)
#define CONTEXT_BYTES 4096
#define CHUNK_SPACING (UINT64_C(1) << 24)

static struct heap {
    bool exists;
    uint64_t bytes;
} heaps[HEAP_COUNT];
static uint64_t bytes, peak_bytes;

static int check_create(const struct drm_panthor_tiler_heap_create *create) {
    if (!ps_vm_exists(create->vm_id))
        return ps_log_refuse(EINVAL, "TILER_HEAP_CREATE in VM %u, which does not exist", create->vm_id);
    if (create->initial_chunk_count == 0 || create->initial_chunk_count > create->max_chunks)
        return ps_log_refuse(EINVAL, "TILER_HEAP_CREATE of %u chunks, %u at most", create->initial_chunk_count,
                             create->max_chunks);
    if (create->chunk_size < CHUNK_BYTES_MIN || create->chunk_size > CHUNK_BYTES_MAX || create->chunk_size & 4095)
        return ps_log_refuse(EINVAL, "TILER_HEAP_CREATE with chunks of %u bytes", create->chunk_size);
    return 0;
}

int ps_tiler_create(void *argument) {
    struct drm_panthor_tiler_heap_create *create = argument;
    int result = check_create(create);
    if (result != 0)
        return result;
    for (uint32_t i = 0; i < HEAP_COUNT; i++) {
        if (heaps[i].exists)
            continue;
        heaps[i] = (struct heap){true, (uint64_t)create->initial_chunk_count * create->chunk_size};
        bytes += heaps[i].bytes;
        peak_bytes = bytes > peak_bytes ? bytes : peak_bytes;
        // The kernel's half of the addresses. Nothing reads what lies there.
        uint64_t kernel_start = UINT64_C(1) << (ps_gpu_va_bits(ps_knobs()->gpu) - 1);
        create->tiler_heap_ctx_gpu_va = kernel_start + (uint64_t)i * CONTEXT_BYTES;
        create->first_heap_chunk_gpu_va = kernel_start + (i + 1) * CHUNK_SPACING;
        create->handle = create->vm_id << 16 | i;
        return 0;
    }
    return ps_log_refuse(ENOMEM, "TILER_HEAP_CREATE: there are %d heaps", HEAP_COUNT);
}

int ps_tiler_destroy(void *argument) {
    const struct drm_panthor_tiler_heap_destroy *destroy = argument;
    uint32_t index = destroy->handle & 0xffff;
    if (destroy->pad != 0 || index >= HEAP_COUNT || !heaps[index].exists)
        return ps_log_refuse(EINVAL, "TILER_HEAP_DESTROY of 0x%x, pad %u", destroy->handle, destroy->pad);
    bytes -= heaps[index].bytes;
    heaps[index].exists = false;
    return 0;
}

uint64_t ps_tiler_peak_bytes(void) {
    return peak_bytes;
}
