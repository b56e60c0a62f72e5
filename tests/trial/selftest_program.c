/* SPDX-License-Identifier: MIT
 *
 * The compute program: Vulkan 1.1 with a timeline semaphore, as the backend under test uses it.
 */
#include "selftest.h"

#include <string.h>

#include "selftest_dot.spv.h"
#include "selftest_plain.spv.h"

#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        VkResult result_ = (call);                                                                                     \
        if (result_ != VK_SUCCESS) {                                                                                   \
            return result_;                                                                                            \
        }                                                                                                              \
    } while (0)

/* ---- opening ---- */

VkResult st_open_instance(struct st *st) {
    VkApplicationInfo app = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_1};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &app};
    TRY(vkCreateInstance(&info, NULL, &st->instance));
    uint32_t count = 1;
    VkResult result = vkEnumeratePhysicalDevices(st->instance, &count, &st->physical);
    if (result < 0 || count == 0) {
        return result < 0 ? result : VK_ERROR_INITIALIZATION_FAILED;
    }
    vkGetPhysicalDeviceProperties(st->physical, &st->properties);
    vkGetPhysicalDeviceMemoryProperties(st->physical, &st->memory);
    return VK_SUCCESS;
}

VkResult st_open_device(struct st *st) {
    VkPhysicalDeviceTimelineSemaphoreFeatures timeline = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES,
        .pNext = (void *)st->device_next,
        .timelineSemaphore = VK_TRUE,
    };
    VkPhysicalDeviceShaderIntegerDotProductFeatures dot = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES,
        .pNext = &timeline,
        .shaderIntegerDotProduct = VK_TRUE,
    };
    const char *names[] = {VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME, VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME};
    float priority = 1;
    VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &priority};
    VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = st->dot ? (void *)&dot : (void *)&timeline,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
        .enabledExtensionCount = st->dot ? 2 : 1,
        .ppEnabledExtensionNames = names,
    };
    TRY(vkCreateDevice(st->physical, &info, NULL, &st->device));
    vkGetDeviceQueue(st->device, 0, 0, &st->queue);
    st->wait = (PFN_vkWaitSemaphoresKHR)vkGetDeviceProcAddr(st->device, "vkWaitSemaphoresKHR");
    st->counter = (PFN_vkGetSemaphoreCounterValueKHR)vkGetDeviceProcAddr(st->device, "vkGetSemaphoreCounterValueKHR");
    return st->wait != NULL && st->counter != NULL ? VK_SUCCESS : VK_ERROR_INITIALIZATION_FAILED;
}

static VkResult open_pipeline(struct st *st) {
    VkShaderModuleCreateInfo module = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = st->dot ? sizeof selftest_dot_spv : sizeof selftest_plain_spv,
        .pCode = st->dot ? selftest_dot_spv : selftest_plain_spv,
    };
    TRY(vkCreateShaderModule(st->device, &module, NULL, &st->module));
    VkDescriptorSetLayoutBinding bindings[2];
    for (uint32_t i = 0; i < 2; i++) {
        bindings[i] = (VkDescriptorSetLayoutBinding){.binding = i,
                                                     .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                                     .descriptorCount = 1,
                                                     .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
    }
    VkDescriptorSetLayoutCreateInfo set_layout = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, .bindingCount = 2, .pBindings = bindings};
    TRY(vkCreateDescriptorSetLayout(st->device, &set_layout, NULL, &st->set_layout));
    VkPushConstantRange push = {.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT, .size = 8};
    VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                         .setLayoutCount = 1,
                                         .pSetLayouts = &st->set_layout,
                                         .pushConstantRangeCount = 1,
                                         .pPushConstantRanges = &push};
    TRY(vkCreatePipelineLayout(st->device, &layout, NULL, &st->layout));
    VkPipelineCacheCreateInfo cache = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
    TRY(vkCreatePipelineCache(st->device, &cache, NULL, &st->cache));
    VkComputePipelineCreateInfo pipeline = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = st->module,
                  .pName = "main"},
        .layout = st->layout,
    };
    TRY(vkCreateComputePipelines(st->device, st->cache, 1, &pipeline, NULL, &st->pipeline));
    size_t bytes = 0;
    return vkGetPipelineCacheData(st->device, st->cache, &bytes, NULL);
}

static VkResult open_descriptors(struct st *st) {
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 2};
    VkDescriptorPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO, .maxSets = 1, .poolSizeCount = 1, .pPoolSizes = &size};
    TRY(vkCreateDescriptorPool(st->device, &pool, NULL, &st->descriptors));
    VkDescriptorSetAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                        .descriptorPool = st->descriptors,
                                        .descriptorSetCount = 1,
                                        .pSetLayouts = &st->set_layout};
    TRY(vkAllocateDescriptorSets(st->device, &info, &st->set));
    VkDescriptorBufferInfo buffers[2] = {{st->x.buffer, 0, ST_BYTES}, {st->y.buffer, 0, ST_BYTES}};
    VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                  .dstSet = st->set,
                                  .descriptorCount = 2,
                                  .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                  .pBufferInfo = buffers};
    vkUpdateDescriptorSets(st->device, 1, &write, 0, NULL);
    return VK_SUCCESS;
}

static VkResult open_commands(struct st *st) {
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    TRY(vkCreateCommandPool(st->device, &pool, NULL, &st->pool));
    VkCommandBufferAllocateInfo commands = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                            .commandPool = st->pool,
                                            .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                            .commandBufferCount = 1};
    TRY(vkAllocateCommandBuffers(st->device, &commands, &st->commands));
    VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                      .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    VkSemaphoreCreateInfo semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type};
    return vkCreateSemaphore(st->device, &semaphore, NULL, &st->timeline);
}

VkResult st_open_objects(struct st *st) {
    uint32_t type = st_find_type(st, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT);
    TRY(st_buffer_make(st, &st->x, ST_BYTES, type, true));
    TRY(st_buffer_make(st, &st->y, ST_BYTES, type, true));
    TRY(open_pipeline(st));
    TRY(open_descriptors(st));
    return open_commands(st);
}

VkResult st_open(struct st *st) {
    TRY(st_open_instance(st));
    TRY(st_open_device(st));
    return st_open_objects(st);
}

void st_close(struct st *st) {
    if (st->device != VK_NULL_HANDLE) {
        vkDeviceWaitIdle(st->device);
        vkDestroySemaphore(st->device, st->timeline, NULL);
        vkDestroyCommandPool(st->device, st->pool, NULL);
        vkDestroyDescriptorPool(st->device, st->descriptors, NULL);
        vkDestroyPipeline(st->device, st->pipeline, NULL);
        vkDestroyPipelineCache(st->device, st->cache, NULL);
        vkDestroyPipelineLayout(st->device, st->layout, NULL);
        vkDestroyDescriptorSetLayout(st->device, st->set_layout, NULL);
        vkDestroyShaderModule(st->device, st->module, NULL);
        st_buffer_drop(st, &st->x);
        st_buffer_drop(st, &st->y);
        vkDestroyDevice(st->device, NULL);
    }
    if (st->instance != VK_NULL_HANDLE) {
        vkDestroyInstance(st->instance, NULL);
    }
    memset(st, 0, sizeof *st);
}

/* ---- memory ---- */

uint32_t st_find_type(const struct st *st, VkMemoryPropertyFlags flags) {
    for (uint32_t i = 0; i < st->memory.memoryTypeCount; i++) {
        if ((st->memory.memoryTypes[i].propertyFlags & flags) == flags) {
            return i;
        }
    }
    return UINT32_MAX;
}

VkResult st_buffer_make(struct st *st, struct st_buffer *buffer, VkDeviceSize bytes, uint32_t type, bool map) {
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                               .size = bytes,
                               .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    TRY(vkCreateBuffer(st->device, &info, NULL, &buffer->buffer));
    VkMemoryRequirements need;
    vkGetBufferMemoryRequirements(st->device, buffer->buffer, &need);
    CHECK(type < 32 && (need.memoryTypeBits >> type & 1) != 0);
    VkMemoryAllocateInfo memory = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, .allocationSize = need.size, .memoryTypeIndex = type};
    TRY(vkAllocateMemory(st->device, &memory, NULL, &buffer->memory));
    TRY(vkBindBufferMemory(st->device, buffer->buffer, buffer->memory, 0));
    void *data = NULL;
    if (map) {
        TRY(vkMapMemory(st->device, buffer->memory, 0, VK_WHOLE_SIZE, 0, &data));
    }
    buffer->data = data;
    return VK_SUCCESS;
}

void st_buffer_drop(struct st *st, struct st_buffer *buffer) {
    vkDestroyBuffer(st->device, buffer->buffer, NULL);
    vkFreeMemory(st->device, buffer->memory, NULL);
    memset(buffer, 0, sizeof *buffer);
}

VkResult st_flush(struct st *st, const struct st_buffer *buffer) {
    VkMappedMemoryRange range = {
        .sType = VK_STRUCTURE_TYPE_MAPPED_MEMORY_RANGE, .memory = buffer->memory, .size = VK_WHOLE_SIZE};
    return vkFlushMappedMemoryRanges(st->device, 1, &range);
}

VkResult st_invalidate(struct st *st, const struct st_buffer *buffer) {
    VkMappedMemoryRange range = {
        .sType = VK_STRUCTURE_TYPE_MAPPED_MEMORY_RANGE, .memory = buffer->memory, .size = VK_WHOLE_SIZE};
    return vkInvalidateMappedMemoryRanges(st->device, 1, &range);
}

/* ---- running ---- */

static VkResult record(struct st *st) {
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    int32_t push[2] = {(int32_t)ST_ELEMS, st->weights};
    VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                               .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                               .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    TRY(vkResetCommandPool(st->device, st->pool, 0));
    TRY(vkBeginCommandBuffer(st->commands, &begin));
    vkCmdBindPipeline(st->commands, VK_PIPELINE_BIND_POINT_COMPUTE, st->pipeline);
    vkCmdBindDescriptorSets(st->commands, VK_PIPELINE_BIND_POINT_COMPUTE, st->layout, 0, 1, &st->set, 0, NULL);
    vkCmdPushConstants(st->commands, st->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof push, push);
    vkCmdDispatch(st->commands, ST_ELEMS / 64, 1, 1);
    vkCmdPipelineBarrier(st->commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier,
                         0, NULL, 0, NULL);
    return vkEndCommandBuffer(st->commands);
}

VkResult st_submit(struct st *st) {
    TRY(record(st));
    uint64_t value = st->value + 1;
    VkTimelineSemaphoreSubmitInfo timeline = {.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                              .signalSemaphoreValueCount = 1,
                                              .pSignalSemaphoreValues = &value};
    VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                           .pNext = &timeline,
                           .commandBufferCount = 1,
                           .pCommandBuffers = &st->commands,
                           .signalSemaphoreCount = 1,
                           .pSignalSemaphores = &st->timeline};
    TRY(vkQueueSubmit(st->queue, 1, &submit, VK_NULL_HANDLE));
    st->value = value;
    return VK_SUCCESS;
}

VkResult st_wait_for(struct st *st, uint64_t timeout_ns) {
    VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                .semaphoreCount = 1,
                                .pSemaphores = &st->timeline,
                                .pValues = &st->value};
    return st->wait(st->device, &info, timeout_ns);
}

VkResult st_run(struct st *st) {
    for (uint32_t i = 0; i < ST_ELEMS; i++) {
        st->x.data[i] = (int32_t)i - 100;
    }
    TRY(st_flush(st, &st->x));
    TRY(st_submit(st));
    TRY(st_wait_for(st, UINT64_MAX));
    return st_invalidate(st, &st->y);
}

uint32_t st_right(const struct st *st) {
    uint32_t right = 0;
    for (uint32_t i = 0; i < ST_ELEMS; i++) {
        right += st->y.data[i] == 2 * ((int32_t)i - 100) + 1;
    }
    return right;
}

VkResult st_whole(void) {
    struct st st = {0};
    VkResult result = st_open(&st);
    result = result == VK_SUCCESS ? st_run(&st) : result;
    if (result == VK_SUCCESS && st_right(&st) != ST_ELEMS) {
        result = VK_ERROR_UNKNOWN;
    }
    st_close(&st);
    return result;
}

bool st_has_extension(const struct st *st, const char *name) {
    static VkExtensionProperties all[512];
    uint32_t count = 512;
    CHECK(vkEnumerateDeviceExtensionProperties(st->physical, NULL, &count, all) == VK_SUCCESS);
    uint32_t i = 0;
    while (i < count && strcmp(all[i].extensionName, name) != 0) {
        i++;
    }
    return i < count;
}
