// SPDX-License-Identifier: MIT
#include "submit.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "log.h"
#include "memory.h"

#define SLOTS 2
#define SETS_PER_SLOT 256

// panthor kills a job without progress after 5 s; half a second leaves room for a bad estimate.
#define SECONDS_PER_SUBMISSION 0.5
// The rate assumed before anything was measured, low enough for the slowest device: multiply-accumulates a second.
#define FIRST_RATE 2e9
// No GPU worth using is slower.
#define SLOWEST_RATE 1e8
// No submission should take this long, whatever the device.
#define WAIT_LIMIT_NS ((uint64_t)120 * 1000 * 1000 * 1000)

struct slot {
    VkCommandBuffer commands;
    VkDescriptorSet sets[SETS_PER_SLOT];
    uint32_t sets_used;
    uint64_t value; // of the timeline when the slot's work is done; 0: nothing in flight
    double work;
    double submit_s;
};

struct rf_submit {
    VkCommandPool pool;
    VkDescriptorPool descriptors;
    VkSemaphore timeline;
    uint64_t last_value;
    struct slot slots[SLOTS];
    unsigned current;
    struct rf_memory canary; // one word a slot
    double rate;             // multiply-accumulates a second
    double last_done_s;
};

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static VkResult create_timeline(struct rf_device *device, VkSemaphore *semaphore) {
    VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                      .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type};
    return device->vk.CreateSemaphore(device->handle, &info, NULL, semaphore);
}

static VkResult create_commands(struct rf_device *device, struct rf_submit *submit) {
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                    .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                    .queueFamilyIndex = device->caps.queue_family};
    VkResult result = device->vk.CreateCommandPool(device->handle, &pool, NULL, &submit->pool);
    if (result != VK_SUCCESS)
        return result;
    VkCommandBuffer commands[SLOTS];
    VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                        .commandPool = submit->pool,
                                        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                        .commandBufferCount = SLOTS};
    result = device->vk.AllocateCommandBuffers(device->handle, &info, commands);
    for (unsigned i = 0; i < SLOTS && result == VK_SUCCESS; i++)
        submit->slots[i].commands = commands[i];
    return result;
}

// All descriptor sets of all slots once, so that computing allocates none.
static VkResult create_sets(struct rf_device *device, struct rf_submit *submit) {
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, SLOTS * SETS_PER_SLOT * RF_BINDINGS};
    VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                       .maxSets = SLOTS * SETS_PER_SLOT,
                                       .poolSizeCount = 1,
                                       .pPoolSizes = &size};
    VkResult result = device->vk.CreateDescriptorPool(device->handle, &pool, NULL, &submit->descriptors);
    VkDescriptorSetLayout layouts[SETS_PER_SLOT];
    for (unsigned i = 0; i < SETS_PER_SLOT; i++)
        layouts[i] = rf_pipelines_set_layout(device);
    for (unsigned i = 0; i < SLOTS && result == VK_SUCCESS; i++) {
        VkDescriptorSetAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                            .descriptorPool = submit->descriptors,
                                            .descriptorSetCount = SETS_PER_SLOT,
                                            .pSetLayouts = layouts};
        result = device->vk.AllocateDescriptorSets(device->handle, &info, submit->slots[i].sets);
    }
    return result;
}

struct rf_submit *rf_submit_create(struct rf_device *device) {
    struct rf_submit *submit = calloc(1, sizeof *submit);
    if (submit == NULL)
        return NULL;
    submit->rate = FIRST_RATE;
    VkResult result = create_timeline(device, &submit->timeline);
    if (result == VK_SUCCESS)
        result = create_commands(device, submit);
    if (result == VK_SUCCESS)
        result = create_sets(device, submit);
    if (result == VK_SUCCESS)
        result = rf_memory_create(device, RF_MEMORY_HOST, device->caps.atom_bytes > 256 ? device->caps.atom_bytes : 256,
                                  NULL, &submit->canary);
    if (result != VK_SUCCESS) {
        rf_log(RF_LOG_WARN, "%s: no command buffers (%s)", device->caps.name, rf_vk_result_name(result));
        rf_submit_destroy(device, submit);
        return NULL;
    }
    return submit;
}

void rf_submit_destroy(struct rf_device *device, struct rf_submit *submit) {
    if (submit == NULL)
        return;
    rf_memory_destroy(device, &submit->canary);
    device->vk.DestroyDescriptorPool(device->handle, submit->descriptors, NULL);
    device->vk.DestroyCommandPool(device->handle, submit->pool, NULL);
    device->vk.DestroySemaphore(device->handle, submit->timeline, NULL);
    free(submit);
}

double rf_submit_work_limit(const struct rf_device *device) {
    return device->submit->rate * SECONDS_PER_SUBMISSION;
}

// Learns the rate from a finished submission. Tiny ones tell about latency and are ignored; a step of at most a factor
// of four keeps one disturbed measurement from making the next submission too long.
static void learn_rate(struct rf_submit *submit, const struct slot *slot) {
    double done = now_s();
    double begin = slot->submit_s > submit->last_done_s ? slot->submit_s : submit->last_done_s;
    submit->last_done_s = done;
    double seconds = done - begin;
    if (seconds <= 0 || slot->work < submit->rate * SECONDS_PER_SUBMISSION / 16)
        return;
    double rate = slot->work / seconds;
    if (rate > 4 * submit->rate)
        rate = 4 * submit->rate;
    if (rate < submit->rate / 4)
        rate = submit->rate / 4;
    // A device that takes long whatever it is given (shared, stalled) must not be given ever less.
    submit->rate = rate < SLOWEST_RATE ? SLOWEST_RATE : rate;
}

static bool wait_slot(struct rf_device *device, unsigned index) {
    struct rf_submit *submit = device->submit;
    struct slot *slot = &submit->slots[index];
    if (slot->value == 0)
        return true;
    VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                .semaphoreCount = 1,
                                .pSemaphores = &submit->timeline,
                                .pValues = &slot->value};
    VkResult result = device->vk.WaitSemaphores(device->handle, &info, WAIT_LIMIT_NS);
    if (result == VK_SUCCESS)
        result = rf_memory_invalidate(device, &submit->canary, 0, submit->canary.bytes);
    if (result != VK_SUCCESS) {
        rf_device_fail(device, "waiting for a submission", result);
        return false;
    }
    uint32_t written;
    memcpy(&written, (const char *)submit->canary.host + index * sizeof written, sizeof written);
    if (written != (uint32_t)slot->value && !device->unchecked) {
        rf_device_fail(device, "a submission ended without its last write; the driver or its watchdog cancelled it",
                       VK_ERROR_UNKNOWN);
        return false;
    }
    if (!device->unchecked)
        learn_rate(submit, slot);
    slot->value = 0;
    return true;
}

static bool begin_slot(struct rf_device *device, struct slot *slot) {
    slot->sets_used = 0;
    slot->work = 0;
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                      .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    VkResult result = device->vk.ResetCommandBuffer(slot->commands, 0);
    if (result == VK_SUCCESS)
        result = device->vk.BeginCommandBuffer(slot->commands, &begin);
    if (result != VK_SUCCESS)
        rf_device_fail(device, "beginning a command buffer", result);
    return result == VK_SUCCESS;
}

static void record_barrier(struct rf_device *device, VkCommandBuffer commands) {
    VkPipelineStageFlags stages = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
    VkAccessFlags writes = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
    VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                               .srcAccessMask = writes,
                               .dstAccessMask = writes | VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_TRANSFER_READ_BIT};
    device->vk.CmdPipelineBarrier(commands, stages, stages, 0, 1, &barrier, 0, NULL, 0, NULL);
}

static void record_dispatch(struct rf_device *device, struct slot *slot, const struct rf_step *step) {
    VkDescriptorSet set = slot->sets[slot->sets_used++];
    VkDescriptorBufferInfo buffers[RF_BINDINGS];
    VkWriteDescriptorSet writes[RF_BINDINGS];
    for (uint32_t i = 0; i < RF_BINDINGS; i++) {
        // Unused bindings are written, too: lavapipe follows them, and what they held may have been destroyed.
        const struct rf_slice *slice = &step->bindings[step->bindings[i].buffer != VK_NULL_HANDLE ? i : 0];
        buffers[i] = (VkDescriptorBufferInfo){slice->buffer, slice->offset, slice->bytes};
        writes[i] = (VkWriteDescriptorSet){.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                           .dstSet = set,
                                           .dstBinding = i,
                                           .descriptorCount = 1,
                                           .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                           .pBufferInfo = &buffers[i]};
    }
    device->vk.UpdateDescriptorSets(device->handle, RF_BINDINGS, writes, 0, NULL);
    VkPipelineLayout layout = rf_pipelines_layout(device);
    device->vk.CmdBindPipeline(slot->commands, VK_PIPELINE_BIND_POINT_COMPUTE, step->pipeline);
    device->vk.CmdBindDescriptorSets(slot->commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &set, 0, NULL);
    device->vk.CmdPushConstants(slot->commands, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, step->push_bytes, step->push);
    device->dispatches++;
    device->vk.CmdDispatch(slot->commands, step->groups[0], step->groups[1], step->groups[2]);
}

static void record_step(struct rf_device *device, struct slot *slot, const struct rf_step *step) {
    if (step->barrier)
        record_barrier(device, slot->commands);
    slot->work += step->work;
    if (step->pipeline != VK_NULL_HANDLE) {
        record_dispatch(device, slot, step);
        return;
    }
    const struct rf_slice *from = &step->bindings[0], *to = &step->bindings[1];
    VkBufferCopy region = {from->offset, to->offset, from->bytes};
    device->vk.CmdCopyBuffer(slot->commands, from->buffer, to->buffer, 1, &region);
}

// The canary, then everything made available to the host.
static void record_end(struct rf_device *device, struct slot *slot, unsigned index, uint64_t value) {
    record_barrier(device, slot->commands);
    device->vk.CmdFillBuffer(slot->commands, device->submit->canary.buffer, index * 4, 4, (uint32_t)value);
    VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                               .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
                               .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    device->vk.CmdPipelineBarrier(slot->commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
                                  VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0, NULL, 0, NULL);
}

static bool submit_slot(struct rf_device *device, unsigned index) {
    struct rf_submit *submit = device->submit;
    struct slot *slot = &submit->slots[index];
    uint64_t value = submit->last_value + 1;
    record_end(device, slot, index, value);
    VkResult result = device->vk.EndCommandBuffer(slot->commands);
    if (result != VK_SUCCESS) {
        rf_device_fail(device, "ending a command buffer", result);
        return false;
    }
    VkTimelineSemaphoreSubmitInfo timeline = {.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                              .signalSemaphoreValueCount = 1,
                                              .pSignalSemaphoreValues = &value};
    VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                         .pNext = &timeline,
                         .commandBufferCount = 1,
                         .pCommandBuffers = &slot->commands,
                         .signalSemaphoreCount = 1,
                         .pSignalSemaphores = &submit->timeline};
    result = device->vk.QueueSubmit(device->queue, 1, &info, VK_NULL_HANDLE);
    if (result != VK_SUCCESS) {
        rf_device_fail(device, "submitting", result);
        return false;
    }
    submit->last_value = value;
    slot->value = value;
    slot->submit_s = now_s();
    return true;
}

static bool slot_full(const struct rf_device *device, const struct slot *slot, const struct rf_step *step) {
    return slot->sets_used == SETS_PER_SLOT ||
           (slot->work > 0 && slot->work + step->work > rf_submit_work_limit(device));
}

// After a failure: what is still in flight must not write into memory that the CPU uses next. A device that hangs is
// given up after a while.
static bool drain(struct rf_device *device) {
    const uint64_t patience_ns = (uint64_t)10 * 1000 * 1000 * 1000;
    for (unsigned i = 0; i < SLOTS; i++) {
        struct slot *slot = &device->submit->slots[i];
        VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                    .semaphoreCount = 1,
                                    .pSemaphores = &device->submit->timeline,
                                    .pValues = &slot->value};
        if (slot->value != 0)
            device->vk.WaitSemaphores(device->handle, &info, patience_ns);
        slot->value = 0;
    }
    return false;
}

bool rf_submit_run(struct rf_device *device, const struct rf_step *steps, size_t count) {
    struct rf_submit *submit = device->submit;
    for (size_t i = 0; i < count;) {
        unsigned index = submit->current;
        struct slot *slot = &submit->slots[index];
        if (!wait_slot(device, index) || !begin_slot(device, slot))
            return drain(device);
        // Submissions do not order memory by themselves: the first step of each waits for all before it.
        record_barrier(device, slot->commands);
        while (i < count && !slot_full(device, slot, &steps[i]))
            record_step(device, slot, &steps[i++]);
        if (!submit_slot(device, index))
            return drain(device);
        submit->current = (index + 1) % SLOTS;
    }
    for (unsigned i = 0; i < SLOTS; i++)
        if (!wait_slot(device, (submit->current + i) % SLOTS))
            return drain(device);
    return true;
}
