// SPDX-License-Identifier: MIT
#include "pipeline.h"

#include <stdlib.h>
#include <string.h>

#include "cachefile.h"
#include "log.h"

struct pipeline_entry {
    struct rf_pipeline_key key;
    VkPipeline handle;
};

struct rf_pipelines {
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkPipelineCache cache;
    struct pipeline_entry *entries;
    size_t count, capacity;
    bool unsaved;
};

static struct rf_cachefile_owner cache_owner(const struct rf_caps *caps) {
    struct rf_cachefile_owner owner;
    memset(&owner, 0, sizeof owner);
    owner.vendor_id = caps->vendor_id;
    owner.device_id = caps->device_id;
    owner.driver_version = caps->driver_version;
    memcpy(owner.uuid, caps->cache_uuid, sizeof owner.uuid);
    return owner;
}

// The cache, filled from disk where a valid file exists. A driver that rejects the bytes gets none: an empty cache only
// costs the compilation.
static VkResult create_cache(struct rf_device *device, struct rf_pipelines *pipelines) {
    struct rf_cachefile_owner owner = cache_owner(&device->caps);
    char path[4096];
    size_t bytes = 0;
    void *data = rf_cachefile_path(&owner, path, sizeof path) ? rf_cachefile_read(path, &owner, &bytes) : NULL;
    VkPipelineCacheCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO, .initialDataSize = bytes, .pInitialData = data};
    VkResult result = device->vk.CreatePipelineCache(device->handle, &info, NULL, &pipelines->cache);
    if (result != VK_SUCCESS && bytes > 0) {
        info.initialDataSize = 0;
        result = device->vk.CreatePipelineCache(device->handle, &info, NULL, &pipelines->cache);
    }
    free(data);
    return result;
}

static VkResult create_layouts(struct rf_device *device, struct rf_pipelines *pipelines) {
    VkDescriptorSetLayoutBinding bindings[RF_BINDINGS];
    for (uint32_t i = 0; i < RF_BINDINGS; i++)
        bindings[i] = (VkDescriptorSetLayoutBinding){.binding = i,
                                                     .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                                     .descriptorCount = 1,
                                                     .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
    VkDescriptorSetLayoutCreateInfo set = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                           .bindingCount = RF_BINDINGS,
                                           .pBindings = bindings};
    VkResult result = device->vk.CreateDescriptorSetLayout(device->handle, &set, NULL, &pipelines->set_layout);
    if (result != VK_SUCCESS)
        return result;
    VkPushConstantRange push = {.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT, .size = RF_PUSH_BYTES};
    VkPipelineLayoutCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                       .setLayoutCount = 1,
                                       .pSetLayouts = &pipelines->set_layout,
                                       .pushConstantRangeCount = 1,
                                       .pPushConstantRanges = &push};
    return device->vk.CreatePipelineLayout(device->handle, &info, NULL, &pipelines->layout);
}

struct rf_pipelines *rf_pipelines_create(struct rf_device *device) {
    struct rf_pipelines *pipelines = calloc(1, sizeof *pipelines);
    if (pipelines == NULL)
        return NULL;
    VkResult result = create_layouts(device, pipelines);
    if (result == VK_SUCCESS)
        result = create_cache(device, pipelines);
    if (result != VK_SUCCESS) {
        rf_log(RF_LOG_WARN, "%s: no pipeline layout or cache (%s)", device->caps.name, rf_vk_result_name(result));
        rf_pipelines_destroy(device, pipelines);
        return NULL;
    }
    return pipelines;
}

void rf_pipelines_destroy(struct rf_device *device, struct rf_pipelines *pipelines) {
    if (pipelines == NULL)
        return;
    for (size_t i = 0; i < pipelines->count; i++)
        device->vk.DestroyPipeline(device->handle, pipelines->entries[i].handle, NULL);
    device->vk.DestroyPipelineCache(device->handle, pipelines->cache, NULL);
    device->vk.DestroyPipelineLayout(device->handle, pipelines->layout, NULL);
    device->vk.DestroyDescriptorSetLayout(device->handle, pipelines->set_layout, NULL);
    free(pipelines->entries);
    free(pipelines);
}

static VkResult create_pipeline(struct rf_device *device, const struct rf_pipeline_key *key, VkPipeline *pipeline) {
    const struct rf_kernel_code *code = rf_kernel_code(key->kernel);
    VkShaderModuleCreateInfo module_info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = code->bytes, .pCode = code->words};
    VkShaderModule module;
    VkResult result = device->vk.CreateShaderModule(device->handle, &module_info, NULL, &module);
    if (result != VK_SUCCESS)
        return result;
    VkSpecializationMapEntry map[RF_SPEC_MAX];
    for (uint32_t i = 0; i < RF_SPEC_MAX; i++)
        map[i] = (VkSpecializationMapEntry){.constantID = i, .offset = i * 4, .size = 4};
    VkSpecializationInfo spec = {
        .mapEntryCount = RF_SPEC_MAX, .pMapEntries = map, .dataSize = sizeof key->spec, .pData = key->spec};
    VkComputePipelineCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                  .module = module,
                                                  .pName = "main",
                                                  .pSpecializationInfo = &spec},
                                        .layout = device->pipelines->layout};
    result = device->vk.CreateComputePipelines(device->handle, device->pipelines->cache, 1, &info, NULL, pipeline);
    device->vk.DestroyShaderModule(device->handle, module, NULL);
    return result;
}

static bool grow_entries(struct rf_pipelines *pipelines) {
    if (pipelines->count < pipelines->capacity)
        return true;
    size_t capacity = pipelines->capacity == 0 ? 32 : 2 * pipelines->capacity;
    struct pipeline_entry *entries = realloc(pipelines->entries, capacity * sizeof *entries);
    if (entries == NULL)
        return false;
    pipelines->entries = entries;
    pipelines->capacity = capacity;
    return true;
}

VkPipeline rf_pipelines_get(struct rf_device *device, const struct rf_pipeline_key *key, VkResult *result) {
    struct rf_pipelines *pipelines = device->pipelines;
    *result = VK_SUCCESS;
    for (size_t i = 0; i < pipelines->count; i++)
        if (memcmp(&pipelines->entries[i].key, key, sizeof *key) == 0)
            return pipelines->entries[i].handle;
    if (!grow_entries(pipelines)) {
        *result = VK_ERROR_OUT_OF_HOST_MEMORY;
        return VK_NULL_HANDLE;
    }
    struct pipeline_entry entry = {.key = *key};
    *result = create_pipeline(device, key, &entry.handle);
    if (*result != VK_SUCCESS)
        return VK_NULL_HANDLE;
    rf_log(RF_LOG_INFO, "pipeline %s (%u %u %u %u %u %u)", rf_kernel_code(key->kernel)->name, key->spec[0],
           key->spec[1], key->spec[2], key->spec[3], key->spec[4], key->spec[5]);
    pipelines->entries[pipelines->count++] = entry;
    pipelines->unsaved = true;
    return entry.handle;
}

VkPipelineLayout rf_pipelines_layout(const struct rf_device *device) {
    return device->pipelines->layout;
}

VkDescriptorSetLayout rf_pipelines_set_layout(const struct rf_device *device) {
    return device->pipelines->set_layout;
}

void rf_pipelines_save(struct rf_device *device) {
    struct rf_pipelines *pipelines = device->pipelines;
    if (!pipelines->unsaved)
        return;
    pipelines->unsaved = false;
    struct rf_cachefile_owner owner = cache_owner(&device->caps);
    char path[4096];
    size_t bytes = 0;
    if (!rf_cachefile_path(&owner, path, sizeof path) ||
        device->vk.GetPipelineCacheData(device->handle, pipelines->cache, &bytes, NULL) != VK_SUCCESS)
        return;
    void *data = malloc(bytes + 1);
    if (data != NULL && device->vk.GetPipelineCacheData(device->handle, pipelines->cache, &bytes, data) == VK_SUCCESS &&
        !rf_cachefile_write(path, &owner, data, bytes))
        rf_log(RF_LOG_INFO, "the pipeline cache could not be written to %s", path);
    free(data);
}
