/* SPDX-License-Identifier: MIT
 *
 * Semaphores, fences and waiting. A wait that ends well is also where caches may have written back (shadow.c).
 */
#include "trial.h"

/* ---- semaphores ---- */

VKAPI_ATTR VkResult VKAPI_CALL trial_vkCreateSemaphore(VkDevice handle, const VkSemaphoreCreateInfo *info,
                                                       const VkAllocationCallbacks *allocator, VkSemaphore *out) {
    struct trial_device *device = trial_table_device(handle);
    VkResult result = trial_fault_check(TRIAL_CALL_vkCreateSemaphore, device, NULL);
    if (result == VK_SUCCESS) {
        result = device->next.vkCreateSemaphore(handle, info, allocator, out);
    }
    if (result == VK_SUCCESS) {
        trial_log_count(TRIAL_KIND_SEMAPHORE, 1);
    }
    return result;
}

VKAPI_ATTR void VKAPI_CALL trial_vkDestroySemaphore(VkDevice handle, VkSemaphore semaphore,
                                                    const VkAllocationCallbacks *allocator) {
    trial_delay_forget(TRIAL_KEY(semaphore));
    trial_table_device(handle)->next.vkDestroySemaphore(handle, semaphore, allocator);
    if (semaphore != VK_NULL_HANDLE) {
        trial_log_count(TRIAL_KIND_SEMAPHORE, -1);
    }
}

VKAPI_ATTR VkResult VKAPI_CALL trial_vkGetSemaphoreCounterValue(VkDevice handle, VkSemaphore semaphore,
                                                                uint64_t *value) {
    struct trial_device *device = trial_table_device(handle);
    VkResult result = trial_fault_check(TRIAL_CALL_vkGetSemaphoreCounterValue, device, NULL);
    if (result == VK_SUCCESS) {
        result = device->next.vkGetSemaphoreCounterValue(handle, semaphore, value);
    }
    if (result == VK_SUCCESS) {
        *value = trial_delay_visible(TRIAL_KEY(semaphore), *value);
        trial_shadow_evict(device);
    }
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL trial_vkSignalSemaphore(VkDevice handle, const VkSemaphoreSignalInfo *info) {
    struct trial_device *device = trial_table_device(handle);
    VkResult result = trial_fault_check(TRIAL_CALL_vkSignalSemaphore, device, NULL);
    return result != VK_SUCCESS ? result : device->next.vkSignalSemaphore(handle, info);
}

static uint64_t later(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

static uint64_t earlier(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

VKAPI_ATTR VkResult VKAPI_CALL trial_vkWaitSemaphores(VkDevice handle, const VkSemaphoreWaitInfo *info,
                                                      uint64_t timeout_ns) {
    struct trial_device *device = trial_table_device(handle);
    uint64_t index;
    VkResult result = trial_fault_check(TRIAL_CALL_vkWaitSemaphores, device, &index);
    if (result != VK_SUCCESS) {
        return result;
    }
    bool any = (info->flags & VK_SEMAPHORE_WAIT_ANY_BIT) != 0;
    uint64_t ready_ns = any ? UINT64_MAX : 0;
    for (uint32_t i = 0; i < info->semaphoreCount; i++) {
        uint64_t one_ns = trial_delay_ready(TRIAL_KEY(info->pSemaphores[i]), info->pValues[i]);
        ready_ns = any ? earlier(ready_ns, one_ns) : later(ready_ns, one_ns);
    }
    if (!trial_delay_sleep(ready_ns, &timeout_ns)) {
        return VK_TIMEOUT;
    }
    result = device->next.vkWaitSemaphores(handle, info, timeout_ns);
    trial_shadow_evict(device);
    return result;
}

/* ---- fences ---- */

VKAPI_ATTR VkResult VKAPI_CALL trial_vkCreateFence(VkDevice handle, const VkFenceCreateInfo *info,
                                                   const VkAllocationCallbacks *allocator, VkFence *out) {
    struct trial_device *device = trial_table_device(handle);
    VkResult result = trial_fault_check(TRIAL_CALL_vkCreateFence, device, NULL);
    if (result == VK_SUCCESS) {
        result = device->next.vkCreateFence(handle, info, allocator, out);
    }
    if (result == VK_SUCCESS) {
        trial_log_count(TRIAL_KIND_FENCE, 1);
    }
    return result;
}

VKAPI_ATTR void VKAPI_CALL trial_vkDestroyFence(VkDevice handle, VkFence fence,
                                                const VkAllocationCallbacks *allocator) {
    trial_delay_forget(TRIAL_KEY(fence));
    trial_table_device(handle)->next.vkDestroyFence(handle, fence, allocator);
    if (fence != VK_NULL_HANDLE) {
        trial_log_count(TRIAL_KIND_FENCE, -1);
    }
}

VKAPI_ATTR VkResult VKAPI_CALL trial_vkResetFences(VkDevice handle, uint32_t count, const VkFence *fences) {
    struct trial_device *device = trial_table_device(handle);
    VkResult result = trial_fault_check(TRIAL_CALL_vkResetFences, device, NULL);
    if (result != VK_SUCCESS) {
        return result;
    }
    for (uint32_t i = 0; i < count; i++) {
        trial_delay_forget(TRIAL_KEY(fences[i]));
    }
    return device->next.vkResetFences(handle, count, fences);
}

VKAPI_ATTR VkResult VKAPI_CALL trial_vkGetFenceStatus(VkDevice handle, VkFence fence) {
    struct trial_device *device = trial_table_device(handle);
    VkResult result = trial_fault_check(TRIAL_CALL_vkGetFenceStatus, device, NULL);
    if (result != VK_SUCCESS) {
        return result;
    }
    bool held_back = trial_delay_ready(TRIAL_KEY(fence), 1) > trial_log_now_ns();
    result = held_back ? VK_NOT_READY : device->next.vkGetFenceStatus(handle, fence);
    trial_shadow_evict(device);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL trial_vkWaitForFences(VkDevice handle, uint32_t count, const VkFence *fences,
                                                     VkBool32 all, uint64_t timeout_ns) {
    struct trial_device *device = trial_table_device(handle);
    uint64_t index;
    VkResult result = trial_fault_check(TRIAL_CALL_vkWaitForFences, device, &index);
    if (result != VK_SUCCESS) {
        return result;
    }
    uint64_t ready_ns = all ? 0 : UINT64_MAX;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t one_ns = trial_delay_ready(TRIAL_KEY(fences[i]), 1);
        ready_ns = all ? later(ready_ns, one_ns) : earlier(ready_ns, one_ns);
    }
    if (!trial_delay_sleep(ready_ns, &timeout_ns)) {
        return VK_TIMEOUT;
    }
    result = device->next.vkWaitForFences(handle, count, fences, all, timeout_ns);
    trial_shadow_evict(device);
    return result;
}

/* ---- idling ---- */

static void sleep_out(struct trial_device *device) {
    uint64_t no_bound = UINT64_MAX;
    trial_table_lock();
    uint64_t ready_ns = device->queue_ready_ns;
    trial_table_unlock();
    trial_delay_sleep(ready_ns, &no_bound);
}

VKAPI_ATTR VkResult VKAPI_CALL trial_vkQueueWaitIdle(VkQueue queue) {
    struct trial_device *device = trial_table_device(queue);
    uint64_t index;
    VkResult result = trial_fault_check(TRIAL_CALL_vkQueueWaitIdle, device, &index);
    if (result != VK_SUCCESS) {
        return result;
    }
    sleep_out(device);
    result = device->next.vkQueueWaitIdle(queue);
    trial_shadow_evict(device);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL trial_vkDeviceWaitIdle(VkDevice handle) {
    struct trial_device *device = trial_table_device(handle);
    uint64_t index;
    VkResult result = trial_fault_check(TRIAL_CALL_vkDeviceWaitIdle, device, &index);
    if (result != VK_SUCCESS) {
        return result;
    }
    sleep_out(device);
    result = device->next.vkDeviceWaitIdle(handle);
    trial_shadow_evict(device);
    return result;
}
