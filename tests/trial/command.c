/* SPDX-License-Identifier: MIT
 *
 * Command pools and command buffers, and what is recorded in them.
 */
#include "trial.h"

#include <stdlib.h>

struct commands {
    VkCommandBuffer buffer;
    VkCommandPool pool;
    struct trial_work work;
};

static struct trial_map buffers;

/* The caller holds the lock. */
static struct commands *find(VkCommandBuffer buffer) {
    return trial_map_get(&buffers, TRIAL_KEY(buffer));
}

static void clear_work(struct commands *commands) {
    commands->work = (struct trial_work){.command_buffers = 1};
}

static void add_work(struct trial_work *sum, const struct trial_work *work) {
    sum->command_buffers += work->command_buffers;
    sum->dispatches += work->dispatches;
    sum->indirect_dispatches += work->indirect_dispatches;
    sum->groups += work->groups;
    sum->largest_groups = work->largest_groups > sum->largest_groups ? work->largest_groups : sum->largest_groups;
    sum->transfers += work->transfers;
    sum->transfer_bytes += work->transfer_bytes;
    sum->barriers += work->barriers;
    sum->host_barriers += work->host_barriers;
}

static void record(VkCommandBuffer buffer, const struct trial_work *work) {
    trial_table_lock();
    struct commands *commands = find(buffer);
    if (commands != NULL) {
        add_work(&commands->work, work);
    }
    trial_table_unlock();
}

void trial_command_sum(VkCommandBuffer buffer, struct trial_work *work) {
    trial_table_lock();
    struct commands *commands = find(buffer);
    if (commands != NULL) {
        add_work(work, &commands->work);
    }
    trial_table_unlock();
}

/* ---- pools ---- */

VKAPI_ATTR VkResult VKAPI_CALL trial_vkCreateCommandPool(VkDevice handle, const VkCommandPoolCreateInfo *info,
                                                         const VkAllocationCallbacks *allocator, VkCommandPool *out) {
    struct trial_device *device = trial_table_device(handle);
    VkResult result = trial_fault_check(TRIAL_CALL_vkCreateCommandPool, device, NULL);
    if (result == VK_SUCCESS) {
        result = device->next.vkCreateCommandPool(handle, info, allocator, out);
    }
    if (result == VK_SUCCESS) {
        trial_log_count(TRIAL_KIND_COMMAND_POOL, 1);
    }
    return result;
}

/* The first buffer of the pool taken out of the map, or NULL. */
static struct commands *take_from_pool(VkCommandPool pool) {
    size_t at = 0;
    trial_table_lock();
    struct commands *commands = trial_map_next(&buffers, &at);
    while (commands != NULL && commands->pool != pool) {
        commands = trial_map_next(&buffers, &at);
    }
    if (commands != NULL) {
        trial_map_take(&buffers, TRIAL_KEY(commands->buffer));
    }
    trial_table_unlock();
    return commands;
}

VKAPI_ATTR void VKAPI_CALL trial_vkDestroyCommandPool(VkDevice handle, VkCommandPool pool,
                                                      const VkAllocationCallbacks *allocator) {
    for (struct commands *commands; pool != VK_NULL_HANDLE && (commands = take_from_pool(pool)) != NULL;) {
        free(commands);
        trial_log_count(TRIAL_KIND_COMMAND_BUFFER, -1);
    }
    trial_table_device(handle)->next.vkDestroyCommandPool(handle, pool, allocator);
    if (pool != VK_NULL_HANDLE) {
        trial_log_count(TRIAL_KIND_COMMAND_POOL, -1);
    }
}

VKAPI_ATTR VkResult VKAPI_CALL trial_vkResetCommandPool(VkDevice handle, VkCommandPool pool,
                                                        VkCommandPoolResetFlags flags) {
    struct trial_device *device = trial_table_device(handle);
    VkResult result = trial_fault_check(TRIAL_CALL_vkResetCommandPool, device, NULL);
    if (result != VK_SUCCESS) {
        return result;
    }
    size_t at = 0;
    trial_table_lock();
    for (struct commands *commands; (commands = trial_map_next(&buffers, &at)) != NULL;) {
        if (commands->pool == pool) {
            clear_work(commands);
        }
    }
    trial_table_unlock();
    return device->next.vkResetCommandPool(handle, pool, flags);
}

/* ---- buffers ---- */

static bool remember(VkCommandBuffer buffer, VkCommandPool pool) {
    struct commands *commands = calloc(1, sizeof *commands);
    if (commands == NULL) {
        return false;
    }
    commands->buffer = buffer;
    commands->pool = pool;
    clear_work(commands);
    trial_table_lock();
    bool good = trial_map_put(&buffers, TRIAL_KEY(buffer), commands);
    trial_table_unlock();
    if (good) {
        trial_log_count(TRIAL_KIND_COMMAND_BUFFER, 1);
    } else {
        free(commands);
    }
    return good;
}

VKAPI_ATTR VkResult VKAPI_CALL trial_vkAllocateCommandBuffers(VkDevice handle, const VkCommandBufferAllocateInfo *info,
                                                              VkCommandBuffer *out) {
    struct trial_device *device = trial_table_device(handle);
    VkResult result = trial_fault_check(TRIAL_CALL_vkAllocateCommandBuffers, device, NULL);
    if (result == VK_SUCCESS) {
        result = device->next.vkAllocateCommandBuffers(handle, info, out);
    }
    for (uint32_t i = 0; i < info->commandBufferCount; i++) {
        if (result != VK_SUCCESS) {
            out[i] = VK_NULL_HANDLE; /* as the specification has it */
        } else if (!remember(out[i], info->commandPool)) {
            trial_log_fault("the layer is out of memory: a command buffer is not counted");
        }
    }
    return result;
}

VKAPI_ATTR void VKAPI_CALL trial_vkFreeCommandBuffers(VkDevice handle, VkCommandPool pool, uint32_t count,
                                                      const VkCommandBuffer *freed) {
    for (uint32_t i = 0; i < count; i++) {
        trial_table_lock();
        struct commands *commands = freed[i] != NULL ? trial_map_take(&buffers, TRIAL_KEY(freed[i])) : NULL;
        trial_table_unlock();
        if (commands != NULL) {
            free(commands);
            trial_log_count(TRIAL_KIND_COMMAND_BUFFER, -1);
        }
    }
    trial_table_device(handle)->next.vkFreeCommandBuffers(handle, pool, count, freed);
}

static void clear_buffer(VkCommandBuffer buffer) {
    trial_table_lock();
    struct commands *commands = find(buffer);
    if (commands != NULL) {
        clear_work(commands);
    }
    trial_table_unlock();
}

VKAPI_ATTR VkResult VKAPI_CALL trial_vkBeginCommandBuffer(VkCommandBuffer buffer,
                                                          const VkCommandBufferBeginInfo *info) {
    struct trial_device *device = trial_table_device(buffer);
    VkResult result = trial_fault_check(TRIAL_CALL_vkBeginCommandBuffer, device, NULL);
    if (result != VK_SUCCESS) {
        return result;
    }
    clear_buffer(buffer);
    return device->next.vkBeginCommandBuffer(buffer, info);
}

VKAPI_ATTR VkResult VKAPI_CALL trial_vkEndCommandBuffer(VkCommandBuffer buffer) {
    struct trial_device *device = trial_table_device(buffer);
    VkResult result = trial_fault_check(TRIAL_CALL_vkEndCommandBuffer, device, NULL);
    return result != VK_SUCCESS ? result : device->next.vkEndCommandBuffer(buffer);
}

VKAPI_ATTR VkResult VKAPI_CALL trial_vkResetCommandBuffer(VkCommandBuffer buffer, VkCommandBufferResetFlags flags) {
    struct trial_device *device = trial_table_device(buffer);
    VkResult result = trial_fault_check(TRIAL_CALL_vkResetCommandBuffer, device, NULL);
    if (result != VK_SUCCESS) {
        return result;
    }
    clear_buffer(buffer);
    return device->next.vkResetCommandBuffer(buffer, flags);
}

/* ---- commands ---- */

static void record_dispatch(VkCommandBuffer buffer, uint32_t x, uint32_t y, uint32_t z) {
    uint64_t groups = (uint64_t)x * y * z;
    record(buffer, &(struct trial_work){.dispatches = 1, .groups = groups, .largest_groups = groups});
}

VKAPI_ATTR void VKAPI_CALL trial_vkCmdDispatch(VkCommandBuffer buffer, uint32_t x, uint32_t y, uint32_t z) {
    record_dispatch(buffer, x, y, z);
    trial_table_device(buffer)->next.vkCmdDispatch(buffer, x, y, z);
}

VKAPI_ATTR void VKAPI_CALL trial_vkCmdDispatchBase(VkCommandBuffer buffer, uint32_t base_x, uint32_t base_y,
                                                   uint32_t base_z, uint32_t x, uint32_t y, uint32_t z) {
    record_dispatch(buffer, x, y, z);
    trial_table_device(buffer)->next.vkCmdDispatchBase(buffer, base_x, base_y, base_z, x, y, z);
}

VKAPI_ATTR void VKAPI_CALL trial_vkCmdDispatchIndirect(VkCommandBuffer buffer, VkBuffer arguments,
                                                       VkDeviceSize offset) {
    record(buffer, &(struct trial_work){.dispatches = 1, .indirect_dispatches = 1});
    trial_table_device(buffer)->next.vkCmdDispatchIndirect(buffer, arguments, offset);
}

VKAPI_ATTR void VKAPI_CALL trial_vkCmdCopyBuffer(VkCommandBuffer buffer, VkBuffer from, VkBuffer to, uint32_t count,
                                                 const VkBufferCopy *regions) {
    struct trial_work work = {.transfers = 1};
    for (uint32_t i = 0; i < count; i++) {
        work.transfer_bytes += regions[i].size;
    }
    record(buffer, &work);
    trial_table_device(buffer)->next.vkCmdCopyBuffer(buffer, from, to, count, regions);
}

VKAPI_ATTR void VKAPI_CALL trial_vkCmdFillBuffer(VkCommandBuffer buffer, VkBuffer filled, VkDeviceSize offset,
                                                 VkDeviceSize bytes, uint32_t value) {
    /* VK_WHOLE_SIZE is not resolved: buffer sizes are not kept. */
    record(buffer, &(struct trial_work){.transfers = 1, .transfer_bytes = bytes == VK_WHOLE_SIZE ? 0 : bytes});
    trial_table_device(buffer)->next.vkCmdFillBuffer(buffer, filled, offset, bytes, value);
}

VKAPI_ATTR void VKAPI_CALL trial_vkCmdUpdateBuffer(VkCommandBuffer buffer, VkBuffer updated, VkDeviceSize offset,
                                                   VkDeviceSize bytes, const void *data) {
    record(buffer, &(struct trial_work){.transfers = 1, .transfer_bytes = bytes});
    trial_table_device(buffer)->next.vkCmdUpdateBuffer(buffer, updated, offset, bytes, data);
}

VKAPI_ATTR void VKAPI_CALL trial_vkCmdPipelineBarrier(VkCommandBuffer buffer, VkPipelineStageFlags from,
                                                      VkPipelineStageFlags to, VkDependencyFlags flags,
                                                      uint32_t memory_count, const VkMemoryBarrier *memories,
                                                      uint32_t buffer_count, const VkBufferMemoryBarrier *buffers_,
                                                      uint32_t image_count, const VkImageMemoryBarrier *images) {
    bool to_host = (to & VK_PIPELINE_STAGE_HOST_BIT) != 0;
    record(buffer, &(struct trial_work){.barriers = 1, .host_barriers = to_host});
    trial_table_device(buffer)->next.vkCmdPipelineBarrier(buffer, from, to, flags, memory_count, memories, buffer_count,
                                                          buffers_, image_count, images);
}

VKAPI_ATTR void VKAPI_CALL trial_vkCmdExecuteCommands(VkCommandBuffer buffer, uint32_t count,
                                                      const VkCommandBuffer *secondaries) {
    struct trial_work work = {0};
    for (uint32_t i = 0; i < count; i++) {
        trial_command_sum(secondaries[i], &work);
    }
    work.command_buffers = 0;
    record(buffer, &work);
    trial_table_device(buffer)->next.vkCmdExecuteCommands(buffer, count, secondaries);
}
