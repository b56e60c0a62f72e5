// SPDX-License-Identifier: MIT
#include "bo.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <drm/drm.h>
#include <drm/panthor_drm.h>

#include "exec.h"
#include "knobs.h"
#include "log.h"
#include "node.h"
#include "vm.h"

#define FILE_ALIGN_BYTES UINT64_C(65536) // of a slice: the largest page of an arm64 kernel
#define LABEL_BYTES_MAX 4096             // the kernel's
#define UNLABELLED 0
#define OTHERS 1 // takes the labels that the table has no place for

struct bo {
    bool has_handle;
    uint32_t maps, flags, vm_id;
    uint64_t size_bytes; // 0: free
    uint64_t file_offset;
    size_t label;
};

static struct bo *bos; // by handle; 0 is none
static uint32_t bo_end = 1, bo_capacity;
static uint64_t file_end = FILE_ALIGN_BYTES;
static struct ps_bo_stats stats;
static struct ps_bo_label labels[PS_BO_LABELS] = {{.text = "(none)"}, {.text = "(others)"}};
static size_t label_count = 2;

static void raise_to(uint64_t *peak, uint64_t value) {
    if (value > *peak)
        *peak = value;
}

static struct bo *bo_find(uint32_t handle) {
    return handle > 0 && handle < bo_end && bos[handle].has_handle ? &bos[handle] : NULL;
}

static size_t label_find(const char *text) {
    for (size_t i = 0; i < label_count; i++)
        if (strcmp(labels[i].text, text) == 0)
            return i;
    if (label_count == sizeof labels / sizeof labels[0])
        return OTHERS;
    snprintf(labels[label_count].text, sizeof labels[0].text, "%s", text);
    return label_count++;
}

static void label_add(size_t index, uint64_t bytes) {
    struct ps_bo_label *label = &labels[index];
    label->bytes += bytes;
    label->count++;
    raise_to(&label->peak_bytes, label->bytes);
    raise_to(&label->count_peak, label->count);
}

static void label_remove(size_t index, uint64_t bytes) {
    labels[index].bytes -= bytes;
    labels[index].count--;
}

// A free handle, or 0 when there is no memory. Low ones first, as the kernel does.
static uint32_t handle_find(void) {
    for (uint32_t i = 1; i < bo_end; i++)
        if (bos[i].size_bytes == 0)
            return i;
    if (bo_end >= bo_capacity) {
        uint32_t capacity = bo_capacity > 0 ? bo_capacity * 2 : 1024;
        struct bo *grown = realloc(bos, capacity * sizeof *bos);
        if (grown == NULL)
            return 0;
        bos = grown;
        bo_capacity = capacity;
    }
    return bo_end++;
}

// mali-exec is told of memory that is not coherent only where flushes are seen: else nothing would ever reach the GPU.
static bool is_watched(const struct bo *bo) {
    return ps_knobs()->flushes && (bo->flags & DRM_PANTHOR_BO_WB_MMAP);
}

static void bo_free_unused(struct bo *bo) {
    if (bo->has_handle || bo->maps > 0)
        return;
    if (is_watched(bo))
        ps_exec_object_gone((uint32_t)(bo - bos));
    fallocate(ps_node_file(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)bo->file_offset,
              (off_t)bo->size_bytes);
    stats.bytes -= bo->size_bytes;
    stats.count--;
    label_remove(bo->label, bo->size_bytes);
    bo->size_bytes = 0;
}

static int check_create(const struct drm_panthor_bo_create *create) {
    uint32_t known = DRM_PANTHOR_BO_NO_MMAP | (ps_knobs()->minor >= 7 ? DRM_PANTHOR_BO_WB_MMAP : 0);
    if (create->flags & ~known)
        return ps_log_unknown("BO_CREATE flags 0x%x", create->flags & ~known);
    if ((create->flags & DRM_PANTHOR_BO_NO_MMAP) && (create->flags & DRM_PANTHOR_BO_WB_MMAP))
        return ps_log_refuse(EINVAL, "BO_CREATE: a cached CPU mapping of an object without one");
    if (create->size == 0 || create->pad != 0)
        return ps_log_refuse(EINVAL, "BO_CREATE of %llu bytes, pad %u", (unsigned long long)create->size, create->pad);
    if (create->exclusive_vm_id != 0 && !ps_vm_exists(create->exclusive_vm_id))
        return ps_log_refuse(EINVAL, "BO_CREATE for VM %u, which does not exist", create->exclusive_vm_id);
    return 0;
}

static int check_memory(uint64_t size_bytes) {
    uint64_t limit_mib = ps_knobs()->bo_limit_mib;
    if (limit_mib > 0 && (size_bytes > limit_mib << 20 || stats.bytes > (limit_mib << 20) - size_bytes))
        return ps_log_refuse(ENOMEM, "BO_CREATE of %llu bytes: %llu are taken, BO_LIMIT_MIB is %llu",
                             (unsigned long long)size_bytes, (unsigned long long)stats.bytes,
                             (unsigned long long)limit_mib);
    if (size_bytes > PS_NODE_FILE_BYTES - file_end - FILE_ALIGN_BYTES)
        return ps_log_refuse(ENOMEM, "BO_CREATE of %llu bytes: the memory file is used up",
                             (unsigned long long)size_bytes);
    return 0;
}

int ps_bo_create(void *argument) {
    struct drm_panthor_bo_create *create = argument;
    int result = check_create(create);
    if (result == 0)
        result = check_memory(create->size);
    if (result != 0)
        return result;
    uint32_t handle = handle_find();
    if (handle == 0)
        return ps_log_refuse(ENOMEM, "BO_CREATE: no memory for the simulation's own table");
    uint64_t size_bytes = (create->size + PS_BO_PAGE_BYTES - 1) & ~(PS_BO_PAGE_BYTES - 1);
    bos[handle] = (struct bo){.has_handle = true,
                              .flags = create->flags,
                              .vm_id = create->exclusive_vm_id,
                              .size_bytes = size_bytes,
                              .file_offset = file_end,
                              .label = UNLABELLED};
    file_end += (size_bytes + FILE_ALIGN_BYTES - 1) & ~(FILE_ALIGN_BYTES - 1);
    stats.bytes += size_bytes;
    stats.count++;
    stats.created++;
    raise_to(&stats.bytes_peak, stats.bytes);
    raise_to(&stats.count_peak, stats.count);
    raise_to(&stats.largest_bytes, size_bytes);
    label_add(UNLABELLED, size_bytes);
    create->size = size_bytes;
    create->handle = handle;
    if (is_watched(&bos[handle]))
        ps_exec_object(handle, bos[handle].file_offset, size_bytes, true);
    ps_log(PS_LOG_CALLS, "buffer object %u: %llu bytes, flags 0x%x, VM %u", handle, (unsigned long long)size_bytes,
           create->flags, create->exclusive_vm_id);
    return 0;
}

int ps_bo_close(void *argument) {
    const struct drm_gem_close *close = argument;
    struct bo *bo = bo_find(close->handle);
    if (bo == NULL)
        return ps_log_refuse(EINVAL, "GEM_CLOSE of %u, which is not a handle", close->handle);
    bo->has_handle = false;
    bo_free_unused(bo);
    return 0;
}

int ps_bo_prime(void *argument) {
    (void)argument;
    ps_log_unknown("sharing buffer objects with other drivers (PRIME)");
    return -EOPNOTSUPP;
}

int ps_bo_mmap_offset(void *argument) {
    struct drm_panthor_bo_mmap_offset *offset = argument;
    const struct bo *bo = bo_find(offset->handle);
    if (bo == NULL || offset->pad != 0)
        return ps_log_refuse(offset->pad != 0 ? EINVAL : ENOENT, "BO_MMAP_OFFSET of %u, pad %u", offset->handle,
                             offset->pad);
    if (bo->flags & DRM_PANTHOR_BO_NO_MMAP)
        return ps_log_refuse(EPERM, "BO_MMAP_OFFSET of %u, made with NO_MMAP", offset->handle);
    offset->offset = bo->file_offset;
    return 0;
}

int ps_bo_set_label(void *argument) {
    const struct drm_panthor_bo_set_label *set = argument;
    struct bo *bo = bo_find(set->handle);
    const char *text = (const char *)(uintptr_t)set->label;
    if (bo == NULL || set->pad != 0)
        return ps_log_refuse(set->pad != 0 ? EINVAL : ENOENT, "BO_SET_LABEL of %u, pad %u", set->handle, set->pad);
    if (text != NULL && strnlen(text, LABEL_BYTES_MAX) == LABEL_BYTES_MAX)
        return ps_log_refuse(E2BIG, "BO_SET_LABEL: a label of %d bytes or more", LABEL_BYTES_MAX);
    char printable[sizeof labels[0].text];
    snprintf(printable, sizeof printable, "%s", text != NULL ? text : labels[UNLABELLED].text);
    for (char *c = printable; *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || (unsigned char)*c > '~')
            *c = ' ';
    label_remove(bo->label, bo->size_bytes);
    bo->label = label_find(printable);
    label_add(bo->label, bo->size_bytes);
    ps_log(PS_LOG_CALLS, "buffer object %u is '%s'", set->handle, printable);
    return 0;
}

// CPU cache lines of an object are cleaned (and invalidated): by BO_SYNC, or by the driver's own instructions.
static void bo_flush(uint32_t handle, uint64_t offset_bytes, uint64_t size_bytes, bool invalidate) {
    if (is_watched(&bos[handle]))
        ps_exec_sync(handle, offset_bytes, size_bytes, invalidate);
    ps_log(PS_LOG_CALLS, "buffer object %u: CPU cache %s, 0x%llx + 0x%llx", handle,
           invalidate ? "cleaned and invalidated" : "cleaned", (unsigned long long)offset_bytes,
           (unsigned long long)size_bytes);
}

void ps_bo_flush(uint64_t file_offset, uint64_t size_bytes, bool invalidate) {
    for (uint32_t i = 1; i < bo_end; i++) {
        const struct bo *bo = &bos[i];
        if (bo->size_bytes > 0 && file_offset >= bo->file_offset && file_offset - bo->file_offset < bo->size_bytes)
            bo_flush(i, file_offset - bo->file_offset, size_bytes, invalidate);
    }
}

int ps_bo_sync(void *argument) {
    const struct drm_panthor_bo_sync *sync = argument;
    void *copy;
    int result = ps_ioctl_copy_array(&sync->ops, sizeof(struct drm_panthor_bo_sync_op),
                                     sizeof(struct drm_panthor_bo_sync_op), &copy);
    const struct drm_panthor_bo_sync_op *ops = copy;
    for (uint32_t i = 0; result == 0 && i < sync->ops.count; i++) {
        const struct bo *bo = bo_find(ops[i].handle);
        if (ops[i].type > DRM_PANTHOR_BO_SYNC_CPU_CACHE_FLUSH_AND_INVALIDATE)
            result = ps_log_unknown("BO_SYNC type %u", ops[i].type);
        else if (bo == NULL)
            result = ps_log_refuse(ENOENT, "BO_SYNC of %u, which is not a handle", ops[i].handle);
        else if (ops[i].size > bo->size_bytes || ops[i].offset > bo->size_bytes - ops[i].size)
            result = ps_log_refuse(EINVAL, "BO_SYNC of %u beyond its end", ops[i].handle);
        else
            bo_flush(ops[i].handle, ops[i].offset, ops[i].size,
                     ops[i].type == DRM_PANTHOR_BO_SYNC_CPU_CACHE_FLUSH_AND_INVALIDATE);
    }
    free(copy);
    return result;
}

int ps_bo_query_info(void *argument) {
    struct drm_panthor_bo_query_info *info = argument;
    const struct bo *bo = bo_find(info->handle);
    if (bo == NULL)
        return ps_log_refuse(ENOENT, "BO_QUERY_INFO of %u, which is not a handle", info->handle);
    info->create_flags = bo->flags;
    info->extra_flags = 0;
    info->pad = 0;
    return 0;
}

int ps_bo_check_range(uint32_t handle, uint32_t vm_id, uint64_t offset_bytes, uint64_t size_bytes) {
    const struct bo *bo = bo_find(handle);
    if (bo == NULL)
        return ps_log_refuse(EINVAL, "VM_BIND of buffer object %u, which is not a handle", handle);
    if (size_bytes > bo->size_bytes || offset_bytes > bo->size_bytes - size_bytes)
        return ps_log_refuse(EINVAL, "VM_BIND of buffer object %u beyond its end", handle);
    if (bo->vm_id != 0 && bo->vm_id != vm_id)
        return ps_log_refuse(EINVAL, "VM_BIND of buffer object %u, VM %u's own, in VM %u", handle, bo->vm_id, vm_id);
    return 0;
}

uint64_t ps_bo_file_offset(uint32_t handle) {
    return bos[handle].file_offset;
}

bool ps_bo_is_hidden(uint32_t handle) {
    return bos[handle].flags & DRM_PANTHOR_BO_NO_MMAP;
}

void ps_bo_map(uint32_t handle) {
    if (bos[handle].maps++ > 0)
        return;
    stats.pinned_bytes += bos[handle].size_bytes;
    raise_to(&stats.pinned_peak_bytes, stats.pinned_bytes);
}

void ps_bo_unmap(uint32_t handle) {
    if (--bos[handle].maps > 0)
        return;
    stats.pinned_bytes -= bos[handle].size_bytes;
    bo_free_unused(&bos[handle]);
}

bool ps_bo_owns_file_range(uint64_t offset_bytes, uint64_t size_bytes) {
    for (uint32_t i = 1; i < bo_end; i++) {
        const struct bo *bo = &bos[i];
        if (bo->size_bytes == 0 || offset_bytes < bo->file_offset || offset_bytes - bo->file_offset >= bo->size_bytes)
            continue;
        uint64_t rest = bo->size_bytes - (offset_bytes - bo->file_offset);
        return size_bytes <= rest && !(bo->flags & DRM_PANTHOR_BO_NO_MMAP);
    }
    return false;
}

const struct ps_bo_stats *ps_bo_stats(void) {
    return &stats;
}

size_t ps_bo_label_count(void) {
    return label_count;
}

const struct ps_bo_label *ps_bo_label(size_t index) {
    return &labels[index];
}

size_t ps_bo_label_of(uint32_t handle) {
    return bos[handle].label;
}
