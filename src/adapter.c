// SPDX-License-Identifier: MIT
#include "adapter.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"

// What a device must have, as bits so that a refusal can name what is missing.
struct needs {
    bool compute, storage8, storage16, timeline, invocations;
};

static bool has_extension(const VkExtensionProperties *list, uint32_t count, const char *name) {
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(list[i].extensionName, name) == 0)
            return true;
    return false;
}

static VkExtensionProperties *list_extensions(const struct rf_vk *vk, VkPhysicalDevice device, uint32_t *count) {
    *count = 0;
    if (vk->EnumerateDeviceExtensionProperties(device, NULL, count, NULL) != VK_SUCCESS)
        return NULL;
    VkExtensionProperties *list = calloc(*count + 1, sizeof *list);
    if (list == NULL || vk->EnumerateDeviceExtensionProperties(device, NULL, count, list) < 0)
        *count = 0;
    return list;
}

static void read_features(const struct rf_vk *vk, VkPhysicalDevice device, const VkExtensionProperties *extensions,
                          uint32_t n_extensions, uint32_t api, struct rf_caps *caps, struct needs *has) {
    bool v12 = api >= VK_API_VERSION_1_2, v13 = api >= VK_API_VERSION_1_3;
    VkPhysicalDevice16BitStorageFeatures s16 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES};
    VkPhysicalDevice8BitStorageFeatures s8 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES};
    VkPhysicalDeviceTimelineSemaphoreFeatures timeline = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES};
    VkPhysicalDeviceShaderFloat16Int8Features f16 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES};
    VkPhysicalDeviceShaderIntegerDotProductFeatures dot = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &s16};
    // Only structures that the device knows may be in the chain.
    void **tail = &s16.pNext;
#define CHAIN(condition, member)                                                                                       \
    if (condition) {                                                                                                   \
        *tail = &member;                                                                                               \
        tail = &member.pNext;                                                                                          \
    }
    CHAIN(v12 || has_extension(extensions, n_extensions, VK_KHR_8BIT_STORAGE_EXTENSION_NAME), s8)
    CHAIN(v12 || has_extension(extensions, n_extensions, VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME), timeline)
    CHAIN(v12 || has_extension(extensions, n_extensions, VK_KHR_SHADER_FLOAT16_INT8_EXTENSION_NAME), f16)
    CHAIN(v13 || has_extension(extensions, n_extensions, VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME), dot)
#undef CHAIN
    vk->GetPhysicalDeviceFeatures2(device, &features);
    has->storage16 = s16.storageBuffer16BitAccess;
    has->storage8 = s8.storageBuffer8BitAccess;
    has->timeline = timeline.timelineSemaphore;
    caps->fp16 = f16.shaderFloat16;
    caps->dot4 = dot.shaderIntegerDotProduct;
}

static void read_properties(const struct rf_vk *vk, VkPhysicalDevice device, struct rf_caps *caps) {
    VkPhysicalDeviceSubgroupProperties subgroup = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES};
    VkPhysicalDeviceMaintenance3Properties limits3 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES, .pNext = &subgroup};
    VkPhysicalDeviceShaderIntegerDotProductProperties dot = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_PROPERTIES, .pNext = &limits3};
    VkPhysicalDeviceExternalMemoryHostPropertiesEXT import = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT,
        .pNext = caps->dot4 ? (void *)&dot : (void *)&limits3};
    VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                              .pNext = caps->host_import ? (void *)&import : import.pNext};
    vk->GetPhysicalDeviceProperties2(device, &properties);

    const VkPhysicalDeviceProperties *p = &properties.properties;
    memcpy(caps->name, p->deviceName, sizeof caps->name);
    caps->software = p->deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
    caps->discrete = p->deviceType == VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
    caps->vendor_id = p->vendorID;
    caps->device_id = p->deviceID;
    caps->driver_version = p->driverVersion;
    memcpy(caps->cache_uuid, p->pipelineCacheUUID, VK_UUID_SIZE);
    caps->dot4_accelerated = caps->dot4 && dot.integerDotProductAccumulatingSaturating4x8BitPackedSignedAccelerated;
    caps->subgroup_size = subgroup.subgroupSize;
    caps->max_range_bytes = p->limits.maxStorageBufferRange;
    caps->max_allocation_bytes = limits3.maxMemoryAllocationSize;
    caps->offset_alignment = p->limits.minStorageBufferOffsetAlignment;
    caps->atom_bytes = p->limits.nonCoherentAtomSize;
    caps->import_alignment = import.minImportedHostPointerAlignment;
    memcpy(caps->max_groups, p->limits.maxComputeWorkGroupCount, sizeof caps->max_groups);
    caps->max_invocations = p->limits.maxComputeWorkGroupInvocations;
}

static void read_memory(const struct rf_vk *vk, VkPhysicalDevice device, struct rf_caps *caps) {
    VkPhysicalDeviceMemoryProperties2 memory = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2};
    vk->GetPhysicalDeviceMemoryProperties2(device, &memory);
    caps->memory = memory.memoryProperties;
    for (uint32_t i = 0; i < caps->memory.memoryHeapCount; i++)
        if (caps->memory.memoryHeaps[i].size > caps->heap_bytes)
            caps->heap_bytes = caps->memory.memoryHeaps[i].size;
}

// Names the extensions that the device's version does not include, but for those whose feature is absent.
static void list_needed(const VkExtensionProperties *extensions, uint32_t count, struct rf_caps *caps) {
    const struct {
        const char *name;
        bool wanted;
    } rows[] = {
        {VK_KHR_8BIT_STORAGE_EXTENSION_NAME, true},
        {VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME, true},
        {VK_KHR_SHADER_FLOAT16_INT8_EXTENSION_NAME, caps->fp16},
        {VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME, caps->dot4},
        {VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME, caps->host_import},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].wanted && has_extension(extensions, count, rows[i].name))
            caps->extensions[caps->extension_count++] = rows[i].name;
}

// A queue family for compute, the one without graphics first: it is the less busy one where both exist.
static bool find_queue(const struct rf_vk *vk, VkPhysicalDevice device, uint32_t *family) {
    VkQueueFamilyProperties families[16];
    uint32_t count = 16;
    vk->GetPhysicalDeviceQueueFamilyProperties(device, &count, families);
    bool found = false;
    for (uint32_t i = 0; i < count; i++) {
        if (!(families[i].queueFlags & VK_QUEUE_COMPUTE_BIT))
            continue;
        bool compute_only = !(families[i].queueFlags & VK_QUEUE_GRAPHICS_BIT);
        if (!found || compute_only)
            *family = i;
        found = true;
        if (compute_only)
            break;
    }
    return found;
}

static const char *missing_need(const struct needs *has) {
    return !has->compute       ? "a compute queue"
           : !has->storage16   ? "16-bit storage"
           : !has->storage8    ? "8-bit storage"
           : !has->timeline    ? "timeline semaphores"
           : !has->invocations ? "workgroups of 64 invocations"
                               : NULL;
}

static bool adapter_read(const struct rf_vk *vk, VkPhysicalDevice device, struct rf_adapter *adapter) {
    *adapter = (struct rf_adapter){.handle = device};
    struct rf_caps *caps = &adapter->caps;
    VkPhysicalDeviceProperties basic;
    vk->GetPhysicalDeviceProperties(device, &basic);
    if (basic.apiVersion < VK_API_VERSION_1_1) {
        rf_log(RF_LOG_WARN, "%s is not used: its driver has Vulkan 1.0, rockfill needs 1.1", basic.deviceName);
        return false;
    }
    uint32_t n_extensions;
    VkExtensionProperties *extensions = list_extensions(vk, device, &n_extensions);
    struct needs has = {0};
    read_features(vk, device, extensions, n_extensions, basic.apiVersion, caps, &has);
    caps->host_import = has_extension(extensions, n_extensions, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
    list_needed(extensions, n_extensions, caps);
    free(extensions);
    read_properties(vk, device, caps);
    read_memory(vk, device, caps);
    has.compute = find_queue(vk, device, &caps->queue_family);
    has.invocations = caps->max_invocations >= 64;

    const char *missing = missing_need(&has);
    if (missing != NULL)
        rf_log(RF_LOG_WARN, "%s is not used: it lacks %s; a newer driver may have it", caps->name, missing);
    return missing == NULL;
}

// Whether the first `length` bytes of `part` occur in `text`, any case.
static bool contains(const char *text, const char *part, size_t length) {
    for (; strlen(text) >= length; text++) {
        size_t i = 0;
        while (i < length && tolower((unsigned char)text[i]) == tolower((unsigned char)part[i]))
            i++;
        if (i == length)
            return true;
    }
    return false;
}

bool rf_adapter_selected(const char *filter, size_t index, const char *name) {
    for (const char *item = filter; *item != '\0';) {
        size_t length = strcspn(item, ",");
        char *end;
        unsigned long number = strtoul(item, &end, 10);
        bool is_index = end == item + length && length > 0 && isdigit((unsigned char)*item);
        if (is_index ? number == index : length > 0 && contains(name, item, length))
            return true;
        item += length + (item[length] == ',');
    }
    return false;
}

static void list_adapters(struct rf_instance *instance, const char *filter) {
    struct rf_vk *vk = &instance->vk;
    uint32_t count = 0;
    VkResult result = vk->EnumeratePhysicalDevices(instance->handle, &count, NULL);
    VkPhysicalDevice *handles = calloc(count + 1, sizeof *handles);
    instance->adapters = calloc(count + 1, sizeof *instance->adapters);
    if (result == VK_SUCCESS && handles != NULL && instance->adapters != NULL)
        result = vk->EnumeratePhysicalDevices(instance->handle, &count, handles);
    else
        count = 0;
    size_t software = 0;
    for (uint32_t i = 0; i < count && result >= 0; i++) {
        VkPhysicalDeviceProperties p;
        vk->GetPhysicalDeviceProperties(handles[i], &p);
        bool skipped = filter == NULL && p.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
        software += skipped;
        if (skipped || (filter != NULL && !rf_adapter_selected(filter, i, p.deviceName)))
            continue;
        instance->count += adapter_read(vk, handles[i], &instance->adapters[instance->count]);
    }
    free(handles);
    if (result < 0)
        rf_log(RF_LOG_WARN, "no devices: vkEnumeratePhysicalDevices gave %s", rf_vk_result_name(result));
    else if (instance->count == 0 && filter != NULL)
        rf_log(RF_LOG_WARN, "no devices: GGML_ROCKFILL_DEVICE=\"%.60s\" matches none of %u", filter, count);
    else if (instance->count == 0 && software > 0)
        rf_log(RF_LOG_WARN, "no devices: only a software rasteriser was found, which is slower than the CPU itself; "
                            "GGML_ROCKFILL_DEVICE=llvmpipe uses it all the same");
    else if (instance->count == 0 && count == 0)
        rf_log(RF_LOG_WARN, "no devices: no Vulkan driver found one; is the driver installed, the render node open?");
}

void rf_instance_open(struct rf_instance *instance, const char *filter) {
    *instance = (struct rf_instance){0};
    const char *why;
    if (!rf_vk_open(&instance->vk, &why)) {
        rf_log(RF_LOG_WARN, "no devices: %s", why);
        return;
    }
    VkApplicationInfo app = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                             .pApplicationName = "rockfill",
                             .pEngineName = "rockfill",
                             .apiVersion = VK_API_VERSION_1_1};
    // The highest version that this file knows features of, so that they may be used without extensions.
    uint32_t loader = VK_API_VERSION_1_1;
    if (instance->vk.EnumerateInstanceVersion(&loader) == VK_SUCCESS && loader >= VK_API_VERSION_1_3)
        app.apiVersion = VK_API_VERSION_1_3;
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &app};
    VkResult result = instance->vk.CreateInstance(&info, NULL, &instance->handle);
    if (result != VK_SUCCESS) {
        instance->handle = VK_NULL_HANDLE;
        rf_log(RF_LOG_WARN, "no devices: vkCreateInstance gave %s; is a Vulkan driver installed?",
               rf_vk_result_name(result));
        return;
    }
    if (!rf_vk_load_instance(&instance->vk, instance->handle)) {
        rf_log(RF_LOG_WARN, "no devices: the Vulkan loader lacks entry points of Vulkan 1.1");
        return;
    }
    list_adapters(instance, filter);
}

void rf_instance_close(struct rf_instance *instance) {
    if (instance->handle != VK_NULL_HANDLE && instance->vk.DestroyInstance != NULL)
        instance->vk.DestroyInstance(instance->handle, NULL);
    free(instance->adapters);
    *instance = (struct rf_instance){0};
}
