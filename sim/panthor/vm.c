// SPDX-License-Identifier: MIT
#include "vm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <drm/drm.h>
#include <drm/panthor_drm.h>

#include "bo.h"
#include "exec.h"
#include "gpu.h"
#include "job.h"
#include "knobs.h"
#include "log.h"
#include "sync.h"

#define KERNEL_MIN_BYTES (UINT64_C(256) << 20) // the kernel keeps so much of the addresses for itself
#define VM_COUNT 64

struct vm {
    bool exists;
    struct ps_line binds; // asynchronous ones
    uint64_t user_end;
    uint64_t low_bytes;           // mapped below PS_PEAK_LOW_END
    uint64_t scratch_bytes;       // of them in objects that the CPU never maps
    struct ps_peak_mapping *list; // by address, no two overlap
    size_t count, capacity;
};

static struct vm vms[VM_COUNT]; // by id; 0 is none
static struct ps_vm_stats stats;

static struct vm *vm_find(uint32_t id) {
    return id > 0 && id < VM_COUNT && vms[id].exists ? &vms[id] : NULL;
}

bool ps_vm_exists(uint32_t id) {
    return vm_find(id) != NULL;
}

static uint64_t low_part(uint64_t address, uint64_t size_bytes) {
    if (address >= PS_PEAK_LOW_END)
        return 0;
    return size_bytes < PS_PEAK_LOW_END - address ? size_bytes : PS_PEAK_LOW_END - address;
}

static uint64_t scratch_part(const struct ps_peak_mapping *mapping) {
    bool hidden = mapping->handle != 0 && ps_bo_is_hidden(mapping->handle);
    return hidden ? low_part(mapping->address, mapping->size_bytes) : 0;
}

// The first mapping that ends above the address.
static size_t list_find(const struct vm *vm, uint64_t address) {
    size_t low = 0, high = vm->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (vm->list[middle].address + vm->list[middle].size_bytes > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

// Place for two more: an unmapping in the middle of a mapping makes two of it.
static bool list_reserve(struct vm *vm) {
    if (vm->count + 2 <= vm->capacity)
        return true;
    size_t capacity = vm->capacity > 0 ? vm->capacity * 2 : 256;
    struct ps_peak_mapping *grown = realloc(vm->list, capacity * sizeof *grown);
    if (grown == NULL)
        return false;
    vm->list = grown;
    vm->capacity = capacity;
    return true;
}

static void list_insert(struct vm *vm, size_t at, struct ps_peak_mapping mapping) {
    memmove(vm->list + at + 1, vm->list + at, (vm->count - at) * sizeof *vm->list);
    vm->list[at] = mapping;
    vm->count++;
    stats.mapped_bytes += mapping.size_bytes;
    vm->low_bytes += low_part(mapping.address, mapping.size_bytes);
    vm->scratch_bytes += scratch_part(&mapping);
    if (mapping.handle != 0)
        ps_bo_map(mapping.handle);
}

// Leaves the mapping's hold on its buffer object to the caller.
static struct ps_peak_mapping list_remove(struct vm *vm, size_t at) {
    struct ps_peak_mapping mapping = vm->list[at];
    ps_peak_settle(vm, vm->list, vm->count);
    vm->count--;
    memmove(vm->list + at, vm->list + at + 1, (vm->count - at) * sizeof *vm->list);
    stats.mapped_bytes -= mapping.size_bytes;
    vm->low_bytes -= low_part(mapping.address, mapping.size_bytes);
    vm->scratch_bytes -= scratch_part(&mapping);
    return mapping;
}

static void unmap(struct vm *vm, uint64_t address, uint64_t size_bytes) {
    uint64_t end = address + size_bytes;
    for (size_t at = list_find(vm, address); at < vm->count && vm->list[at].address < end;) {
        struct ps_peak_mapping whole = list_remove(vm, at), part = whole;
        uint64_t whole_end = whole.address + whole.size_bytes;
        if (whole.address < address) {
            part.size_bytes = address - whole.address;
            list_insert(vm, at++, part);
        }
        if (whole_end > end) {
            part.address = end;
            part.size_bytes = whole_end - end;
            list_insert(vm, at++, part);
        }
        // After the parts, so that the object outlives the split.
        if (whole.handle != 0)
            ps_bo_unmap(whole.handle);
    }
}

static void map(struct vm *vm, const struct drm_panthor_vm_bind_op *op) {
    unmap(vm, op->va, op->size);
    if (op->bo_handle != 0)
        ps_exec_map((uint32_t)(vm - vms), op->va, op->size, ps_bo_file_offset(op->bo_handle) + op->bo_offset,
                    op->bo_handle, op->flags & DRM_PANTHOR_VM_BIND_OP_MAP_READONLY,
                    !(op->flags & DRM_PANTHOR_VM_BIND_OP_MAP_NOEXEC));
    list_insert(vm, list_find(vm, op->va),
                (struct ps_peak_mapping){.address = op->va, .size_bytes = op->size, .handle = op->bo_handle});
    if (stats.mapped_bytes > stats.mapped_peak_bytes)
        stats.mapped_peak_bytes = stats.mapped_bytes;
    if (vm->scratch_bytes > stats.scratch_peak_bytes)
        stats.scratch_peak_bytes = vm->scratch_bytes;
    ps_peak_note(vm, vm->low_bytes);
}

int ps_vm_create(void *argument) {
    struct drm_panthor_vm_create *create = argument;
    uint64_t all = UINT64_C(1) << ps_gpu_va_bits(ps_knobs()->gpu);
    if (create->flags != 0)
        return ps_log_unknown("VM_CREATE flags 0x%x", create->flags);
    if (create->user_va_range > all - KERNEL_MIN_BYTES)
        return ps_log_refuse(EINVAL, "VM_CREATE: 0x%llx addresses leave the kernel too few",
                             (unsigned long long)create->user_va_range);
    for (uint32_t id = 1; id < VM_COUNT; id++) {
        if (vms[id].exists)
            continue;
        create->user_va_range = create->user_va_range != 0 ? create->user_va_range : all / 2;
        create->id = id;
        vms[id] = (struct vm){.exists = true, .user_end = create->user_va_range};
        if (!ps_line_open(&vms[id].binds, 0, 1)) {
            vms[id].exists = false;
            return ps_log_refuse(ENOMEM, "VM_CREATE: no memory for the simulation's own table");
        }
        ps_log(PS_LOG_EVENTS, "VM %u: addresses below 0x%llx", id, (unsigned long long)create->user_va_range);
        return 0;
    }
    return ps_log_refuse(ENOMEM, "VM_CREATE: there are %d VMs", VM_COUNT - 1);
}

int ps_vm_destroy(void *argument) {
    const struct drm_panthor_vm_destroy *destroy = argument;
    struct vm *vm = vm_find(destroy->id);
    if (vm == NULL || destroy->pad != 0)
        return ps_log_refuse(EINVAL, "VM_DESTROY of %u, pad %u", destroy->id, destroy->pad);
    ps_log(PS_LOG_EVENTS, "VM %u goes with %zu mappings, %llu bytes below 4 GiB", destroy->id, vm->count,
           (unsigned long long)vm->low_bytes);
    ps_line_close(&vm->binds);
    ps_exec_vm_gone(destroy->id);
    unmap(vm, 0, UINT64_MAX);
    free(vm->list);
    *vm = (struct vm){0};
    return 0;
}

int ps_vm_get_state(void *argument) {
    struct drm_panthor_vm_get_state *get = argument;
    if (vm_find(get->vm_id) == NULL)
        return ps_log_refuse(EINVAL, "VM_GET_STATE of %u, which does not exist", get->vm_id);
    get->state = DRM_PANTHOR_VM_STATE_USABLE;
    return 0;
}

static int check_map(uint32_t id, const struct drm_panthor_vm_bind_op *op, uint64_t flags) {
    uint64_t known =
        DRM_PANTHOR_VM_BIND_OP_MAP_READONLY | DRM_PANTHOR_VM_BIND_OP_MAP_NOEXEC | DRM_PANTHOR_VM_BIND_OP_MAP_UNCACHED;
    if (ps_knobs()->minor >= 9)
        known |= DRM_PANTHOR_VM_BIND_OP_MAP_SPARSE;
    if (flags & ~known)
        return ps_log_unknown("VM_BIND flags 0x%llx of a mapping", (unsigned long long)(flags & ~known));
    if (op->size == 0 || op->size > vms[id].user_end || op->va > vms[id].user_end - op->size)
        return ps_log_refuse(EINVAL, "VM_BIND of 0x%llx bytes at 0x%llx, outside the VM's addresses",
                             (unsigned long long)op->size, (unsigned long long)op->va);
    if (!(flags & DRM_PANTHOR_VM_BIND_OP_MAP_SPARSE))
        return ps_bo_check_range(op->bo_handle, id, op->bo_offset, op->size);
    if (op->bo_handle != 0 || op->bo_offset != 0 || !(flags & DRM_PANTHOR_VM_BIND_OP_MAP_NOEXEC))
        return ps_log_refuse(EINVAL, "VM_BIND: a sparse mapping with an object, or executable");
    return 0;
}

static int check_op(uint32_t id, const struct drm_panthor_vm_bind_op *op, bool async) {
    uint32_t type = op->flags & (uint32_t)DRM_PANTHOR_VM_BIND_OP_TYPE_MASK, flags = op->flags & ~type;
    bool sync_only = type == DRM_PANTHOR_VM_BIND_OP_TYPE_SYNC_ONLY;
    if ((op->va | op->size | op->bo_offset) & (PS_BO_PAGE_BYTES - 1))
        return ps_log_refuse(EINVAL, "VM_BIND at 0x%llx, not in whole pages", (unsigned long long)op->va);
    if (!async && op->syncs.count > 0)
        return ps_log_refuse(EINVAL, "VM_BIND with syncs, but not asynchronous");
    if (type == DRM_PANTHOR_VM_BIND_OP_TYPE_MAP)
        return check_map(id, op, flags);
    if (!sync_only && type != DRM_PANTHOR_VM_BIND_OP_TYPE_UNMAP)
        return ps_log_unknown("VM_BIND operation 0x%x", type);
    if (flags != 0 || op->bo_handle != 0 || op->bo_offset != 0)
        return ps_log_refuse(EINVAL, "VM_BIND operation 0x%x with flags or an object", type);
    if (sync_only && (!async || op->va != 0 || op->size != 0 || op->syncs.count == 0))
        return ps_log_refuse(EINVAL, "VM_BIND: a synchronisation with addresses, or without syncs");
    if (!sync_only && (op->size > vms[id].user_end || op->va > vms[id].user_end - op->size))
        return ps_log_refuse(EINVAL, "VM_BIND: unmaps 0x%llx bytes at 0x%llx, outside the VM's addresses",
                             (unsigned long long)op->size, (unsigned long long)op->va);
    return 0;
}

// The knob HEAP_LIMIT_MIB. What the call unmaps is not taken off: no known program does both in one.
static int check_heap(const struct vm *vm, const struct drm_panthor_vm_bind_op *ops, uint32_t count) {
    uint64_t limit_mib = ps_knobs()->heap_limit_mib, low_bytes = vm->low_bytes, before = low_bytes;
    for (uint32_t i = 0; i < count; i++)
        if ((ops[i].flags & (uint32_t)DRM_PANTHOR_VM_BIND_OP_TYPE_MASK) == DRM_PANTHOR_VM_BIND_OP_TYPE_MAP)
            low_bytes += low_part(ops[i].va, ops[i].size);
    if (limit_mib == 0 || low_bytes == before || low_bytes <= limit_mib << 20)
        return 0;
    return ps_log_refuse(ENOMEM, "VM_BIND: %llu bytes below 4 GiB, HEAP_LIMIT_MIB is %llu",
                         (unsigned long long)low_bytes, (unsigned long long)limit_mib);
}

static int check_bind(const struct drm_panthor_vm_bind *bind, const struct drm_panthor_vm_bind_op *ops) {
    bool async = bind->flags & DRM_PANTHOR_VM_BIND_ASYNC;
    int result = 0;
    for (uint32_t i = 0; result == 0 && i < bind->ops.count; i++)
        result = check_op(bind->vm_id, &ops[i], async);
    if (result == 0)
        result = check_heap(&vms[bind->vm_id], ops, bind->ops.count);
    if (result == 0)
        result = ps_sync_check(&ops->syncs, sizeof *ops, bind->ops.count);
    return result;
}

static int run_op(struct vm *vm, const struct drm_panthor_vm_bind_op *op) {
    uint32_t type = op->flags & (uint32_t)DRM_PANTHOR_VM_BIND_OP_TYPE_MASK;
    if (!list_reserve(vm))
        return ps_log_refuse(ENOMEM, "VM_BIND: no memory for the simulation's own table");
    if (type == DRM_PANTHOR_VM_BIND_OP_TYPE_MAP) {
        stats.maps++;
        map(vm, op);
    } else if (type == DRM_PANTHOR_VM_BIND_OP_TYPE_UNMAP) {
        stats.unmaps++;
        ps_exec_unmap((uint32_t)(vm - vms), op->va, op->size);
        unmap(vm, op->va, op->size);
    }
    ps_log(PS_LOG_CALLS, "%s 0x%llx + 0x%llx, buffer object %u, below 4 GiB now %llu bytes",
           type == DRM_PANTHOR_VM_BIND_OP_TYPE_MAP ? "map" : "unmap", (unsigned long long)op->va,
           (unsigned long long)op->size, op->bo_handle, (unsigned long long)vm->low_bytes);
    return 0;
}

// An asynchronous operation. Its buffer object counts as mapped until it is.
struct later {
    struct vm *vm;
    struct drm_panthor_vm_bind_op op;
};

static void run_later(void *context, bool dropped) {
    const struct later *later = context;
    if (!dropped && run_op(later->vm, &later->op) != 0)
        ps_log(PS_LOG_ALWAYS, "an asynchronous VM_BIND has failed: no memory for the simulation's own table");
    if (later->op.bo_handle != 0)
        ps_bo_unmap(later->op.bo_handle);
}

static int push_op(struct vm *vm, const struct drm_panthor_vm_bind_op *op) {
    struct ps_job *job = ps_job_new();
    struct later *later = malloc(sizeof *later);
    if (job == NULL || later == NULL) {
        ps_job_free(job);
        free(later);
        return ps_log_refuse(ENOMEM, "VM_BIND: no memory for the simulation's own table");
    }
    *later = (struct later){vm, *op};
    if (op->bo_handle != 0)
        ps_bo_map(op->bo_handle);
    job->run = run_later;
    job->context = later;
    ps_sync_join(&op->syncs, &job->wait);
    ps_sync_attach(&op->syncs, job->done);
    ps_job_push(&vm->binds, job);
    return 0;
}

int ps_vm_bind(void *argument) {
    struct drm_panthor_vm_bind *bind = argument;
    struct vm *vm = vm_find(bind->vm_id);
    if (vm == NULL)
        return ps_log_refuse(EINVAL, "VM_BIND in VM %u, which does not exist", bind->vm_id);
    if (bind->flags & ~(uint32_t)DRM_PANTHOR_VM_BIND_ASYNC)
        return ps_log_unknown("VM_BIND flags 0x%x", bind->flags);
    stats.binds++;
    void *copy;
    int result = ps_ioctl_copy_array(&bind->ops, sizeof(struct drm_panthor_vm_bind_op),
                                     sizeof(struct drm_panthor_vm_bind_op), &copy);
    const struct drm_panthor_vm_bind_op *ops = copy;
    if (result == 0 && bind->ops.count > 0)
        result = check_bind(bind, ops);
    for (uint32_t i = 0; result == 0 && i < bind->ops.count; i++)
        result = bind->flags & DRM_PANTHOR_VM_BIND_ASYNC ? push_op(vm, &ops[i]) : run_op(vm, &ops[i]);
    free(copy);
    return result;
}

const struct ps_peak *ps_vm_peak(void) {
    for (uint32_t id = 1; id < VM_COUNT; id++)
        ps_peak_settle(&vms[id], vms[id].list, vms[id].count);
    return ps_peak_read();
}

const struct ps_vm_stats *ps_vm_stats(void) {
    return &stats;
}
