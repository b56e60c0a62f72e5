// SPDX-License-Identifier: MIT
#include "ioctl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include <drm/drm.h>
#include <drm/panthor_drm.h>

#include "bo.h"
#include "group.h"
#include "job.h"
#include "knobs.h"
#include "lock.h"
#include "log.h"
#include "query.h"
#include "sync.h"
#include "tiler.h"
#include "vm.h"

static uint64_t unknown;

static const struct row {
    unsigned long request;
    const char *name;
    uint32_t minor; // of the first driver version that has it
    ps_ioctl_handler *run;
} rows[] = {
#define CORE(name, run)                                                                                                \
    { DRM_IOCTL_##name, #name, 0, run }
#define PANTHOR(name, minor, run)                                                                                      \
    { DRM_IOCTL_PANTHOR_##name, #name, minor, run }
    CORE(VERSION, ps_query_version),
    CORE(GET_CAP, ps_query_cap),
    CORE(SET_CLIENT_CAP, ps_query_set_client_cap),
    CORE(GEM_CLOSE, ps_bo_close),
    CORE(PRIME_HANDLE_TO_FD, ps_bo_prime),
    CORE(PRIME_FD_TO_HANDLE, ps_bo_prime),
    CORE(SYNCOBJ_CREATE, ps_sync_create),
    CORE(SYNCOBJ_DESTROY, ps_sync_destroy),
    CORE(SYNCOBJ_HANDLE_TO_FD, ps_sync_to_fd),
    CORE(SYNCOBJ_FD_TO_HANDLE, ps_sync_from_fd),
    CORE(SYNCOBJ_WAIT, ps_sync_wait),
    CORE(SYNCOBJ_TIMELINE_WAIT, ps_sync_timeline_wait),
    CORE(SYNCOBJ_RESET, ps_sync_reset),
    CORE(SYNCOBJ_SIGNAL, ps_sync_signal),
    CORE(SYNCOBJ_TIMELINE_SIGNAL, ps_sync_timeline_signal),
    CORE(SYNCOBJ_QUERY, ps_sync_query),
    CORE(SYNCOBJ_TRANSFER, ps_sync_transfer),
    PANTHOR(DEV_QUERY, 0, ps_query_device),
    PANTHOR(VM_CREATE, 0, ps_vm_create),
    PANTHOR(VM_DESTROY, 0, ps_vm_destroy),
    PANTHOR(VM_BIND, 0, ps_vm_bind),
    PANTHOR(VM_GET_STATE, 0, ps_vm_get_state),
    PANTHOR(BO_CREATE, 0, ps_bo_create),
    PANTHOR(BO_MMAP_OFFSET, 0, ps_bo_mmap_offset),
    PANTHOR(GROUP_CREATE, 0, ps_group_create),
    PANTHOR(GROUP_DESTROY, 0, ps_group_destroy),
    PANTHOR(GROUP_SUBMIT, 0, ps_group_submit),
    PANTHOR(GROUP_GET_STATE, 0, ps_group_get_state),
    PANTHOR(TILER_HEAP_CREATE, 0, ps_tiler_create),
    PANTHOR(TILER_HEAP_DESTROY, 0, ps_tiler_destroy),
    PANTHOR(BO_SET_LABEL, 4, ps_bo_set_label),
    PANTHOR(SET_USER_MMIO_OFFSET, 5, ps_query_set_mmio_offset),
    PANTHOR(BO_SYNC, 7, ps_bo_sync),
    PANTHOR(BO_QUERY_INFO, 7, ps_bo_query_info),
#undef CORE
#undef PANTHOR
};

// The number alone decides, not the length: that may be an older or a newer program's.
static const struct row *row_find(unsigned long request) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (_IOC_NR(rows[i].request) == _IOC_NR(request) && rows[i].minor <= ps_knobs()->minor)
            return &rows[i];
    return NULL;
}

int ps_ioctl_run(unsigned long request, void *argument) {
    _Alignas(8) unsigned char copy[256] = {0};
    const struct row *row = row_find(request);
    size_t theirs = _IOC_SIZE(request), ours = row != NULL ? _IOC_SIZE(row->request) : 0;
    if (row == NULL || theirs > sizeof copy || ours > sizeof copy) {
        __atomic_add_fetch(&unknown, 1, __ATOMIC_RELAXED);
        return ps_log_unknown("ioctl 0x%lx (number 0x%x) of panthor 1.%llu", request, (unsigned)_IOC_NR(request),
                              (unsigned long long)ps_knobs()->minor);
    }
    memcpy(copy, argument, theirs < ours ? theirs : ours);
    ps_lock_take();
    ps_job_settle();
    int result = row->run(copy);
    ps_job_settle();
    ps_lock_drop();
    if (_IOC_DIR(row->request) & _IOC_READ)
        memcpy(argument, copy, theirs < ours ? theirs : ours);
    ps_log(PS_LOG_CALLS, "%s -> %d", row->name, result);
    return result;
}

uint64_t ps_ioctl_unknown(void) {
    return __atomic_load_n(&unknown, __ATOMIC_RELAXED);
}

static bool is_zero(const unsigned char *bytes, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (bytes[i] != 0)
            return false;
    return true;
}

int ps_ioctl_copy_array(const struct drm_panthor_obj_array *array, size_t min_bytes, size_t known_bytes, void **copy) {
    *copy = NULL;
    if (array->count == 0)
        return 0;
    if (array->stride < min_bytes)
        return ps_log_refuse(EINVAL, "objects of %u bytes in an array, at least %zu are needed", array->stride,
                             min_bytes);
    if (array->array == 0)
        return ps_log_refuse(EFAULT, "an array of %u objects at NULL", array->count);
    unsigned char *to = calloc(array->count, known_bytes);
    if (to == NULL)
        return ps_log_refuse(ENOMEM, "no memory for an array of %u objects", array->count);
    *copy = to;
    size_t common = array->stride < known_bytes ? array->stride : known_bytes;
    for (uint32_t i = 0; i < array->count; i++) {
        const unsigned char *from = (const unsigned char *)(uintptr_t)array->array + (size_t)i * array->stride;
        memcpy(to + i * known_bytes, from, common);
        if (!is_zero(from + common, array->stride - common)) {
            free(to);
            *copy = NULL;
            ps_log_unknown("an array's object of %u bytes uses more than the %zu known ones", array->stride,
                           known_bytes);
            return -E2BIG;
        }
    }
    return 0;
}
