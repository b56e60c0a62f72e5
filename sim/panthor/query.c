// SPDX-License-Identifier: MIT
#include "query.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include <drm/drm.h>
#include <drm/panthor_drm.h>

#include "gpu.h"
#include "knobs.h"
#include "lock.h"
#include "log.h"

static uint64_t mmio_offset = DRM_PANTHOR_USER_MMIO_OFFSET;

// As much of the text as fits, without a terminator; the length becomes the whole text's.
static void put_text(char *to, __kernel_size_t *length, const char *text) {
    size_t whole = strlen(text);
    if (to != NULL)
        memcpy(to, text, *length < whole ? *length : whole);
    *length = whole;
}

int ps_query_version(void *argument) {
    struct drm_version *version = argument;
    version->version_major = 1;
    version->version_minor = (int)ps_knobs()->minor;
    version->version_patchlevel = 0;
    put_text(version->name, &version->name_len, "panthor");
    put_text(version->date, &version->date_len, "0");
    put_text(version->desc, &version->desc_len, "Panthor DRM driver");
    return 0;
}

int ps_query_cap(void *argument) {
    struct drm_get_cap *cap = argument;
    switch (cap->capability) {
    case DRM_CAP_SYNCOBJ:
    case DRM_CAP_SYNCOBJ_TIMELINE:
    case DRM_CAP_TIMESTAMP_MONOTONIC:
        cap->value = 1;
        return 0;
    case DRM_CAP_PRIME:
        cap->value = DRM_PRIME_CAP_IMPORT | DRM_PRIME_CAP_EXPORT;
        return 0;
    default: // of displays, which panthor does not have
        ps_log(PS_LOG_EVENTS, "capability 0x%llx: none", (unsigned long long)cap->capability);
        cap->value = 0;
        return 0;
    }
}

int ps_query_set_client_cap(void *argument) {
    const struct drm_set_client_cap *cap = argument;
    return ps_log_refuse(EOPNOTSUPP, "SET_CLIENT_CAP 0x%llx", (unsigned long long)cap->capability);
}

// As the header says: with NULL the whole length, otherwise as much as the caller has place for.
static int put_answer(struct drm_panthor_dev_query *query, const void *answer, size_t answer_bytes) {
    if (query->pointer == 0) {
        query->size = (uint32_t)answer_bytes;
        return 0;
    }
    size_t common = query->size < answer_bytes ? query->size : answer_bytes;
    memcpy((void *)(uintptr_t)query->pointer, answer, common);
    memset((char *)(uintptr_t)query->pointer + common, 0, query->size - common);
    query->size = (uint32_t)common;
    return 0;
}

static int query_timestamp(struct drm_panthor_dev_query *query) {
    struct drm_panthor_timestamp_info info = {0};
    if (ps_knobs()->minor >= 8 && query->pointer != 0 && query->size >= sizeof info)
        info.flags = ((const struct drm_panthor_timestamp_info *)(uintptr_t)query->pointer)->flags;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t hz = ps_knobs()->gpu->timestamp_hz;
    info.timestamp_frequency = hz;
    info.current_timestamp = (uint64_t)now.tv_sec * hz + (uint64_t)now.tv_nsec * hz / 1000000000;
    info.cycle_count = info.current_timestamp;
    info.cpu_timestamp_sec = (uint64_t)now.tv_sec;
    info.cpu_timestamp_nsec = (uint64_t)now.tv_nsec;
    return put_answer(query, &info, sizeof info);
}

int ps_query_device(void *argument) {
    struct drm_panthor_dev_query *query = argument;
    const struct ps_gpu *gpu = ps_knobs()->gpu;
    uint64_t minor = ps_knobs()->minor;
    if (query->type == DRM_PANTHOR_DEV_QUERY_GPU_INFO)
        return put_answer(query, &gpu->info, sizeof gpu->info);
    if (query->type == DRM_PANTHOR_DEV_QUERY_CSIF_INFO)
        return put_answer(query, &gpu->csif, sizeof gpu->csif);
    if (query->type == DRM_PANTHOR_DEV_QUERY_TIMESTAMP_INFO && minor >= 1)
        return query_timestamp(query);
    if (query->type == DRM_PANTHOR_DEV_QUERY_GROUP_PRIORITIES_INFO && minor >= 2) {
        struct drm_panthor_group_priorities_info info = {.allowed_mask = 1 << PANTHOR_GROUP_PRIORITY_LOW |
                                                                         1 << PANTHOR_GROUP_PRIORITY_MEDIUM};
        return put_answer(query, &info, sizeof info);
    }
    if (query->type == DRM_PANTHOR_DEV_QUERY_MMU_INFO && minor >= 9) {
        struct drm_panthor_mmu_info info = {.page_size_bitmap = UINT64_C(1) << 12 | UINT64_C(1) << 21};
        return put_answer(query, &info, sizeof info);
    }
    return ps_log_unknown("DEV_QUERY of type %u of panthor 1.%llu", query->type, (unsigned long long)minor);
}

int ps_query_set_mmio_offset(void *argument) {
    const struct drm_panthor_set_user_mmio_offset *set = argument;
    if (set->offset != DRM_PANTHOR_USER_MMIO_OFFSET_32BIT && set->offset != DRM_PANTHOR_USER_MMIO_OFFSET_64BIT)
        return ps_log_refuse(EINVAL, "SET_USER_MMIO_OFFSET to 0x%llx", (unsigned long long)set->offset);
    mmio_offset = set->offset;
    return 0;
}

uint64_t ps_query_mmio_offset(void) {
    return mmio_offset;
}
