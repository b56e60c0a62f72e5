/* SPDX-License-Identifier: MIT
 *
 * The Vulkan entry points that the trial layer stands in front of, as lists from which the dispatch tables, the
 * prototypes and the table of counted calls are made.
 *
 * Pure macros: no Vulkan header is needed to read the names.
 */
#ifndef TRIAL_CALLS_H
#define TRIAL_CALLS_H

/* Which errors the specification (errorcodes in vk.xml) lets a call return; the first allowed one of
 * device memory, host memory is what an injected failure returns unless TRIAL_FAIL_ERROR says otherwise. */
#define TRIAL_MAY_HOST 1u
#define TRIAL_MAY_DEVICE 2u
#define TRIAL_MAY_LOST 4u
#define TRIAL_MAY_MEMORY (TRIAL_MAY_HOST | TRIAL_MAY_DEVICE)
#define TRIAL_MAY_ALL (TRIAL_MAY_MEMORY | TRIAL_MAY_LOST)

/* What a call counts as besides a fallible call. */
#define TRIAL_IS_PLAIN 0u
#define TRIAL_IS_SUBMIT 1u
#define TRIAL_IS_WAIT 2u

/* X(call, allowed errors, class). A KHR or EXT twin of a call counts under the name listed here. */
#define TRIAL_FALLIBLE(X)                                                                                              \
    X(vkEnumeratePhysicalDevices, TRIAL_MAY_MEMORY, TRIAL_IS_PLAIN)                                                    \
    X(vkEnumeratePhysicalDeviceGroups, TRIAL_MAY_MEMORY, TRIAL_IS_PLAIN)                                               \
    X(vkEnumerateDeviceExtensionProperties, TRIAL_MAY_MEMORY, TRIAL_IS_PLAIN)                                          \
    X(vkCreateDevice, TRIAL_MAY_ALL, TRIAL_IS_PLAIN)                                                                   \
    X(vkAllocateMemory, TRIAL_MAY_MEMORY, TRIAL_IS_PLAIN)                                                              \
    X(vkMapMemory, TRIAL_MAY_MEMORY, TRIAL_IS_PLAIN)                                                                   \
    X(vkFlushMappedMemoryRanges, TRIAL_MAY_MEMORY, TRIAL_IS_PLAIN)                                                     \
    X(vkInvalidateMappedMemoryRanges, TRIAL_MAY_MEMORY, TRIAL_IS_PLAIN)                                                \
    X(vkGetMemoryHostPointerPropertiesEXT, TRIAL_MAY_HOST, TRIAL_IS_PLAIN)                                             \
    X(vkBindBufferMemory, TRIAL_MAY_MEMORY, TRIAL_IS_PLAIN)                                                            \
    X(vkBindBufferMemory2, TRIAL_MAY_MEMORY, TRIAL_IS_PLAIN)                                                           \
    X(vkCreateBuffer, TRIAL_MAY_MEMORY, TRIAL_IS_PLAIN)                                                                \
    X(vkCreateShaderModule, TRIAL_MAY_MEMORY, TRIAL_IS_PLAIN)                                                          \
    X(vkCreatePipelineLayout, TRIAL_MAY_MEMORY, TRIAL_IS_PLAIN)                                                        \
    X(vkCreateDescriptorSetLayout, TRIAL_MAY_MEMORY, TRIAL_IS_PLAIN)                                                   \
    X(vkCreateDescriptorPool, TRIAL_MAY_MEMORY, TRIAL_IS_PLAIN)                                                        \
    X(vkAllocateDescriptorSets, TRIAL_MAY_MEMORY, TRIAL_IS_PLAIN)                                                      \
    X(vkCreateDescriptorUpdateTemplate, TRIAL_MAY_MEMORY, TRIAL_IS_PLAIN)                                              \
    X(vkCreateComputePipelines, TRIAL_MAY_MEMORY, TRIAL_IS_PLAIN)                                                      \
    X(vkCreatePipelineCache, TRIAL_MAY_MEMORY, TRIAL_IS_PLAIN)                                                         \
    X(vkGetPipelineCacheData, TRIAL_MAY_MEMORY, TRIAL_IS_PLAIN)                                                        \
    X(vkMergePipelineCaches, TRIAL_MAY_MEMORY, TRIAL_IS_PLAIN)                                                         \
    X(vkCreateCommandPool, TRIAL_MAY_MEMORY, TRIAL_IS_PLAIN)                                                           \
    X(vkAllocateCommandBuffers, TRIAL_MAY_MEMORY, TRIAL_IS_PLAIN)                                                      \
    X(vkBeginCommandBuffer, TRIAL_MAY_MEMORY, TRIAL_IS_PLAIN)                                                          \
    X(vkEndCommandBuffer, TRIAL_MAY_MEMORY, TRIAL_IS_PLAIN)                                                            \
    X(vkResetCommandPool, TRIAL_MAY_DEVICE, TRIAL_IS_PLAIN)                                                            \
    X(vkResetCommandBuffer, TRIAL_MAY_DEVICE, TRIAL_IS_PLAIN)                                                          \
    X(vkCreateSemaphore, TRIAL_MAY_MEMORY, TRIAL_IS_PLAIN)                                                             \
    X(vkGetSemaphoreCounterValue, TRIAL_MAY_ALL, TRIAL_IS_PLAIN)                                                       \
    X(vkSignalSemaphore, TRIAL_MAY_MEMORY, TRIAL_IS_PLAIN)                                                             \
    X(vkCreateFence, TRIAL_MAY_MEMORY, TRIAL_IS_PLAIN)                                                                 \
    X(vkResetFences, TRIAL_MAY_DEVICE, TRIAL_IS_PLAIN)                                                                 \
    X(vkGetFenceStatus, TRIAL_MAY_ALL, TRIAL_IS_PLAIN)                                                                 \
    X(vkCreateQueryPool, TRIAL_MAY_MEMORY, TRIAL_IS_PLAIN)                                                             \
    X(vkGetQueryPoolResults, TRIAL_MAY_ALL, TRIAL_IS_PLAIN)                                                            \
    X(vkQueueSubmit, TRIAL_MAY_ALL, TRIAL_IS_SUBMIT)                                                                   \
    X(vkQueueSubmit2, TRIAL_MAY_ALL, TRIAL_IS_SUBMIT)                                                                  \
    X(vkWaitForFences, TRIAL_MAY_ALL, TRIAL_IS_WAIT)                                                                   \
    X(vkWaitSemaphores, TRIAL_MAY_ALL, TRIAL_IS_WAIT)                                                                  \
    X(vkQueueWaitIdle, TRIAL_MAY_ALL, TRIAL_IS_WAIT)                                                                   \
    X(vkDeviceWaitIdle, TRIAL_MAY_ALL, TRIAL_IS_WAIT)

/* Instance-level calls with a trial_ twin, each also a member of the instance's table of next functions. */
#define TRIAL_INSTANCE_CALLS(X)                                                                                        \
    X(vkDestroyInstance)                                                                                               \
    X(vkEnumeratePhysicalDevices)                                                                                      \
    X(vkEnumeratePhysicalDeviceGroups)                                                                                 \
    X(vkGetPhysicalDeviceProperties)                                                                                   \
    X(vkGetPhysicalDeviceProperties2)                                                                                  \
    X(vkGetPhysicalDeviceFeatures)                                                                                     \
    X(vkGetPhysicalDeviceFeatures2)                                                                                    \
    X(vkGetPhysicalDeviceMemoryProperties)                                                                             \
    X(vkGetPhysicalDeviceMemoryProperties2)                                                                            \
    X(vkEnumerateDeviceExtensionProperties)                                                                            \
    X(vkCreateDevice)

/* X(twin, call): the twin is served by the call's function. */
#define TRIAL_INSTANCE_TWINS(X)                                                                                        \
    X(vkEnumeratePhysicalDeviceGroupsKHR, vkEnumeratePhysicalDeviceGroups)                                             \
    X(vkGetPhysicalDeviceProperties2KHR, vkGetPhysicalDeviceProperties2)                                               \
    X(vkGetPhysicalDeviceFeatures2KHR, vkGetPhysicalDeviceFeatures2)                                                   \
    X(vkGetPhysicalDeviceMemoryProperties2KHR, vkGetPhysicalDeviceMemoryProperties2)

#define TRIAL_DEVICE_CALLS(X)                                                                                          \
    X(vkDestroyDevice)                                                                                                 \
    X(vkAllocateMemory)                                                                                                \
    X(vkFreeMemory)                                                                                                    \
    X(vkMapMemory)                                                                                                     \
    X(vkUnmapMemory)                                                                                                   \
    X(vkFlushMappedMemoryRanges)                                                                                       \
    X(vkInvalidateMappedMemoryRanges)                                                                                  \
    X(vkGetBufferMemoryRequirements)                                                                                   \
    X(vkGetBufferMemoryRequirements2)                                                                                  \
    X(vkGetDeviceBufferMemoryRequirements)                                                                             \
    X(vkGetImageMemoryRequirements)                                                                                    \
    X(vkGetImageMemoryRequirements2)                                                                                   \
    X(vkGetMemoryHostPointerPropertiesEXT)                                                                             \
    X(vkBindBufferMemory)                                                                                              \
    X(vkBindBufferMemory2)                                                                                             \
    X(vkCreateBuffer)                                                                                                  \
    X(vkDestroyBuffer)                                                                                                 \
    X(vkCreateShaderModule)                                                                                            \
    X(vkDestroyShaderModule)                                                                                           \
    X(vkCreatePipelineLayout)                                                                                          \
    X(vkDestroyPipelineLayout)                                                                                         \
    X(vkCreateDescriptorSetLayout)                                                                                     \
    X(vkDestroyDescriptorSetLayout)                                                                                    \
    X(vkCreateDescriptorPool)                                                                                          \
    X(vkDestroyDescriptorPool)                                                                                         \
    X(vkAllocateDescriptorSets)                                                                                        \
    X(vkCreateDescriptorUpdateTemplate)                                                                                \
    X(vkDestroyDescriptorUpdateTemplate)                                                                               \
    X(vkCreateComputePipelines)                                                                                        \
    X(vkDestroyPipeline)                                                                                               \
    X(vkCreatePipelineCache)                                                                                           \
    X(vkDestroyPipelineCache)                                                                                          \
    X(vkGetPipelineCacheData)                                                                                          \
    X(vkMergePipelineCaches)                                                                                           \
    X(vkCreateCommandPool)                                                                                             \
    X(vkDestroyCommandPool)                                                                                            \
    X(vkResetCommandPool)                                                                                              \
    X(vkAllocateCommandBuffers)                                                                                        \
    X(vkFreeCommandBuffers)                                                                                            \
    X(vkBeginCommandBuffer)                                                                                            \
    X(vkEndCommandBuffer)                                                                                              \
    X(vkResetCommandBuffer)                                                                                            \
    X(vkCmdDispatch)                                                                                                   \
    X(vkCmdDispatchBase)                                                                                               \
    X(vkCmdDispatchIndirect)                                                                                           \
    X(vkCmdCopyBuffer)                                                                                                 \
    X(vkCmdFillBuffer)                                                                                                 \
    X(vkCmdUpdateBuffer)                                                                                               \
    X(vkCmdPipelineBarrier)                                                                                            \
    X(vkCmdExecuteCommands)                                                                                            \
    X(vkCreateSemaphore)                                                                                               \
    X(vkDestroySemaphore)                                                                                              \
    X(vkGetSemaphoreCounterValue)                                                                                      \
    X(vkSignalSemaphore)                                                                                               \
    X(vkWaitSemaphores)                                                                                                \
    X(vkCreateFence)                                                                                                   \
    X(vkDestroyFence)                                                                                                  \
    X(vkResetFences)                                                                                                   \
    X(vkGetFenceStatus)                                                                                                \
    X(vkWaitForFences)                                                                                                 \
    X(vkCreateQueryPool)                                                                                               \
    X(vkDestroyQueryPool)                                                                                              \
    X(vkGetQueryPoolResults)                                                                                           \
    X(vkQueueSubmit)                                                                                                   \
    X(vkQueueSubmit2)                                                                                                  \
    X(vkQueueWaitIdle)                                                                                                 \
    X(vkDeviceWaitIdle)

#define TRIAL_DEVICE_TWINS(X)                                                                                          \
    X(vkGetBufferMemoryRequirements2KHR, vkGetBufferMemoryRequirements2)                                               \
    X(vkGetDeviceBufferMemoryRequirementsKHR, vkGetDeviceBufferMemoryRequirements)                                     \
    X(vkGetImageMemoryRequirements2KHR, vkGetImageMemoryRequirements2)                                                 \
    X(vkBindBufferMemory2KHR, vkBindBufferMemory2)                                                                     \
    X(vkCreateDescriptorUpdateTemplateKHR, vkCreateDescriptorUpdateTemplate)                                           \
    X(vkDestroyDescriptorUpdateTemplateKHR, vkDestroyDescriptorUpdateTemplate)                                         \
    X(vkCmdDispatchBaseKHR, vkCmdDispatchBase)                                                                         \
    X(vkGetSemaphoreCounterValueKHR, vkGetSemaphoreCounterValue)                                                       \
    X(vkSignalSemaphoreKHR, vkSignalSemaphore)                                                                         \
    X(vkWaitSemaphoresKHR, vkWaitSemaphores)                                                                           \
    X(vkQueueSubmit2KHR, vkQueueSubmit2)

#endif
