// SPDX-License-Identifier: MIT
// mx-fault: one dispatch of a shader of this folder, 64 workgroups. For product.comp it says how many results are
// wrong. Memory is host-cached and not coherent, unless --coherent; the calls that keep the CPU's cache and the GPU's
// memory alike can be forgotten: on a chip, and in the simulation's coherency mode, that shows in the result.
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vulkan/vulkan.h>

#define ROWS 64
#define COLUMNS 64
#define DEPTH 8
#define BUFFERS 4
#define RESULT 2
#define UNTOUCHED 3 // by the CPU

static const uint32_t elements[BUFFERS] = {ROWS * DEPTH, COLUMNS *DEPTH, ROWS *COLUMNS, 262144};

struct gpu {
    VkDevice device;
    VkQueue queue;
    uint32_t memory_type; // host-visible
};

struct buffer {
    VkBuffer handle;
    VkDeviceMemory memory;
    uint32_t *words;
};

static void must(VkResult result, const char *what) {
    if (result == VK_SUCCESS)
        return;
    fprintf(stderr, "mx-fault: %s failed: VkResult %d\n", what, (int)result);
    exit(2);
}

static uint32_t find_memory_type(VkPhysicalDevice physical, bool coherent) {
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(physical, &memory);
    for (uint32_t i = 0; i < memory.memoryTypeCount; i++) {
        VkMemoryPropertyFlags flags = memory.memoryTypes[i].propertyFlags;
        bool is_coherent = flags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
        if ((flags & (coherent ? VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT : VK_MEMORY_PROPERTY_HOST_CACHED_BIT)) &&
            is_coherent == coherent)
            return i;
    }
    fprintf(stderr, "mx-fault: the device has no memory of that kind\n");
    exit(77); // skipped
}

static struct gpu gpu_open(bool coherent) {
    struct gpu gpu;
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .apiVersion = VK_API_VERSION_1_1};
    const VkInstanceCreateInfo about = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                        .pApplicationInfo = &application};
    VkInstance instance;
    must(vkCreateInstance(&about, NULL, &instance), "vkCreateInstance");
    VkPhysicalDevice physical;
    uint32_t count = 1;
    VkResult found = vkEnumeratePhysicalDevices(instance, &count, &physical);
    must(found == VK_INCOMPLETE ? VK_SUCCESS : count == 0 ? VK_ERROR_DEVICE_LOST : found, "finding a device");
    const float priority = 1;
    const VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &priority};
    const VkDeviceCreateInfo device = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, .queueCreateInfoCount = 1, .pQueueCreateInfos = &queue};
    gpu.memory_type = find_memory_type(physical, coherent);
    must(vkCreateDevice(physical, &device, NULL, &gpu.device), "vkCreateDevice");
    vkGetDeviceQueue(gpu.device, 0, 0, &gpu.queue);
    return gpu;
}

static struct buffer buffer_new(const struct gpu *gpu, uint32_t words) {
    struct buffer buffer;
    const VkBufferCreateInfo about = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                      .size = 4 * (VkDeviceSize)words,
                                      .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
    must(vkCreateBuffer(gpu->device, &about, NULL, &buffer.handle), "vkCreateBuffer");
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(gpu->device, buffer.handle, &needs);
    const VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                         .allocationSize = needs.size,
                                         .memoryTypeIndex = gpu->memory_type};
    must(vkAllocateMemory(gpu->device, &memory, NULL, &buffer.memory), "vkAllocateMemory");
    must(vkBindBufferMemory(gpu->device, buffer.handle, buffer.memory, 0), "vkBindBufferMemory");
    void *host;
    must(vkMapMemory(gpu->device, buffer.memory, 0, VK_WHOLE_SIZE, 0, &host), "vkMapMemory");
    buffer.words = host;
    return buffer;
}

static VkMappedMemoryRange whole(const struct buffer *buffer) {
    return (VkMappedMemoryRange){
        .sType = VK_STRUCTURE_TYPE_MAPPED_MEMORY_RANGE, .memory = buffer->memory, .size = VK_WHOLE_SIZE};
}

static VkShaderModule shader_load(const struct gpu *gpu, const char *path) {
    static uint32_t code[65536 / 4];
    FILE *file = fopen(path, "rb");
    size_t bytes = file != NULL ? fread(code, 1, sizeof code, file) : 0;
    if (file != NULL)
        fclose(file);
    if (bytes == 0 || bytes == sizeof code || bytes % 4 != 0) {
        fprintf(stderr, "mx-fault: %s is not a small SPIR-V file\n", path);
        exit(2);
    }
    VkShaderModule module;
    const VkShaderModuleCreateInfo about = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = bytes, .pCode = code};
    must(vkCreateShaderModule(gpu->device, &about, NULL, &module), "vkCreateShaderModule");
    return module;
}

struct program {
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkPipeline pipeline;
};

static struct program program_new(const struct gpu *gpu, const char *path) {
    struct program program;
    VkDescriptorSetLayoutBinding bindings[BUFFERS];
    for (uint32_t i = 0; i < BUFFERS; i++)
        bindings[i] = (VkDescriptorSetLayoutBinding){.binding = i,
                                                     .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                                     .descriptorCount = 1,
                                                     .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
    const VkDescriptorSetLayoutCreateInfo set = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, .bindingCount = BUFFERS, .pBindings = bindings};
    must(vkCreateDescriptorSetLayout(gpu->device, &set, NULL, &program.set_layout), "vkCreateDescriptorSetLayout");
    const VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                               .setLayoutCount = 1,
                                               .pSetLayouts = &program.set_layout};
    must(vkCreatePipelineLayout(gpu->device, &layout, NULL, &program.layout), "vkCreatePipelineLayout");
    const VkComputePipelineCreateInfo about = {.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                               .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                         .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                         .module = shader_load(gpu, path),
                                                         .pName = "main"},
                                               .layout = program.layout};
    must(vkCreateComputePipelines(gpu->device, VK_NULL_HANDLE, 1, &about, NULL, &program.pipeline),
         "vkCreateComputePipelines");
    return program;
}

static VkDescriptorSet set_new(const struct gpu *gpu, const struct program *program, const struct buffer *buffers) {
    const VkDescriptorPoolSize size = {.type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .descriptorCount = BUFFERS};
    const VkDescriptorPoolCreateInfo about = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO, .maxSets = 1, .poolSizeCount = 1, .pPoolSizes = &size};
    VkDescriptorPool pool;
    VkDescriptorSet set;
    must(vkCreateDescriptorPool(gpu->device, &about, NULL, &pool), "vkCreateDescriptorPool");
    const VkDescriptorSetAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                                  .descriptorPool = pool,
                                                  .descriptorSetCount = 1,
                                                  .pSetLayouts = &program->set_layout};
    must(vkAllocateDescriptorSets(gpu->device, &allocate, &set), "vkAllocateDescriptorSets");
    for (uint32_t i = 0; i < BUFFERS; i++) {
        const VkDescriptorBufferInfo buffer = {.buffer = buffers[i].handle, .range = VK_WHOLE_SIZE};
        const VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                            .dstSet = set,
                                            .dstBinding = i,
                                            .descriptorCount = 1,
                                            .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                            .pBufferInfo = &buffer};
        vkUpdateDescriptorSets(gpu->device, 1, &write, 0, NULL);
    }
    return set;
}

static void dispatch(const struct gpu *gpu, const struct program *program, VkDescriptorSet set) {
    const VkCommandPoolCreateInfo about = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    VkCommandPool pool;
    VkCommandBuffer commands;
    must(vkCreateCommandPool(gpu->device, &about, NULL, &pool), "vkCreateCommandPool");
    const VkCommandBufferAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, .commandPool = pool, .commandBufferCount = 1};
    must(vkAllocateCommandBuffers(gpu->device, &allocate, &commands), "vkAllocateCommandBuffers");
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    must(vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, program->pipeline);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, program->layout, 0, 1, &set, 0, NULL);
    vkCmdDispatch(commands, COLUMNS, 1, 1);
    const VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                     .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                                     .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0,
                         NULL, 0, NULL);
    must(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
    const VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &commands};
    must(vkQueueSubmit(gpu->queue, 1, &submit, VK_NULL_HANDLE), "vkQueueSubmit");
    must(vkQueueWaitIdle(gpu->queue), "vkQueueWaitIdle");
}

static uint32_t count_wrong(const struct buffer *buffers) {
    uint32_t wrong = 0;
    for (uint32_t n = 0; n < COLUMNS; n++) {
        for (uint32_t m = 0; m < ROWS; m++) {
            uint32_t sum = 0;
            for (uint32_t k = 0; k < DEPTH; k++)
                sum += buffers[0].words[m * DEPTH + k] * buffers[1].words[n * DEPTH + k];
            wrong += buffers[RESULT].words[n * ROWS + m] != sum;
        }
    }
    return wrong;
}

struct options {
    bool coherent, flush, invalidate;
    const char *shader;
};

static void options_read(struct options *options, int argc, char **argv) {
    *options = (struct options){.flush = true, .invalidate = true};
    for (int i = 1; i < argc; i++) {
        options->coherent |= strcmp(argv[i], "--coherent") == 0;
        options->flush &= strcmp(argv[i], "--forget-flush") != 0;
        options->invalidate &= strcmp(argv[i], "--forget-invalidate") != 0;
        options->shader = argv[i][0] != '-' ? argv[i] : options->shader;
    }
    if (options->shader != NULL)
        return;
    fprintf(stderr, "usage: mx-fault [--coherent] [--forget-flush] [--forget-invalidate] SHADER.spv\n");
    exit(2);
}

static void buffer_fill(const struct gpu *gpu, const struct buffer *buffer, uint32_t words, bool flush) {
    for (uint32_t e = 0; e < words; e++)
        buffer->words[e] = 1 + e % 11;
    VkMappedMemoryRange range = whole(buffer);
    if (flush)
        must(vkFlushMappedMemoryRanges(gpu->device, 1, &range), "vkFlushMappedMemoryRanges");
}

int main(int argc, char **argv) {
    struct options options;
    options_read(&options, argc, argv);
    struct gpu gpu = gpu_open(options.coherent);
    struct program program = program_new(&gpu, options.shader);
    struct buffer buffers[BUFFERS];
    for (uint32_t i = 0; i < BUFFERS; i++) {
        buffers[i] = buffer_new(&gpu, elements[i]);
        if (i != UNTOUCHED)
            buffer_fill(&gpu, &buffers[i], elements[i], options.flush && !options.coherent);
    }
    dispatch(&gpu, &program, set_new(&gpu, &program, buffers));
    VkMappedMemoryRange range = whole(&buffers[RESULT]);
    if (options.invalidate && !options.coherent)
        must(vkInvalidateMappedMemoryRanges(gpu.device, 1, &range), "vkInvalidateMappedMemoryRanges");
    printf("%u of %u wrong\n", count_wrong(buffers), ROWS * COLUMNS);
    return 0;
}
