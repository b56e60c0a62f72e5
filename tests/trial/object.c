/* SPDX-License-Identifier: MIT
 *
 * Making and destroying everything that needs no more than to be counted and, where a knob says so, refused.
 */
#include "trial.h"

#include <stdlib.h>

/* vkCreateX(device, info, allocator, &handle) and vkDestroyX(device, handle, allocator). */
#define OBJECT(Name, info_type, handle_type, kind)                                                                     \
    VKAPI_ATTR VkResult VKAPI_CALL trial_vkCreate##Name(VkDevice handle, const info_type *info,                        \
                                                        const VkAllocationCallbacks *allocator, handle_type *out) {    \
        struct trial_device *device = trial_table_device(handle);                                                      \
        VkResult result = trial_fault_check(TRIAL_CALL_vkCreate##Name, device, NULL);                                  \
        if (result == VK_SUCCESS) {                                                                                    \
            result = device->next.vkCreate##Name(handle, info, allocator, out);                                        \
        }                                                                                                              \
        if (result == VK_SUCCESS) {                                                                                    \
            trial_log_count(kind, 1);                                                                                  \
        }                                                                                                              \
        return result;                                                                                                 \
    }                                                                                                                  \
    VKAPI_ATTR void VKAPI_CALL trial_vkDestroy##Name(VkDevice handle, handle_type object,                              \
                                                     const VkAllocationCallbacks *allocator) {                         \
        trial_table_device(handle)->next.vkDestroy##Name(handle, object, allocator);                                   \
        if (object != VK_NULL_HANDLE) {                                                                                \
            trial_log_count(kind, -1);                                                                                 \
        }                                                                                                              \
    }

OBJECT(Buffer, VkBufferCreateInfo, VkBuffer, TRIAL_KIND_BUFFER)
OBJECT(PipelineLayout, VkPipelineLayoutCreateInfo, VkPipelineLayout, TRIAL_KIND_PIPELINE_LAYOUT)
OBJECT(DescriptorSetLayout, VkDescriptorSetLayoutCreateInfo, VkDescriptorSetLayout, TRIAL_KIND_DESCRIPTOR_SET_LAYOUT)
OBJECT(DescriptorPool, VkDescriptorPoolCreateInfo, VkDescriptorPool, TRIAL_KIND_DESCRIPTOR_POOL)
OBJECT(DescriptorUpdateTemplate, VkDescriptorUpdateTemplateCreateInfo, VkDescriptorUpdateTemplate,
       TRIAL_KIND_DESCRIPTOR_UPDATE_TEMPLATE)
OBJECT(PipelineCache, VkPipelineCacheCreateInfo, VkPipelineCache, TRIAL_KIND_PIPELINE_CACHE)
OBJECT(QueryPool, VkQueryPoolCreateInfo, VkQueryPool, TRIAL_KIND_QUERY_POOL)

/* ---- shader modules and pipelines ---- */

VKAPI_ATTR VkResult VKAPI_CALL trial_vkCreateShaderModule(VkDevice handle, const VkShaderModuleCreateInfo *info,
                                                          const VkAllocationCallbacks *allocator, VkShaderModule *out) {
    struct trial_device *device = trial_table_device(handle);
    VkResult result = trial_fault_check(TRIAL_CALL_vkCreateShaderModule, device, NULL);
    if (result != VK_SUCCESS) {
        return result;
    }
    VkShaderModuleCreateInfo below = *info;
    uint32_t *patched = trial_shader_patch(info->pCode, info->codeSize);
    below.pCode = patched != NULL ? patched : info->pCode;
    result = device->next.vkCreateShaderModule(handle, &below, allocator, out);
    free(patched);
    if (result == VK_SUCCESS) {
        trial_log_count(TRIAL_KIND_SHADER_MODULE, 1);
    }
    return result;
}

VKAPI_ATTR void VKAPI_CALL trial_vkDestroyShaderModule(VkDevice handle, VkShaderModule module,
                                                       const VkAllocationCallbacks *allocator) {
    trial_table_device(handle)->next.vkDestroyShaderModule(handle, module, allocator);
    if (module != VK_NULL_HANDLE) {
        trial_log_count(TRIAL_KIND_SHADER_MODULE, -1);
    }
}

VKAPI_ATTR VkResult VKAPI_CALL trial_vkCreateComputePipelines(VkDevice handle, VkPipelineCache cache, uint32_t count,
                                                              const VkComputePipelineCreateInfo *infos,
                                                              const VkAllocationCallbacks *allocator, VkPipeline *out) {
    struct trial_device *device = trial_table_device(handle);
    VkResult result = trial_fault_check(TRIAL_CALL_vkCreateComputePipelines, device, NULL);
    if (result != VK_SUCCESS) {
        for (uint32_t i = 0; i < count; i++) {
            out[i] = VK_NULL_HANDLE; /* as the specification has it */
        }
        return result;
    }
    result = device->next.vkCreateComputePipelines(handle, cache, count, infos, allocator, out);
    for (uint32_t i = 0; i < count; i++) {
        trial_log_count(TRIAL_KIND_PIPELINE, out[i] != VK_NULL_HANDLE);
    }
    return result;
}

VKAPI_ATTR void VKAPI_CALL trial_vkDestroyPipeline(VkDevice handle, VkPipeline pipeline,
                                                   const VkAllocationCallbacks *allocator) {
    trial_table_device(handle)->next.vkDestroyPipeline(handle, pipeline, allocator);
    if (pipeline != VK_NULL_HANDLE) {
        trial_log_count(TRIAL_KIND_PIPELINE, -1);
    }
}

VKAPI_ATTR VkResult VKAPI_CALL trial_vkGetPipelineCacheData(VkDevice handle, VkPipelineCache cache, size_t *bytes,
                                                            void *data) {
    struct trial_device *device = trial_table_device(handle);
    VkResult result = trial_fault_check(TRIAL_CALL_vkGetPipelineCacheData, device, NULL);
    return result != VK_SUCCESS ? result : device->next.vkGetPipelineCacheData(handle, cache, bytes, data);
}

VKAPI_ATTR VkResult VKAPI_CALL trial_vkMergePipelineCaches(VkDevice handle, VkPipelineCache cache, uint32_t count,
                                                           const VkPipelineCache *caches) {
    struct trial_device *device = trial_table_device(handle);
    VkResult result = trial_fault_check(TRIAL_CALL_vkMergePipelineCaches, device, NULL);
    return result != VK_SUCCESS ? result : device->next.vkMergePipelineCaches(handle, cache, count, caches);
}

/* ---- descriptor sets, binding, queries ---- */

VKAPI_ATTR VkResult VKAPI_CALL trial_vkAllocateDescriptorSets(VkDevice handle, const VkDescriptorSetAllocateInfo *info,
                                                              VkDescriptorSet *out) {
    struct trial_device *device = trial_table_device(handle);
    VkResult result = trial_fault_check(TRIAL_CALL_vkAllocateDescriptorSets, device, NULL);
    if (result != VK_SUCCESS) {
        for (uint32_t i = 0; i < info->descriptorSetCount; i++) {
            out[i] = VK_NULL_HANDLE; /* as the specification has it */
        }
        return result;
    }
    return device->next.vkAllocateDescriptorSets(handle, info, out);
}

VKAPI_ATTR VkResult VKAPI_CALL trial_vkBindBufferMemory(VkDevice handle, VkBuffer buffer, VkDeviceMemory memory,
                                                        VkDeviceSize offset) {
    struct trial_device *device = trial_table_device(handle);
    VkResult result = trial_fault_check(TRIAL_CALL_vkBindBufferMemory, device, NULL);
    return result != VK_SUCCESS ? result : device->next.vkBindBufferMemory(handle, buffer, memory, offset);
}

VKAPI_ATTR VkResult VKAPI_CALL trial_vkBindBufferMemory2(VkDevice handle, uint32_t count,
                                                         const VkBindBufferMemoryInfo *infos) {
    struct trial_device *device = trial_table_device(handle);
    VkResult result = trial_fault_check(TRIAL_CALL_vkBindBufferMemory2, device, NULL);
    return result != VK_SUCCESS ? result : device->next.vkBindBufferMemory2(handle, count, infos);
}

VKAPI_ATTR VkResult VKAPI_CALL trial_vkGetQueryPoolResults(VkDevice handle, VkQueryPool pool, uint32_t first,
                                                           uint32_t count, size_t bytes, void *data,
                                                           VkDeviceSize stride, VkQueryResultFlags flags) {
    struct trial_device *device = trial_table_device(handle);
    VkResult result = trial_fault_check(TRIAL_CALL_vkGetQueryPoolResults, device, NULL);
    return result != VK_SUCCESS
               ? result
               : device->next.vkGetQueryPoolResults(handle, pool, first, count, bytes, data, stride, flags);
}
