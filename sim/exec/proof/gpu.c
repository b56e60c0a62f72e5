// SPDX-License-Identifier: MIT
#include "gpu.h"

#include <string.h>

#define GUARD 0xa5

static VkResult instance_new(struct gpu *gpu) {
    const VkApplicationInfo app = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_3};
    const VkInstanceCreateInfo about = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &app};
    VkResult result = vkCreateInstance(&about, NULL, &gpu->instance);
    if (result < 0)
        return result;
    uint32_t count = 1;
    result = vkEnumeratePhysicalDevices(gpu->instance, &count, &gpu->physical);
    return result < 0 ? result : count == 0 ? VK_ERROR_INITIALIZATION_FAILED : VK_SUCCESS;
}

static bool extension_has(const struct gpu *gpu, const char *name) {
    static VkExtensionProperties all[512];
    uint32_t count = sizeof all / sizeof *all;
    if (vkEnumerateDeviceExtensionProperties(gpu->physical, NULL, &count, all) < 0)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(all[i].extensionName, name) == 0)
            return true;
    return false;
}

static VkResult memory_type_find(struct gpu *gpu) {
    const VkMemoryPropertyFlags wanted = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(gpu->physical, &memory);
    for (uint32_t i = 0; i < memory.memoryTypeCount; i++) {
        if ((memory.memoryTypes[i].propertyFlags & wanted) == wanted) {
            gpu->memory_type = i;
            return VK_SUCCESS;
        }
    }
    return VK_ERROR_FEATURE_NOT_PRESENT;
}

// Every feature of the core versions; unbound bindings and the shader clock where there are such extensions.
static VkResult device_new(struct gpu *gpu, bool robust) {
    VkPhysicalDeviceShaderClockFeaturesKHR clock = {.sType =
                                                        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CLOCK_FEATURES_KHR};
    VkPhysicalDeviceRobustness2FeaturesEXT robustness = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ROBUSTNESS_2_FEATURES_EXT};
    VkPhysicalDeviceVulkan13Features v13 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES};
    VkPhysicalDeviceVulkan12Features v12 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
    VkPhysicalDeviceVulkan11Features v11 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES,
                                            .pNext = &v12};
    VkPhysicalDeviceFeatures2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &v11};
    VkPhysicalDeviceProperties properties;
    const char *extensions[2];
    uint32_t count = 0;
    void **last = &v12.pNext;
    vkGetPhysicalDeviceProperties(gpu->physical, &properties);
    if (properties.apiVersion >= VK_API_VERSION_1_3) {
        *last = &v13;
        last = &v13.pNext;
    }
    if (extension_has(gpu, VK_EXT_ROBUSTNESS_2_EXTENSION_NAME)) {
        extensions[count++] = VK_EXT_ROBUSTNESS_2_EXTENSION_NAME;
        *last = &robustness;
        last = &robustness.pNext;
    }
    if (extension_has(gpu, VK_KHR_SHADER_CLOCK_EXTENSION_NAME)) {
        extensions[count++] = VK_KHR_SHADER_CLOCK_EXTENSION_NAME;
        *last = &clock;
    }
    vkGetPhysicalDeviceFeatures2(gpu->physical, &all);
    all.features.robustBufferAccess = robust;
    robustness.robustBufferAccess2 = robustness.robustImageAccess2 = VK_FALSE;
    gpu->null_descriptors = robustness.nullDescriptor;
    const float priority = 1;
    const VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &priority};
    const VkDeviceCreateInfo about = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                      .pNext = &all,
                                      .queueCreateInfoCount = 1,
                                      .pQueueCreateInfos = &queue,
                                      .enabledExtensionCount = count,
                                      .ppEnabledExtensionNames = extensions};
    return vkCreateDevice(gpu->physical, &about, NULL, &gpu->device);
}

VkResult gpu_open(struct gpu *gpu, bool robust) {
    *gpu = (struct gpu){.robust = robust};
    VkResult result = instance_new(gpu);
    result = result < 0 ? result : memory_type_find(gpu);
    result = result < 0 ? result : device_new(gpu, robust);
    if (result < 0)
        return result;
    vkGetDeviceQueue(gpu->device, 0, 0, &gpu->queue);
    const VkCommandPoolCreateInfo about = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    return vkCreateCommandPool(gpu->device, &about, NULL, &gpu->pool);
}

void gpu_close(struct gpu *gpu) {
    if (gpu->device != VK_NULL_HANDLE) {
        vkDestroyCommandPool(gpu->device, gpu->pool, NULL);
        vkDestroyDevice(gpu->device, NULL);
    }
    if (gpu->instance != VK_NULL_HANDLE)
        vkDestroyInstance(gpu->instance, NULL);
    *gpu = (struct gpu){0};
}

static VkResult memory_bind(const struct gpu *gpu, struct gpu_buffer *buffer) {
    const VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                             .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(gpu->device, buffer->handle, &needs);
    const VkMemoryAllocateInfo about = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                        .pNext = &flags,
                                        .allocationSize = needs.size,
                                        .memoryTypeIndex = gpu->memory_type};
    VkResult result = vkAllocateMemory(gpu->device, &about, NULL, &buffer->memory);
    return result < 0 ? result : vkBindBufferMemory(gpu->device, buffer->handle, buffer->memory, 0);
}

VkResult gpu_buffer_new(const struct gpu *gpu, uint32_t size_bytes, struct gpu_buffer *buffer) {
    *buffer = (struct gpu_buffer){.size_bytes = size_bytes};
    const VkBufferCreateInfo about = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                      .size = (VkDeviceSize)size_bytes + 2 * GPU_GUARD_BYTES,
                                      .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT |
                                               VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT |
                                               VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT};
    void *host = NULL;
    VkResult result = vkCreateBuffer(gpu->device, &about, NULL, &buffer->handle);
    result = result < 0 ? result : memory_bind(gpu, buffer);
    result = result < 0 ? result : vkMapMemory(gpu->device, buffer->memory, 0, VK_WHOLE_SIZE, 0, &host);
    if (result < 0)
        return result;
    const VkBufferDeviceAddressInfo where = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
                                             .buffer = buffer->handle};
    buffer->address = vkGetBufferDeviceAddress(gpu->device, &where) + GPU_GUARD_BYTES;
    memset(host, GUARD, (size_t)size_bytes + 2 * GPU_GUARD_BYTES);
    buffer->bytes = (uint8_t *)host + GPU_GUARD_BYTES;
    memset(buffer->bytes, 0, size_bytes);
    return VK_SUCCESS;
}

void gpu_buffer_free(const struct gpu *gpu, struct gpu_buffer *buffer) {
    vkDestroyBuffer(gpu->device, buffer->handle, NULL);
    vkFreeMemory(gpu->device, buffer->memory, NULL);
    *buffer = (struct gpu_buffer){0};
}

bool gpu_buffer_overrun(const struct gpu_buffer *buffer, int64_t *offset) {
    for (int64_t i = -GPU_GUARD_BYTES; i < (int64_t)buffer->size_bytes + GPU_GUARD_BYTES; i++) {
        bool guard = i < 0 || i >= (int64_t)buffer->size_bytes;
        if (guard && buffer->bytes[i] != GUARD) {
            *offset = i;
            return true;
        }
    }
    return false;
}
