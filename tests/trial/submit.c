/* SPDX-License-Identifier: MIT
 *
 * Submissions: recorded, held back in time, dropped, lost.
 *
 * A dropped submission goes to the driver without its command buffers, so that everything waits and is signalled as
 * if it had run: a watchdog that cancels work and tells nobody.
 */
#include "trial.h"

#include <stdlib.h>

/* Values of the timeline semaphores that the submission signals, or NULL. */
static const VkTimelineSemaphoreSubmitInfo *timeline_of(const VkSubmitInfo *submit) {
    const VkBaseInStructure *node = submit->pNext;
    while (node != NULL && node->sType != VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO) {
        node = node->pNext;
    }
    return (const VkTimelineSemaphoreSubmitInfo *)node;
}

static void delay_signals(const VkSubmitInfo *submit, uint64_t ready_ns) {
    const VkTimelineSemaphoreSubmitInfo *timeline = timeline_of(submit);
    for (uint32_t i = 0; timeline != NULL && i < timeline->signalSemaphoreValueCount; i++) {
        trial_delay_signal(TRIAL_KEY(submit->pSignalSemaphores[i]), timeline->pSignalSemaphoreValues[i], ready_ns);
    }
}

static void delay_fence(VkFence fence, uint64_t ready_ns) {
    if (fence != VK_NULL_HANDLE) {
        trial_delay_signal(TRIAL_KEY(fence), 1, ready_ns);
    }
}

/* Copies of the submissions without command buffers, to be freed; NULL when out of memory. */
static VkSubmitInfo *emptied(uint32_t count, const VkSubmitInfo *submits) {
    VkSubmitInfo *copies = calloc(count + 1, sizeof *copies);
    for (uint32_t i = 0; copies != NULL && i < count; i++) {
        copies[i] = submits[i];
        copies[i].commandBufferCount = 0;
        copies[i].pCommandBuffers = NULL;
    }
    return copies;
}

static void sum(uint32_t count, const VkSubmitInfo *submits, struct trial_work *work) {
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < submits[i].commandBufferCount; k++) {
            trial_command_sum(submits[i].pCommandBuffers[k], work);
        }
    }
}

VKAPI_ATTR VkResult VKAPI_CALL trial_vkQueueSubmit(VkQueue queue, uint32_t count, const VkSubmitInfo *submits,
                                                   VkFence fence) {
    struct trial_device *device = trial_table_device(queue);
    uint64_t index;
    VkResult result = trial_fault_check(TRIAL_CALL_vkQueueSubmit, device, &index);
    if (result != VK_SUCCESS) {
        return result;
    }
    bool drop = trial_config_hits(&trial_config.drop_submit, index);
    struct trial_work work = {0};
    sum(count, submits, &work);
    trial_log_submit(index, &work, drop);
    trial_shadow_evict(device);
    uint64_t ready_ns = trial_delay_submit(device);
    for (uint32_t i = 0; i < count; i++) {
        delay_signals(&submits[i], ready_ns);
    }
    delay_fence(fence, ready_ns);
    VkSubmitInfo *copies = drop ? emptied(count, submits) : NULL;
    if (drop && copies == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    result = device->next.vkQueueSubmit(queue, count, drop ? copies : submits, fence);
    free(copies);
    return result;
}

/* ---- the same for vkQueueSubmit2 ---- */

static void delay_signals2(const VkSubmitInfo2 *submit, uint64_t ready_ns) {
    for (uint32_t i = 0; i < submit->signalSemaphoreInfoCount; i++) {
        const VkSemaphoreSubmitInfo *signal = &submit->pSignalSemaphoreInfos[i];
        trial_delay_signal(TRIAL_KEY(signal->semaphore), signal->value, ready_ns);
    }
}

static VkSubmitInfo2 *emptied2(uint32_t count, const VkSubmitInfo2 *submits) {
    VkSubmitInfo2 *copies = calloc(count + 1, sizeof *copies);
    for (uint32_t i = 0; copies != NULL && i < count; i++) {
        copies[i] = submits[i];
        copies[i].commandBufferInfoCount = 0;
        copies[i].pCommandBufferInfos = NULL;
    }
    return copies;
}

static void sum2(uint32_t count, const VkSubmitInfo2 *submits, struct trial_work *work) {
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < submits[i].commandBufferInfoCount; k++) {
            trial_command_sum(submits[i].pCommandBufferInfos[k].commandBuffer, work);
        }
    }
}

VKAPI_ATTR VkResult VKAPI_CALL trial_vkQueueSubmit2(VkQueue queue, uint32_t count, const VkSubmitInfo2 *submits,
                                                    VkFence fence) {
    struct trial_device *device = trial_table_device(queue);
    uint64_t index;
    VkResult result = trial_fault_check(TRIAL_CALL_vkQueueSubmit2, device, &index);
    if (result != VK_SUCCESS) {
        return result;
    }
    bool drop = trial_config_hits(&trial_config.drop_submit, index);
    struct trial_work work = {0};
    sum2(count, submits, &work);
    trial_log_submit(index, &work, drop);
    trial_shadow_evict(device);
    uint64_t ready_ns = trial_delay_submit(device);
    for (uint32_t i = 0; i < count; i++) {
        delay_signals2(&submits[i], ready_ns);
    }
    delay_fence(fence, ready_ns);
    VkSubmitInfo2 *copies = drop ? emptied2(count, submits) : NULL;
    if (drop && copies == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    result = device->next.vkQueueSubmit2(queue, count, drop ? copies : submits, fence);
    free(copies);
    return result;
}
