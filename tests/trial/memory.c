/* SPDX-License-Identifier: MIT
 *
 * Memory types and heaps as the program sees them, and the allocations made of them.
 *
 * Each pretended type stands for one real type of the driver, which must be host visible and coherent; what a
 * pretended type is not (host visible, cached, coherent) is withheld here and in shadow.c.
 */
#include "trial.h"

#include <stdlib.h>
#include <string.h>

#define POISON 0xA5

static struct trial_map allocations;
static uint64_t heap_used_bytes[VK_MAX_MEMORY_HEAPS];

/* ---- what is reported ---- */

static VkPhysicalDeviceMemoryProperties driver_properties(VkPhysicalDevice physical) {
    VkPhysicalDeviceMemoryProperties properties;
    trial_table_instance(physical)->next.vkGetPhysicalDeviceMemoryProperties(physical, &properties);
    return properties;
}

/* The driver's type that stands behind pretended ones: the first host visible and coherent one, else 0. */
static uint32_t backing_type(const VkPhysicalDeviceMemoryProperties *driver) {
    VkMemoryPropertyFlags want = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    for (uint32_t i = 0; i < driver->memoryTypeCount; i++) {
        if ((driver->memoryTypes[i].propertyFlags & want) == want) {
            return i;
        }
    }
    return 0;
}

static void report_nocached(VkPhysicalDeviceMemoryProperties *p) {
    for (uint32_t i = 0; i < p->memoryTypeCount; i++) {
        p->memoryTypes[i].propertyFlags &= ~(VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
    }
}

/* A discrete GPU: its own memory out of the host's reach, and the host's. */
static void report_split(VkPhysicalDeviceMemoryProperties *p) {
    VkDeviceSize bytes = p->memoryHeaps[p->memoryTypes[backing_type(p)].heapIndex].size;
    *p = (VkPhysicalDeviceMemoryProperties){
        .memoryHeapCount = 2,
        .memoryHeaps = {{bytes, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT}, {bytes, 0}},
        .memoryTypeCount = 2,
        .memoryTypes = {{VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0},
                        {VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT |
                             VK_MEMORY_PROPERTY_HOST_CACHED_BIT,
                         1}},
    };
}

/* The Mali-G610 under panthor 1.7 and later, in the driver's order. */
static void report_noncoherent(VkPhysicalDeviceMemoryProperties *p) {
    VkDeviceSize bytes = p->memoryHeaps[p->memoryTypes[backing_type(p)].heapIndex].size;
    VkMemoryPropertyFlags local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
    VkMemoryPropertyFlags visible = local | VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT;
    *p = (VkPhysicalDeviceMemoryProperties){
        .memoryHeapCount = 1,
        .memoryHeaps = {{bytes, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT}},
        .memoryTypeCount = 3,
        .memoryTypes = {{local, 0},
                        {visible | VK_MEMORY_PROPERTY_HOST_CACHED_BIT, 0},
                        {visible | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT, 0}},
    };
}

static bool types_are_pretended(void) {
    return trial_config.memory == TRIAL_MEMORY_SPLIT || trial_config.memory == TRIAL_MEMORY_NONCOHERENT;
}

static void mask_properties(VkPhysicalDeviceMemoryProperties *p) {
    if (trial_config.memory == TRIAL_MEMORY_NOCACHED) {
        report_nocached(p);
    } else if (trial_config.memory == TRIAL_MEMORY_SPLIT) {
        report_split(p);
    } else if (trial_config.memory == TRIAL_MEMORY_NONCOHERENT) {
        report_noncoherent(p);
    }
    for (uint32_t i = 0; trial_config.heap_mib != 0 && i < p->memoryHeapCount; i++) {
        p->memoryHeaps[i].size = trial_config.heap_mib * TRIAL_MIB;
    }
}

VKAPI_ATTR void VKAPI_CALL trial_vkGetPhysicalDeviceMemoryProperties(VkPhysicalDevice physical,
                                                                     VkPhysicalDeviceMemoryProperties *properties) {
    *properties = driver_properties(physical);
    mask_properties(properties);
}

static void fill_budget(VkPhysicalDeviceMemoryBudgetPropertiesEXT *budget, const VkPhysicalDeviceMemoryProperties *p) {
    trial_table_lock();
    for (uint32_t i = 0; i < VK_MAX_MEMORY_HEAPS; i++) {
        bool there = i < p->memoryHeapCount;
        budget->heapBudget[i] = there ? p->memoryHeaps[i].size : 0;
        budget->heapUsage[i] = there ? heap_used_bytes[i] : 0;
    }
    trial_table_unlock();
}

VKAPI_ATTR void VKAPI_CALL trial_vkGetPhysicalDeviceMemoryProperties2(VkPhysicalDevice physical,
                                                                      VkPhysicalDeviceMemoryProperties2 *properties) {
    struct trial_unlinked unlinked;
    trial_features_unlink(properties, &unlinked);
    trial_table_instance(physical)->next.vkGetPhysicalDeviceMemoryProperties2(physical, properties);
    mask_properties(&properties->memoryProperties);
    for (VkBaseOutStructure *node = properties->pNext; node != NULL; node = node->pNext) {
        if (node->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT &&
            trial_config.heap_mib != 0) {
            fill_budget((VkPhysicalDeviceMemoryBudgetPropertiesEXT *)node, &properties->memoryProperties);
        }
    }
    trial_features_restore(&unlinked);
}

/* Type bits of the driver as bits of the pretended types. `imported`: memory that the host owns, which no type out of
 * the host's reach can be. */
static uint32_t mask_bits(struct trial_device *device, uint32_t bits, bool imported) {
    if (!types_are_pretended()) {
        return bits;
    }
    VkPhysicalDeviceMemoryProperties driver = driver_properties(device->physical), shown = driver;
    mask_properties(&shown);
    uint32_t out = 0;
    for (uint32_t i = 0; (bits >> backing_type(&driver) & 1) != 0 && i < shown.memoryTypeCount; i++) {
        bool visible = (shown.memoryTypes[i].propertyFlags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0;
        out |= visible || !imported ? 1u << i : 0;
    }
    return out;
}

VKAPI_ATTR void VKAPI_CALL trial_vkGetBufferMemoryRequirements(VkDevice handle, VkBuffer buffer,
                                                               VkMemoryRequirements *requirements) {
    struct trial_device *device = trial_table_device(handle);
    device->next.vkGetBufferMemoryRequirements(handle, buffer, requirements);
    requirements->memoryTypeBits = mask_bits(device, requirements->memoryTypeBits, false);
}

VKAPI_ATTR void VKAPI_CALL trial_vkGetBufferMemoryRequirements2(VkDevice handle,
                                                                const VkBufferMemoryRequirementsInfo2 *info,
                                                                VkMemoryRequirements2 *requirements) {
    struct trial_device *device = trial_table_device(handle);
    device->next.vkGetBufferMemoryRequirements2(handle, info, requirements);
    VkMemoryRequirements *inner = &requirements->memoryRequirements;
    inner->memoryTypeBits = mask_bits(device, inner->memoryTypeBits, false);
}

VKAPI_ATTR void VKAPI_CALL trial_vkGetDeviceBufferMemoryRequirements(VkDevice handle,
                                                                     const VkDeviceBufferMemoryRequirements *info,
                                                                     VkMemoryRequirements2 *requirements) {
    struct trial_device *device = trial_table_device(handle);
    device->next.vkGetDeviceBufferMemoryRequirements(handle, info, requirements);
    VkMemoryRequirements *inner = &requirements->memoryRequirements;
    inner->memoryTypeBits = mask_bits(device, inner->memoryTypeBits, false);
}

VKAPI_ATTR void VKAPI_CALL trial_vkGetImageMemoryRequirements(VkDevice handle, VkImage image,
                                                              VkMemoryRequirements *requirements) {
    struct trial_device *device = trial_table_device(handle);
    device->next.vkGetImageMemoryRequirements(handle, image, requirements);
    requirements->memoryTypeBits = mask_bits(device, requirements->memoryTypeBits, false);
}

VKAPI_ATTR void VKAPI_CALL trial_vkGetImageMemoryRequirements2(VkDevice handle,
                                                               const VkImageMemoryRequirementsInfo2 *info,
                                                               VkMemoryRequirements2 *requirements) {
    struct trial_device *device = trial_table_device(handle);
    device->next.vkGetImageMemoryRequirements2(handle, info, requirements);
    VkMemoryRequirements *inner = &requirements->memoryRequirements;
    inner->memoryTypeBits = mask_bits(device, inner->memoryTypeBits, false);
}

VKAPI_ATTR VkResult VKAPI_CALL trial_vkGetMemoryHostPointerPropertiesEXT(VkDevice handle,
                                                                         VkExternalMemoryHandleTypeFlagBits type,
                                                                         const void *pointer,
                                                                         VkMemoryHostPointerPropertiesEXT *properties) {
    struct trial_device *device = trial_table_device(handle);
    VkResult result = trial_fault_check(TRIAL_CALL_vkGetMemoryHostPointerPropertiesEXT, device, NULL);
    if (result == VK_SUCCESS) {
        result = device->next.vkGetMemoryHostPointerPropertiesEXT(handle, type, pointer, properties);
    }
    if (result == VK_SUCCESS) {
        properties->memoryTypeBits = mask_bits(device, properties->memoryTypeBits, true);
    }
    return result;
}

/* ---- allocations ---- */

static bool is_import(const VkMemoryAllocateInfo *info) {
    for (const VkBaseInStructure *node = info->pNext; node != NULL; node = node->pNext) {
        if (node->sType == VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT ||
            node->sType == VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR) {
            return true;
        }
    }
    return false;
}

/* Takes the bytes from the heap, if the heap is pretended and has them. Imported memory is not the heap's. */
static bool take_heap(const struct trial_memory *memory) {
    bool fits = true;
    trial_table_lock();
    if (!memory->imported) {
        fits = trial_config.heap_mib == 0 ||
               heap_used_bytes[memory->heap] + memory->bytes <= trial_config.heap_mib * TRIAL_MIB;
        heap_used_bytes[memory->heap] += fits ? memory->bytes : 0;
    }
    trial_table_unlock();
    return fits;
}

static void give_heap(const struct trial_memory *memory) {
    trial_table_lock();
    heap_used_bytes[memory->heap] -= memory->imported ? 0 : memory->bytes;
    trial_table_unlock();
}

/* Fresh memory holds what others left in it: a program that relies on zeros fails here, not in the field. */
static VkResult poison(struct trial_memory *memory) {
    struct trial_device *device = memory->device;
    void *bytes;
    if (!trial_config.poison || memory->imported) {
        return VK_SUCCESS;
    }
    VkResult result = device->next.vkMapMemory(device->handle, memory->handle, 0, VK_WHOLE_SIZE, 0, &bytes);
    if (result == VK_SUCCESS) {
        memset(bytes, POISON, memory->bytes);
        device->next.vkUnmapMemory(device->handle, memory->handle);
    }
    return result;
}

/* A driver that does not let the layer map its memory (a real discrete GPU) cannot be poisoned there. */
static bool can_poison(const VkPhysicalDeviceMemoryProperties *driver, uint32_t real_type) {
    VkMemoryPropertyFlags want = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    return (driver->memoryTypes[real_type].propertyFlags & want) == want;
}

/* Allocates below, poisons, adds a shadow where the pretended type wants one. On failure nothing is kept. */
static VkResult allocate_below(struct trial_memory *memory, const VkMemoryAllocateInfo *info,
                               const VkAllocationCallbacks *allocator, const VkMemoryType *type) {
    struct trial_device *device = memory->device;
    VkPhysicalDeviceMemoryProperties driver = driver_properties(device->physical);
    VkMemoryAllocateInfo below = *info;
    below.memoryTypeIndex = types_are_pretended() ? backing_type(&driver) : info->memoryTypeIndex;
    VkResult result = device->next.vkAllocateMemory(device->handle, &below, allocator, &memory->handle);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (can_poison(&driver, below.memoryTypeIndex)) {
        result = poison(memory);
    }
    bool shadowed = trial_config.memory == TRIAL_MEMORY_NONCOHERENT && memory->host_visible &&
                    !(type->propertyFlags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
    if (result == VK_SUCCESS && shadowed) {
        result = trial_shadow_create(memory);
    }
    if (result != VK_SUCCESS) {
        device->next.vkFreeMemory(device->handle, memory->handle, allocator);
    }
    return result;
}

static VkResult remember(struct trial_memory *memory) {
    trial_table_lock();
    bool good = trial_map_put(&allocations, TRIAL_KEY(memory->handle), memory);
    trial_table_unlock();
    return good ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

static VkResult allocate(struct trial_memory *memory, const VkMemoryAllocateInfo *info,
                         const VkAllocationCallbacks *allocator, const VkMemoryType *type) {
    if (!take_heap(memory)) {
        trial_log_refusal(memory->bytes);
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    VkResult result = allocate_below(memory, info, allocator, type);
    if (result == VK_SUCCESS && (result = remember(memory)) != VK_SUCCESS) {
        trial_shadow_destroy(memory);
        memory->device->next.vkFreeMemory(memory->device->handle, memory->handle, allocator);
    }
    if (result != VK_SUCCESS) {
        give_heap(memory);
    }
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL trial_vkAllocateMemory(VkDevice handle, const VkMemoryAllocateInfo *info,
                                                      const VkAllocationCallbacks *allocator, VkDeviceMemory *out) {
    struct trial_device *device = trial_table_device(handle);
    VkResult result = trial_fault_check(TRIAL_CALL_vkAllocateMemory, device, NULL);
    if (result != VK_SUCCESS) {
        return result;
    }
    VkPhysicalDeviceMemoryProperties shown = driver_properties(device->physical);
    mask_properties(&shown);
    struct trial_memory *memory = calloc(1, sizeof *memory);
    if (memory == NULL || info->memoryTypeIndex >= shown.memoryTypeCount) {
        free(memory);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    const VkMemoryType *type = &shown.memoryTypes[info->memoryTypeIndex];
    *memory = (struct trial_memory){
        .device = device,
        .bytes = info->allocationSize,
        .type = info->memoryTypeIndex,
        .heap = type->heapIndex,
        .imported = is_import(info),
        .host_visible = (type->propertyFlags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0,
    };
    result = allocate(memory, info, allocator, type);
    if (result != VK_SUCCESS) {
        free(memory);
        return result;
    }
    *out = memory->handle;
    trial_log_allocation(memory->bytes, memory->type, memory->imported);
    return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL trial_vkFreeMemory(VkDevice handle, VkDeviceMemory freed,
                                              const VkAllocationCallbacks *allocator) {
    struct trial_device *device = trial_table_device(handle);
    trial_table_lock();
    struct trial_memory *memory = trial_map_take(&allocations, TRIAL_KEY(freed));
    trial_table_unlock();
    if (memory != NULL) {
        trial_log_free(memory->bytes);
        give_heap(memory);
        trial_shadow_destroy(memory);
        free(memory);
    }
    device->next.vkFreeMemory(handle, freed, allocator);
}

struct trial_memory *trial_memory_find(VkDeviceMemory handle) {
    trial_table_lock();
    struct trial_memory *memory = trial_map_get(&allocations, TRIAL_KEY(handle));
    trial_table_unlock();
    return memory;
}

void trial_memory_visit(struct trial_device *device, void (*visit)(struct trial_memory *memory)) {
    size_t at = 0;
    for (struct trial_memory *memory; (memory = trial_map_next(&allocations, &at)) != NULL;) {
        if (memory->device == device) {
            visit(memory);
        }
    }
}

/* One allocation of the device taken out of the map, or NULL. */
static struct trial_memory *take_any(struct trial_device *device) {
    size_t at = 0;
    trial_table_lock();
    struct trial_memory *memory = trial_map_next(&allocations, &at);
    while (memory != NULL && memory->device != device) {
        memory = trial_map_next(&allocations, &at);
    }
    if (memory != NULL) {
        trial_map_take(&allocations, TRIAL_KEY(memory->handle));
    }
    trial_table_unlock();
    return memory;
}

void trial_memory_forget(struct trial_device *device) {
    for (struct trial_memory *memory; (memory = take_any(device)) != NULL;) {
        trial_log_fault("vkDestroyDevice: an allocation of %llu bytes was not freed",
                        (unsigned long long)memory->bytes);
        give_heap(memory);
        trial_shadow_destroy(memory);
        free(memory);
    }
}
