// SPDX-License-Identifier: MIT
// mx-shade: dispatches, one after the other in one process, as a list says: a program's start in the simulated Mali's
// userland takes longer than a hundred of them.
//
// usage: mx-shade LIST
//
// A line of LIST is `NAME KERNEL.spv WORD...`, parted by single spaces. IN and OUT are files, or -. The words:
//   grid=X,Y,Z  base=X,Y,Z        workgroups (1,1,1) and the first one (0,0,0)
//   indirect                      the GPU reads the grid from a buffer
//   robust                        with robustBufferAccess
//   push=BYTES:IN  spec=ID:VALUE  push constants, a specialisation constant
//   storage=SET:BINDING:BYTES:IN:OUT  uniform=...  null=SET:BINDING (nothing is bound)
//   address=0:OFFSET:BYTES:IN:OUT     a buffer whose address stands in the push constants at OFFSET
// Each line is answered by one on stdout: NAME ok | NAME VkResult N: CALL | NAME wrote at byte N of buffer K |
// NAME cannot read FILE. Exit status: 0, whatever the answers are; 2 for a list that cannot be taken.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "entry.h"
#include "gpu.h"

enum { LINE_MAX_BYTES = 8192, KERNEL_MAX_BYTES = 1 << 20 };

// What one entry makes, freed by dispatch_free.
struct dispatch {
    const struct gpu *gpu;
    struct gpu_buffer buffers[ENTRY_BUFFERS_MAX], grid;
    VkDescriptorSetLayout layouts[ENTRY_SETS_MAX];
    VkDescriptorSet sets[ENTRY_SETS_MAX];
    uint32_t set_count;
    VkDescriptorPool pool;
    VkPipelineLayout layout;
    VkShaderModule module;
    VkPipeline pipeline;
    VkCommandBuffer commands;
    uint8_t push[ENTRY_PUSH_MAX];
    char failure[256]; // "": none yet
};

// Notes the first failure. Returns whether to go on.
static bool went(struct dispatch *d, VkResult result, const char *call) {
    if (result < 0 && d->failure[0] == '\0')
        snprintf(d->failure, sizeof d->failure, "VkResult %d: %s", (int)result, call);
    return d->failure[0] == '\0';
}

#define GO(call) went(d, (call), #call)

static bool file_read(struct dispatch *d, const char *path, void *bytes, size_t size_bytes) {
    if (path == NULL)
        return true;
    FILE *file = fopen(path, "rb");
    size_t got = file != NULL ? fread(bytes, 1, size_bytes, file) : 0;
    if (file != NULL)
        fclose(file);
    if (got != size_bytes)
        snprintf(d->failure, sizeof d->failure, "cannot read %s", path);
    return got == size_bytes;
}

static bool file_write(struct dispatch *d, const char *path, const void *bytes, size_t size_bytes) {
    if (path == NULL)
        return true;
    FILE *file = fopen(path, "wb");
    bool good = file != NULL && fwrite(bytes, 1, size_bytes, file) == size_bytes;
    good = file != NULL && fclose(file) == 0 && good;
    if (!good)
        snprintf(d->failure, sizeof d->failure, "cannot write %s", path);
    return good;
}

static bool buffers_fill(struct dispatch *d, const struct entry *entry) {
    if (!file_read(d, entry->push, d->push, entry->push_bytes))
        return false;
    for (uint32_t i = 0; i < entry->buffer_count; i++) {
        const struct entry_buffer *about = &entry->buffers[i];
        struct gpu_buffer *buffer = &d->buffers[i];
        if (about->kind == ENTRY_NULL && !GO(d->gpu->null_descriptors ? VK_SUCCESS : VK_ERROR_FEATURE_NOT_PRESENT))
            return false;
        if (about->kind == ENTRY_NULL)
            continue;
        if (!GO(gpu_buffer_new(d->gpu, about->bytes, buffer)) || !file_read(d, about->in, buffer->bytes, about->bytes))
            return false;
        if (about->kind == ENTRY_ADDRESS)
            memcpy(&d->push[about->binding], &buffer->address, sizeof buffer->address);
    }
    if (!entry->indirect)
        return true;
    bool good = GO(gpu_buffer_new(d->gpu, sizeof entry->grid, &d->grid));
    if (good)
        memcpy(d->grid.bytes, entry->grid, sizeof entry->grid);
    return good;
}

static VkDescriptorType descriptor_type(const struct entry_buffer *buffer) {
    return buffer->kind == ENTRY_UNIFORM ? VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
}

static bool set_layout_make(struct dispatch *d, const struct entry *entry, uint32_t set) {
    VkDescriptorSetLayoutBinding bindings[ENTRY_BUFFERS_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; i < entry->buffer_count; i++)
        if (entry->buffers[i].kind != ENTRY_ADDRESS && entry->buffers[i].set == set)
            bindings[count++] = (VkDescriptorSetLayoutBinding){.binding = entry->buffers[i].binding,
                                                               .descriptorType = descriptor_type(&entry->buffers[i]),
                                                               .descriptorCount = 1,
                                                               .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
    const VkDescriptorSetLayoutCreateInfo about = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, .bindingCount = count, .pBindings = bindings};
    return GO(vkCreateDescriptorSetLayout(d->gpu->device, &about, NULL, &d->layouts[set]));
}

static bool layout_make(struct dispatch *d, const struct entry *entry) {
    for (uint32_t i = 0; i < entry->buffer_count; i++)
        if (entry->buffers[i].kind != ENTRY_ADDRESS && entry->buffers[i].set >= d->set_count)
            d->set_count = entry->buffers[i].set + 1;
    for (uint32_t set = 0; set < d->set_count; set++)
        if (!set_layout_make(d, entry, set))
            return false;
    const VkPushConstantRange push = {.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT, .size = entry->push_bytes};
    const VkPipelineLayoutCreateInfo about = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                              .setLayoutCount = d->set_count,
                                              .pSetLayouts = d->layouts,
                                              .pushConstantRangeCount = entry->push_bytes > 0,
                                              .pPushConstantRanges = &push};
    return GO(vkCreatePipelineLayout(d->gpu->device, &about, NULL, &d->layout));
}

static bool module_load(struct dispatch *d, const struct entry *entry) {
    static uint32_t code[KERNEL_MAX_BYTES / 4];
    FILE *file = fopen(entry->kernel, "rb");
    size_t bytes = file != NULL ? fread(code, 1, sizeof code, file) : 0;
    if (file != NULL)
        fclose(file);
    if (bytes == 0 || bytes == sizeof code || bytes % 4 != 0) {
        snprintf(d->failure, sizeof d->failure, "cannot read %s", entry->kernel);
        return false;
    }
    const VkShaderModuleCreateInfo about = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = bytes, .pCode = code};
    return GO(vkCreateShaderModule(d->gpu->device, &about, NULL, &d->module));
}

static bool pipeline_make(struct dispatch *d, const struct entry *entry) {
    if (!module_load(d, entry))
        return false;
    VkSpecializationMapEntry map[ENTRY_SPEC_MAX];
    for (uint32_t i = 0; i < entry->spec_count; i++)
        map[i] = (VkSpecializationMapEntry){.constantID = entry->spec_id[i], .offset = 4 * i, .size = 4};
    const VkSpecializationInfo spec = {
        .mapEntryCount = entry->spec_count, .pMapEntries = map, .dataSize = sizeof entry->spec, .pData = entry->spec};
    const VkComputePipelineCreateInfo about = {.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                               .flags = VK_PIPELINE_CREATE_DISPATCH_BASE_BIT,
                                               .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                         .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                         .module = d->module,
                                                         .pName = "main",
                                                         .pSpecializationInfo = &spec},
                                               .layout = d->layout};
    return GO(vkCreateComputePipelines(d->gpu->device, VK_NULL_HANDLE, 1, &about, NULL, &d->pipeline));
}

static void buffer_write(struct dispatch *d, const struct entry_buffer *about, const struct gpu_buffer *buffer) {
    const bool bound = about->kind != ENTRY_NULL;
    const VkDescriptorBufferInfo info = {.buffer = bound ? buffer->handle : VK_NULL_HANDLE,
                                         .offset = bound ? GPU_GUARD_BYTES : 0,
                                         .range = bound ? about->bytes : VK_WHOLE_SIZE};
    const VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                        .dstSet = d->sets[about->set],
                                        .dstBinding = about->binding,
                                        .descriptorCount = 1,
                                        .descriptorType = descriptor_type(about),
                                        .pBufferInfo = &info};
    vkUpdateDescriptorSets(d->gpu->device, 1, &write, 0, NULL);
}

static bool sets_make(struct dispatch *d, const struct entry *entry) {
    if (d->set_count == 0)
        return true;
    const VkDescriptorPoolSize sizes[] = {{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, ENTRY_BUFFERS_MAX},
                                          {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, ENTRY_BUFFERS_MAX}};
    const VkDescriptorPoolCreateInfo about = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                              .maxSets = ENTRY_SETS_MAX,
                                              .poolSizeCount = 2,
                                              .pPoolSizes = sizes};
    if (!GO(vkCreateDescriptorPool(d->gpu->device, &about, NULL, &d->pool)))
        return false;
    const VkDescriptorSetAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                                  .descriptorPool = d->pool,
                                                  .descriptorSetCount = d->set_count,
                                                  .pSetLayouts = d->layouts};
    if (!GO(vkAllocateDescriptorSets(d->gpu->device, &allocate, d->sets)))
        return false;
    for (uint32_t i = 0; i < entry->buffer_count; i++)
        if (entry->buffers[i].kind != ENTRY_ADDRESS)
            buffer_write(d, &entry->buffers[i], &d->buffers[i]);
    return true;
}

static void work_record(const struct dispatch *d, const struct entry *entry) {
    vkCmdBindPipeline(d->commands, VK_PIPELINE_BIND_POINT_COMPUTE, d->pipeline);
    if (d->set_count > 0)
        vkCmdBindDescriptorSets(d->commands, VK_PIPELINE_BIND_POINT_COMPUTE, d->layout, 0, d->set_count, d->sets, 0,
                                NULL);
    if (entry->push_bytes > 0)
        vkCmdPushConstants(d->commands, d->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, entry->push_bytes, d->push);
    if (entry->indirect)
        vkCmdDispatchIndirect(d->commands, d->grid.handle, GPU_GUARD_BYTES);
    else
        vkCmdDispatchBase(d->commands, entry->base[0], entry->base[1], entry->base[2], entry->grid[0], entry->grid[1],
                          entry->grid[2]);
    const VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                     .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                                     .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    vkCmdPipelineBarrier(d->commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier,
                         0, NULL, 0, NULL);
}

static bool work_do(struct dispatch *d, const struct entry *entry) {
    const VkCommandBufferAllocateInfo about = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, .commandPool = d->gpu->pool, .commandBufferCount = 1};
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    if (!GO(vkAllocateCommandBuffers(d->gpu->device, &about, &d->commands)) ||
        !GO(vkBeginCommandBuffer(d->commands, &begin)))
        return false;
    work_record(d, entry);
    const VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &d->commands};
    return GO(vkEndCommandBuffer(d->commands)) && GO(vkQueueSubmit(d->gpu->queue, 1, &submit, VK_NULL_HANDLE)) &&
           GO(vkQueueWaitIdle(d->gpu->queue));
}

static bool buffers_keep(struct dispatch *d, const struct entry *entry) {
    for (uint32_t i = 0; i < entry->buffer_count; i++) {
        const struct entry_buffer *about = &entry->buffers[i];
        int64_t offset;
        if (about->kind == ENTRY_NULL)
            continue;
        if (!file_write(d, about->out, d->buffers[i].bytes, about->bytes))
            return false;
        if (gpu_buffer_overrun(&d->buffers[i], &offset)) {
            snprintf(d->failure, sizeof d->failure, "wrote at byte %" PRId64 " of buffer %u", offset, i);
            return false;
        }
    }
    return true;
}

static void dispatch_free(struct dispatch *d) {
    VkDevice device = d->gpu->device;
    if (d->commands != NULL)
        vkFreeCommandBuffers(device, d->gpu->pool, 1, &d->commands);
    vkDestroyPipeline(device, d->pipeline, NULL);
    vkDestroyShaderModule(device, d->module, NULL);
    vkDestroyPipelineLayout(device, d->layout, NULL);
    vkDestroyDescriptorPool(device, d->pool, NULL);
    for (uint32_t set = 0; set < d->set_count; set++)
        vkDestroyDescriptorSetLayout(device, d->layouts[set], NULL);
    for (uint32_t i = 0; i < ENTRY_BUFFERS_MAX; i++)
        gpu_buffer_free(d->gpu, &d->buffers[i]);
    gpu_buffer_free(d->gpu, &d->grid);
}

// False: the device may be lost.
static bool entry_do(const struct gpu *gpu, const struct entry *entry) {
    struct dispatch *d = calloc(1, sizeof *d);
    if (d == NULL) {
        printf("%s VkResult %d: calloc\n", entry->name, VK_ERROR_OUT_OF_HOST_MEMORY);
        return false;
    }
    d->gpu = gpu;
    bool good = buffers_fill(d, entry) && layout_make(d, entry) && pipeline_make(d, entry) && sets_make(d, entry) &&
                work_do(d, entry) && buffers_keep(d, entry);
    printf("%s %s\n", entry->name, good ? "ok" : d->failure);
    dispatch_free(d);
    free(d);
    return good;
}

// One line, on the device that it needs: a fresh one after a failure.
static void line_do(struct gpu *gpu, const struct entry *entry) {
    if (gpu->device != VK_NULL_HANDLE && gpu->robust != entry->robust)
        gpu_close(gpu);
    VkResult result = gpu->device != VK_NULL_HANDLE ? VK_SUCCESS : gpu_open(gpu, entry->robust);
    if (result < 0)
        printf("%s VkResult %d: gpu_open\n", entry->name, (int)result);
    if (result < 0 || !entry_do(gpu, entry))
        gpu_close(gpu);
    fflush(stdout);
}

int main(int argc, char **argv) {
    static char line[LINE_MAX_BYTES];
    struct gpu gpu = {0};
    FILE *list = argc == 2 ? fopen(argv[1], "r") : NULL;
    if (list == NULL) {
        fprintf(stderr, "mx-shade: %s: %s\nusage: mx-shade LIST\n", argc == 2 ? argv[1] : "LIST",
                argc == 2 ? strerror(errno) : "one is needed");
        return 2;
    }
    int status = 0;
    while (status == 0 && fgets(line, sizeof line, list) != NULL) {
        struct entry entry;
        const char *bad = "the line: it is too long";
        bool whole = strchr(line, '\n') != NULL;
        line[strcspn(line, "\n")] = '\0';
        if (whole && entry_parse(line, &entry, &bad)) {
            line_do(&gpu, &entry);
            continue;
        }
        fprintf(stderr, "mx-shade: %s: cannot take %s\n", argv[1], bad);
        status = 2;
    }
    gpu_close(&gpu);
    fclose(list);
    return status;
}
