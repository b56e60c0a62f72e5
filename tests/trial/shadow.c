/* SPDX-License-Identifier: MIT
 *
 * Mapping, and memory that is host cached but not coherent.
 *
 * The program gets a shadow. The GPU sees only what was flushed, the program only what was invalidated, both in whole
 * atoms of TRIAL_ATOM_BYTES as with cache lines: a flush of part of an atom carries its neighbours along, stale as
 * they may be. With TRIAL_EVICT=1 a written atom may also reach the GPU's memory unasked (trial_shadow_evict): before
 * a submission, or after a wait, over what the GPU wrote. Which atoms do is drawn from TRIAL_SEED.
 */
#include "trial.h"

#include <stdlib.h>
#include <string.h>

#define PAGE_BYTES 4096u

struct span {
    VkDeviceSize begin, end;
};

VkResult trial_shadow_create(struct trial_memory *memory) {
    struct trial_device *device = memory->device;
    size_t padded = (memory->bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    void *real;
    VkResult result = device->next.vkMapMemory(device->handle, memory->handle, 0, VK_WHOLE_SIZE, 0, &real);
    if (result != VK_SUCCESS) {
        return result;
    }
    memory->real = real;
    memory->shadow = aligned_alloc(PAGE_BYTES, padded);
    memory->synced = trial_config.evict ? malloc(padded) : NULL;
    if (memory->shadow == NULL || (trial_config.evict && memory->synced == NULL)) {
        trial_shadow_destroy(memory);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    memcpy(memory->shadow, memory->real, memory->bytes);
    if (memory->synced != NULL) {
        memcpy(memory->synced, memory->real, memory->bytes);
    }
    return VK_SUCCESS;
}

void trial_shadow_destroy(struct trial_memory *memory) {
    if (memory->real != NULL) {
        memory->device->next.vkUnmapMemory(memory->device->handle, memory->handle);
    }
    free(memory->shadow);
    free(memory->synced);
    memory->real = memory->shadow = memory->synced = NULL;
}

/* ---- mapping ---- */

/* Whether the program may map this range; a fault is logged where not. */
static bool may_map(const struct trial_memory *memory, VkDeviceSize offset, VkDeviceSize bytes) {
    if (!memory->host_visible) {
        trial_log_fault("vkMapMemory: memory type %u is not host visible", memory->type);
        return false;
    }
    if (memory->mapped) {
        trial_log_fault("vkMapMemory: the memory is mapped already");
        return false;
    }
    if (offset >= memory->bytes || (bytes != VK_WHOLE_SIZE && bytes > memory->bytes - offset)) {
        trial_log_fault("vkMapMemory: offset %llu and size %llu leave the allocation of %llu bytes",
                        (unsigned long long)offset, (unsigned long long)bytes, (unsigned long long)memory->bytes);
        return false;
    }
    return true;
}

VKAPI_ATTR VkResult VKAPI_CALL trial_vkMapMemory(VkDevice handle, VkDeviceMemory mapped, VkDeviceSize offset,
                                                 VkDeviceSize bytes, VkMemoryMapFlags flags, void **out) {
    struct trial_device *device = trial_table_device(handle);
    VkResult result = trial_fault_check(TRIAL_CALL_vkMapMemory, device, NULL);
    if (result != VK_SUCCESS) {
        return result;
    }
    struct trial_memory *memory = trial_memory_find(mapped);
    if (memory == NULL || !may_map(memory, offset, bytes)) {
        return VK_ERROR_MEMORY_MAP_FAILED;
    }
    if (memory->shadow != NULL) {
        *out = memory->shadow + offset;
    } else {
        result = device->next.vkMapMemory(handle, mapped, offset, bytes, flags, out);
    }
    if (result == VK_SUCCESS) {
        memory->mapped = true;
        memory->map_offset = offset;
        memory->map_bytes = bytes == VK_WHOLE_SIZE ? memory->bytes - offset : bytes;
    }
    return result;
}

VKAPI_ATTR void VKAPI_CALL trial_vkUnmapMemory(VkDevice handle, VkDeviceMemory unmapped) {
    struct trial_device *device = trial_table_device(handle);
    struct trial_memory *memory = trial_memory_find(unmapped);
    if (memory == NULL || !memory->mapped) {
        trial_log_fault("vkUnmapMemory: the memory is not mapped");
        return;
    }
    memory->mapped = false;
    if (memory->shadow == NULL) {
        device->next.vkUnmapMemory(handle, unmapped);
    }
}

/* ---- flush and invalidate ---- */

static void check_atoms(const char *call, const struct trial_memory *memory, struct span span) {
    bool begins = span.begin % TRIAL_ATOM_BYTES == 0;
    bool ends = span.end % TRIAL_ATOM_BYTES == 0 || span.end == memory->bytes;
    if (trial_config.memory == TRIAL_MEMORY_NONCOHERENT && !(begins && ends)) {
        trial_log_fault("%s: bytes %llu to %llu of %llu are not whole atoms of %u", call,
                        (unsigned long long)span.begin, (unsigned long long)span.end, (unsigned long long)memory->bytes,
                        TRIAL_ATOM_BYTES);
    }
}

/* The bytes that a range names, cut to the mapping; false, with a fault logged, for memory that is not mapped. */
static bool resolve(const char *call, const struct trial_memory *memory, const VkMappedMemoryRange *range,
                    struct span *span) {
    if (memory == NULL || !memory->mapped) {
        trial_log_fault("%s: the memory is not mapped", call);
        return false;
    }
    VkDeviceSize map_end = memory->map_offset + memory->map_bytes;
    bool whole = range->size == VK_WHOLE_SIZE;
    bool inside = range->offset >= memory->map_offset && range->offset <= map_end &&
                  (whole || range->size <= map_end - range->offset);
    if (!inside) {
        trial_log_fault("%s: offset %llu and size %llu leave the mapping of bytes %llu to %llu", call,
                        (unsigned long long)range->offset, (unsigned long long)range->size,
                        (unsigned long long)memory->map_offset, (unsigned long long)map_end);
        return false;
    }
    *span = (struct span){range->offset, whole ? map_end : range->offset + range->size};
    check_atoms(call, memory, *span);
    return true;
}

/* The span widened to whole atoms. */
static struct span widen(struct span span, VkDeviceSize bytes) {
    span.begin -= span.begin % TRIAL_ATOM_BYTES;
    span.end += (TRIAL_ATOM_BYTES - span.end % TRIAL_ATOM_BYTES) % TRIAL_ATOM_BYTES;
    span.end = span.end < bytes ? span.end : bytes;
    return span;
}

static void copy_span(struct trial_memory *memory, struct span span, bool to_gpu) {
    span = widen(span, memory->bytes);
    size_t length = span.end - span.begin;
    uint8_t *to = to_gpu ? memory->real : memory->shadow;
    const uint8_t *from = to_gpu ? memory->shadow : memory->real;
    memcpy(to + span.begin, from + span.begin, length);
    if (memory->synced != NULL) {
        memcpy(memory->synced + span.begin, memory->shadow + span.begin, length);
    }
}

static VkResult sync_range(struct trial_device *device, const char *call, const VkMappedMemoryRange *range,
                           bool to_gpu) {
    struct trial_memory *memory = trial_memory_find(range->memory);
    struct span span;
    if (!resolve(call, memory, range, &span)) {
        return VK_SUCCESS;
    }
    if (memory->shadow != NULL) {
        trial_table_lock(); /* against trial_shadow_evict */
        copy_span(memory, span, to_gpu);
        trial_table_unlock();
        return VK_SUCCESS;
    }
    return to_gpu ? device->next.vkFlushMappedMemoryRanges(device->handle, 1, range)
                  : device->next.vkInvalidateMappedMemoryRanges(device->handle, 1, range);
}

VKAPI_ATTR VkResult VKAPI_CALL trial_vkFlushMappedMemoryRanges(VkDevice handle, uint32_t count,
                                                               const VkMappedMemoryRange *ranges) {
    struct trial_device *device = trial_table_device(handle);
    VkResult result = trial_fault_check(TRIAL_CALL_vkFlushMappedMemoryRanges, device, NULL);
    for (uint32_t i = 0; result == VK_SUCCESS && i < count; i++) {
        result = sync_range(device, "vkFlushMappedMemoryRanges", &ranges[i], true);
    }
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL trial_vkInvalidateMappedMemoryRanges(VkDevice handle, uint32_t count,
                                                                    const VkMappedMemoryRange *ranges) {
    struct trial_device *device = trial_table_device(handle);
    VkResult result = trial_fault_check(TRIAL_CALL_vkInvalidateMappedMemoryRanges, device, NULL);
    for (uint32_t i = 0; result == VK_SUCCESS && i < count; i++) {
        result = sync_range(device, "vkInvalidateMappedMemoryRanges", &ranges[i], false);
    }
    return result;
}

/* ---- eviction ---- */

/* xorshift64; the caller holds the lock. */
static bool coin(void) {
    static uint64_t state;
    if (state == 0) {
        state = 0x9E3779B97F4A7C15ull * (trial_config.seed != 0 ? trial_config.seed : 1);
    }
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (state >> 32 & 1) != 0;
}

static void evict_page(struct trial_memory *memory, struct span page) {
    for (VkDeviceSize at = page.begin; at < page.end; at += TRIAL_ATOM_BYTES) {
        struct span atom = widen((struct span){at, at + 1}, memory->bytes);
        size_t length = atom.end - atom.begin;
        if (memcmp(memory->shadow + at, memory->synced + at, length) != 0 && coin()) {
            copy_span(memory, atom, true);
        }
    }
}

/* Compares by pages first: most memory is clean. */
static void evict_memory(struct trial_memory *memory) {
    for (VkDeviceSize at = 0; memory->synced != NULL && at < memory->bytes; at += PAGE_BYTES) {
        struct span page = {at, at + PAGE_BYTES < memory->bytes ? at + PAGE_BYTES : memory->bytes};
        if (memcmp(memory->shadow + at, memory->synced + at, page.end - page.begin) != 0) {
            evict_page(memory, page);
        }
    }
}

void trial_shadow_evict(struct trial_device *device) {
    if (trial_config.evict) {
        trial_table_lock();
        trial_memory_visit(device, evict_memory);
        trial_table_unlock();
    }
}
