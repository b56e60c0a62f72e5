// SPDX-License-Identifier: MIT
#include "memory.h"

static VkResult create_buffer(struct rf_device *device, enum rf_memory_kind kind, VkDeviceSize bytes,
                              VkBuffer *buffer) {
    VkExternalMemoryBufferCreateInfo external = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
                                                 .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT};
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                               .pNext = kind == RF_MEMORY_FOREIGN ? &external : NULL,
                               .size = bytes,
                               .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                        VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                               .sharingMode = VK_SHARING_MODE_EXCLUSIVE};
    return device->vk.CreateBuffer(device->handle, &info, NULL, buffer);
}

// The first memory type that an import of `foreign` allows, host-cached ones first.
static uint32_t foreign_type(struct rf_device *device, const void *foreign, uint32_t allowed) {
    VkMemoryHostPointerPropertiesEXT pointer = {.sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT};
    if (device->vk.GetMemoryHostPointerPropertiesEXT == NULL ||
        device->vk.GetMemoryHostPointerPropertiesEXT(
            device->handle, VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT, foreign, &pointer) != VK_SUCCESS)
        return ~0u;
    uint32_t chosen = ~0u;
    const VkPhysicalDeviceMemoryProperties *types = &device->caps.memory;
    for (uint32_t i = 0; i < types->memoryTypeCount; i++) {
        if (!(pointer.memoryTypeBits & allowed & 1u << i))
            continue;
        if (types->memoryTypes[i].propertyFlags & VK_MEMORY_PROPERTY_HOST_CACHED_BIT)
            return i;
        if (chosen == ~0u)
            chosen = i;
    }
    return chosen;
}

static uint32_t choose_type(struct rf_device *device, enum rf_memory_kind kind, const void *foreign, uint32_t allowed) {
    uint32_t type = kind == RF_MEMORY_FOREIGN ? foreign_type(device, foreign, allowed)
                    : kind == RF_MEMORY_HOST  ? device->types.host
                                              : device->types.local;
    return type != ~0u && (allowed >> type & 1u) ? type : ~0u;
}

static VkResult allocate(struct rf_device *device, enum rf_memory_kind kind, void *foreign, struct rf_memory *memory) {
    VkMemoryRequirements needs;
    device->vk.GetBufferMemoryRequirements(device->handle, memory->buffer, &needs);
    uint32_t type = choose_type(device, kind, foreign, needs.memoryTypeBits);
    if (type == ~0u)
        return VK_ERROR_FEATURE_NOT_PRESENT;
    VkImportMemoryHostPointerInfoEXT import = {.sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT,
                                               .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT,
                                               .pHostPointer = foreign};
    VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                 .pNext = kind == RF_MEMORY_FOREIGN ? &import : NULL,
                                 .allocationSize = kind == RF_MEMORY_FOREIGN ? memory->bytes : needs.size,
                                 .memoryTypeIndex = type};
    memory->coherent =
        (device->caps.memory.memoryTypes[type].propertyFlags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT) != 0;
    VkResult result = device->vk.AllocateMemory(device->handle, &info, NULL, &memory->handle);
    if (result != VK_SUCCESS) {
        memory->handle = VK_NULL_HANDLE;
        return result;
    }
    result = device->vk.BindBufferMemory(device->handle, memory->buffer, memory->handle, 0);
    // An imported range is mapped, too: flushes of non-coherent memory are defined on mappings only.
    if (result == VK_SUCCESS && kind != RF_MEMORY_LOCAL)
        result = device->vk.MapMemory(device->handle, memory->handle, 0, VK_WHOLE_SIZE, 0, &memory->host);
    return result;
}

VkResult rf_memory_create(struct rf_device *device, enum rf_memory_kind kind, VkDeviceSize bytes, void *foreign,
                          struct rf_memory *memory) {
    *memory = (struct rf_memory){.bytes = bytes};
    if (bytes > device->caps.max_allocation_bytes) {
        memory->bytes = 0;
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    VkResult result = create_buffer(device, kind, bytes, &memory->buffer);
    if (result != VK_SUCCESS) {
        *memory = (struct rf_memory){0};
        return result;
    }
    atomic_fetch_add(&device->allocated_bytes, bytes);
    result = allocate(device, kind, foreign, memory);
    if (result != VK_SUCCESS)
        rf_memory_destroy(device, memory);
    return result;
}

void rf_memory_destroy(struct rf_device *device, struct rf_memory *memory) {
    if (memory->buffer != VK_NULL_HANDLE) {
        device->vk.DestroyBuffer(device->handle, memory->buffer, NULL);
        atomic_fetch_sub(&device->allocated_bytes, memory->bytes);
    }
    if (memory->handle != VK_NULL_HANDLE)
        device->vk.FreeMemory(device->handle, memory->handle, NULL);
    *memory = (struct rf_memory){0};
}

static VkMappedMemoryRange whole_atoms(const struct rf_device *device, const struct rf_memory *memory,
                                       VkDeviceSize offset, VkDeviceSize bytes) {
    VkDeviceSize atom = device->caps.atom_bytes;
    VkDeviceSize begin = offset / atom * atom;
    VkDeviceSize end = (offset + bytes + atom - 1) / atom * atom;
    return (VkMappedMemoryRange){.sType = VK_STRUCTURE_TYPE_MAPPED_MEMORY_RANGE,
                                 .memory = memory->handle,
                                 .offset = begin,
                                 .size = end >= memory->bytes ? VK_WHOLE_SIZE : end - begin};
}

VkResult rf_memory_flush(struct rf_device *device, const struct rf_memory *memory, VkDeviceSize offset,
                         VkDeviceSize bytes) {
    if (memory->coherent || memory->host == NULL || bytes == 0)
        return VK_SUCCESS;
    VkMappedMemoryRange range = whole_atoms(device, memory, offset, bytes);
    return device->vk.FlushMappedMemoryRanges(device->handle, 1, &range);
}

VkResult rf_memory_invalidate(struct rf_device *device, const struct rf_memory *memory, VkDeviceSize offset,
                              VkDeviceSize bytes) {
    if (memory->coherent || memory->host == NULL || bytes == 0)
        return VK_SUCCESS;
    VkMappedMemoryRange range = whole_atoms(device, memory, offset, bytes);
    return device->vk.InvalidateMappedMemoryRanges(device->handle, 1, &range);
}
