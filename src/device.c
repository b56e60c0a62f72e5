// SPDX-License-Identifier: MIT
#include "device.h"

#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "memory.h"
#include "pipeline.h"
#include "plan.h"
#include "selftest.h"
#include "submit.h"

static uint32_t find_type(const VkPhysicalDeviceMemoryProperties *memory, VkMemoryPropertyFlags wanted,
                          VkMemoryPropertyFlags unwanted) {
    for (uint32_t i = 0; i < memory->memoryTypeCount; i++) {
        VkMemoryPropertyFlags flags = memory->memoryTypes[i].propertyFlags;
        // Protected and AMD's device-coherent types are for those who ask for them.
        if ((flags & wanted) == wanted && !(flags & unwanted) &&
            !(flags & (VK_MEMORY_PROPERTY_PROTECTED_BIT | VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD)))
            return i;
    }
    return ~0u;
}

static void find_types(const struct rf_caps *caps, struct rf_memory_types *types) {
    const VkMemoryPropertyFlags visible = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT,
                                coherent = VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                                cached = VK_MEMORY_PROPERTY_HOST_CACHED_BIT,
                                local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
    // In order of preference; Vulkan guarantees the last one of each.
    const VkMemoryPropertyFlags host[] = {visible | cached | coherent, visible | cached, visible | coherent};
    types->host = ~0u;
    for (size_t i = 0; i < 3 && types->host == ~0u; i++)
        types->host = find_type(&caps->memory, host[i], 0);
    types->local = find_type(&caps->memory, local, visible);
    if (types->local == ~0u)
        types->local = find_type(&caps->memory, local, 0);
    if (types->local == ~0u)
        types->local = types->host;
    VkMemoryPropertyFlags flags = types->host != ~0u ? caps->memory.memoryTypes[types->host].propertyFlags : 0;
    types->host_cached = (flags & cached) != 0;
    types->host_coherent = (flags & coherent) != 0;
}

enum rf_memory_mode rf_device_choose_memory(const struct rf_caps *caps, enum rf_memory_mode wish,
                                            struct rf_memory_types *types) {
    find_types(caps, types);
    bool can_share = types->host != ~0u, can_import = caps->host_import;
    if (wish == RF_MEMORY_MIRRORED || (wish == RF_MEMORY_SHARED && can_share) ||
        (wish == RF_MEMORY_IMPORTED && can_import))
        return wish;
    if (wish != RF_MEMORY_AUTO)
        rf_log(RF_LOG_WARN, "%s: memory mode %s is not possible; choosing another", caps->name,
               rf_env_memory_name(wish));
    // Decode reads every weight on the CPU for each token: it must not do so through write-combined memory or a bus.
    if (caps->discrete)
        return RF_MEMORY_MIRRORED;
    if (can_share && types->host_cached)
        return RF_MEMORY_SHARED;
    return can_import ? RF_MEMORY_IMPORTED : RF_MEMORY_MIRRORED;
}

struct path_row {
    enum rf_path path;
    bool needs_dot, needs_fp16, floats;
    bool slow_in_software, slow_without_dot_instruction;
};

// The first row that the device meets and that is not slow there wins. lavapipe emulates both the integer dot product
// and fp16; the former still pays, since its loads are what costs (docs/kernel-log.md).
static const struct path_row path_table[] = {
    {.path = RF_PATH_INT8, .needs_dot = true, .slow_without_dot_instruction = true},
    {.path = RF_PATH_FP16, .needs_fp16 = true, .floats = true, .slow_in_software = true},
    {.path = RF_PATH_FP32, .floats = true},
};

static enum rf_path choose_path(const struct rf_caps *caps, enum rf_path wish, bool dot_ok, bool floats) {
    for (size_t i = 0; i < sizeof path_table / sizeof path_table[0]; i++) {
        const struct path_row *row = &path_table[i];
        bool possible = (!row->needs_dot || dot_ok) && (!row->needs_fp16 || caps->fp16) && (!floats || row->floats);
        bool slow =
            caps->software ? row->slow_in_software : row->slow_without_dot_instruction && !caps->dot4_accelerated;
        if (possible && (wish == row->path || (wish == RF_PATH_AUTO && !slow)))
            return row->path;
    }
    return RF_PATH_FP32;
}

void rf_device_choose_paths(const struct rf_caps *caps, enum rf_path wish, bool dot_ok, enum rf_path *quantised,
                            enum rf_path *half) {
    *quantised = choose_path(caps, wish, dot_ok, false);
    // int8 does not exist for floats: whoever asks for it gets the floats' own choice.
    *half = choose_path(caps, wish == RF_PATH_INT8 ? RF_PATH_AUTO : wish, dot_ok, true);
}

static VkResult create_handle(const struct rf_instance *instance, const struct rf_adapter *adapter,
                              struct rf_device *device) {
    const struct rf_caps *caps = &adapter->caps;
    float priority = 1.0f;
    VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                     .queueFamilyIndex = caps->queue_family,
                                     .queueCount = 1,
                                     .pQueuePriorities = &priority};
    VkPhysicalDevice16BitStorageFeatures s16 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES,
                                                .storageBuffer16BitAccess = VK_TRUE};
    VkPhysicalDevice8BitStorageFeatures s8 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES,
                                              .pNext = &s16,
                                              .storageBuffer8BitAccess = VK_TRUE};
    VkPhysicalDeviceTimelineSemaphoreFeatures timeline = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES,
        .pNext = &s8,
        .timelineSemaphore = VK_TRUE};
    VkPhysicalDeviceShaderFloat16Int8Features f16 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES, .shaderFloat16 = VK_TRUE};
    VkPhysicalDeviceShaderIntegerDotProductFeatures dot = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES,
        .shaderIntegerDotProduct = VK_TRUE};
    void *chain = &timeline;
    if (caps->fp16) {
        f16.pNext = chain;
        chain = &f16;
    }
    if (caps->dot4) {
        dot.pNext = chain;
        chain = &dot;
    }
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .pNext = chain,
                               .queueCreateInfoCount = 1,
                               .pQueueCreateInfos = &queue,
                               .enabledExtensionCount = caps->extension_count,
                               .ppEnabledExtensionNames = caps->extensions};
    return instance->vk.CreateDevice(adapter->handle, &info, NULL, &device->handle);
}

static bool open_parts(struct rf_device *device, const struct rf_env *env) {
    device->unchecked = env->debug > 1;
    if (device->unchecked)
        rf_log(RF_LOG_WARN, "GGML_ROCKFILL_DEBUG=2: whether %s computes, and rightly, is not checked",
               device->caps.name);
    device->mode = rf_device_choose_memory(&device->caps, env->memory, &device->types);
    device->pipelines = rf_pipelines_create(device);
    if (device->pipelines == NULL)
        return false;
    device->submit = rf_submit_create(device);
    if (device->submit == NULL)
        return false;
    device->plan = rf_plan_create();
    if (device->plan == NULL)
        return false;
    bool dot_wanted = env->path == RF_PATH_AUTO || env->path == RF_PATH_INT8;
    bool dot_ok = dot_wanted && device->caps.dot4 && (device->unchecked || rf_selftest_dot(device));
    rf_device_choose_paths(&device->caps, env->path, dot_ok, &device->quantised_path, &device->half_path);
    if (env->path != RF_PATH_AUTO && device->quantised_path != env->path)
        rf_log(RF_LOG_WARN, "%s: path %s is not possible here; using %s", device->caps.name,
               rf_env_path_name(env->path), rf_env_path_name(device->quantised_path));
    return !atomic_load(&device->failed);
}

struct rf_device *rf_device_open(const struct rf_instance *instance, const struct rf_adapter *adapter,
                                 const struct rf_env *env) {
    struct rf_device *device = calloc(1, sizeof *device);
    if (device == NULL)
        return NULL;
    device->vk = instance->vk;
    device->caps = adapter->caps;
    pthread_mutex_init(&device->lock, NULL);
    VkResult result = create_handle(instance, adapter, device);
    bool loaded = result == VK_SUCCESS && rf_vk_load_device(&device->vk, device->handle);
    if (!loaded) {
        rf_log(RF_LOG_WARN, "%s is not used: vkCreateDevice gave %s", adapter->caps.name,
               result == VK_SUCCESS ? "a device without Vulkan 1.1's entry points" : rf_vk_result_name(result));
        device->handle = VK_NULL_HANDLE;
        rf_device_close(device);
        return NULL;
    }
    device->vk.GetDeviceQueue(device->handle, device->caps.queue_family, 0, &device->queue);
    if (!open_parts(device, env)) {
        rf_device_close(device);
        return NULL;
    }
    rf_log(RF_LOG_INFO, "%s: memory %s, quantised weights in %s, half-precision weights in %s", device->caps.name,
           rf_env_memory_name(device->mode), rf_env_path_name(device->quantised_path),
           rf_env_path_name(device->half_path));
    return device;
}

void rf_device_close(struct rf_device *device) {
    if (device == NULL)
        return;
    if (device->handle != VK_NULL_HANDLE) {
        device->vk.DeviceWaitIdle(device->handle);
        rf_plan_destroy(device, device->plan);
        rf_submit_destroy(device, device->submit);
        rf_pipelines_destroy(device, device->pipelines);
        device->vk.DestroyDevice(device->handle, NULL);
    }
    pthread_mutex_destroy(&device->lock);
    free(device);
}

void rf_device_fail(struct rf_device *device, const char *what, VkResult result) {
    if (!atomic_exchange(&device->failed, true))
        rf_log(RF_LOG_ERROR, "%s is out of use from here on, the CPU goes on: %s (%s)", device->caps.name, what,
               rf_vk_result_name(result));
}
