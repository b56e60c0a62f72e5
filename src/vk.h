// SPDX-License-Identifier: MIT
// Vulkan entry points, all in one table, so that nothing links against the loader and a machine without Vulkan still
// runs the host program.
#pragma once

#define VK_NO_PROTOTYPES
#include <stdbool.h>
#include <vulkan/vulkan.h>

#define RF_VK_GLOBAL(X)                                                                                                \
    X(CreateInstance)                                                                                                  \
    X(EnumerateInstanceVersion)

#define RF_VK_INSTANCE(X)                                                                                              \
    X(DestroyInstance)                                                                                                 \
    X(EnumeratePhysicalDevices)                                                                                        \
    X(EnumerateDeviceExtensionProperties)                                                                              \
    X(GetPhysicalDeviceProperties)                                                                                     \
    X(GetPhysicalDeviceProperties2)                                                                                    \
    X(GetPhysicalDeviceFeatures2)                                                                                      \
    X(GetPhysicalDeviceMemoryProperties2)                                                                              \
    X(GetPhysicalDeviceQueueFamilyProperties)                                                                          \
    X(CreateDevice)                                                                                                    \
    X(GetDeviceProcAddr)

#define RF_VK_DEVICE(X)                                                                                                \
    X(DestroyDevice)                                                                                                   \
    X(GetDeviceQueue)                                                                                                  \
    X(AllocateMemory)                                                                                                  \
    X(FreeMemory)                                                                                                      \
    X(MapMemory)                                                                                                       \
    X(FlushMappedMemoryRanges)                                                                                         \
    X(InvalidateMappedMemoryRanges)                                                                                    \
    X(CreateBuffer)                                                                                                    \
    X(DestroyBuffer)                                                                                                   \
    X(GetBufferMemoryRequirements)                                                                                     \
    X(BindBufferMemory)                                                                                                \
    X(CreateShaderModule)                                                                                              \
    X(DestroyShaderModule)                                                                                             \
    X(CreateDescriptorSetLayout)                                                                                       \
    X(DestroyDescriptorSetLayout)                                                                                      \
    X(CreatePipelineLayout)                                                                                            \
    X(DestroyPipelineLayout)                                                                                           \
    X(CreatePipelineCache)                                                                                             \
    X(GetPipelineCacheData)                                                                                            \
    X(DestroyPipelineCache)                                                                                            \
    X(CreateComputePipelines)                                                                                          \
    X(DestroyPipeline)                                                                                                 \
    X(CreateDescriptorPool)                                                                                            \
    X(DestroyDescriptorPool)                                                                                           \
    X(AllocateDescriptorSets)                                                                                          \
    X(UpdateDescriptorSets)                                                                                            \
    X(CreateCommandPool)                                                                                               \
    X(DestroyCommandPool)                                                                                              \
    X(AllocateCommandBuffers)                                                                                          \
    X(ResetCommandBuffer)                                                                                              \
    X(BeginCommandBuffer)                                                                                              \
    X(EndCommandBuffer)                                                                                                \
    X(CmdBindPipeline)                                                                                                 \
    X(CmdBindDescriptorSets)                                                                                           \
    X(CmdPushConstants)                                                                                                \
    X(CmdDispatch)                                                                                                     \
    X(CmdPipelineBarrier)                                                                                              \
    X(CmdCopyBuffer)                                                                                                   \
    X(CmdFillBuffer)                                                                                                   \
    X(QueueSubmit)                                                                                                     \
    X(DeviceWaitIdle)                                                                                                  \
    X(CreateSemaphore)                                                                                                 \
    X(DestroySemaphore)

struct rf_vk {
    PFN_vkGetInstanceProcAddr GetInstanceProcAddr;
#define RF_VK_MEMBER(name) PFN_vk##name name;
    RF_VK_GLOBAL(RF_VK_MEMBER)
    RF_VK_INSTANCE(RF_VK_MEMBER)
    RF_VK_DEVICE(RF_VK_MEMBER)
    PFN_vkWaitSemaphores WaitSemaphores; // core in 1.2 or VK_KHR_timeline_semaphore
    PFN_vkGetMemoryHostPointerPropertiesEXT GetMemoryHostPointerPropertiesEXT; // NULL without the extension
#undef RF_VK_MEMBER
};

// Opens libvulkan.so.1 and fills the global entries. False when there is no loader or it lacks Vulkan 1.1; *why then
// says what is missing (a constant string). The library stays open for the life of the process: drivers do not survive
// being unloaded.
bool rf_vk_open(struct rf_vk *vk, const char **why);

// Fill the entries of an instance, or of a device. False when one is missing.
bool rf_vk_load_instance(struct rf_vk *vk, VkInstance instance);
bool rf_vk_load_device(struct rf_vk *vk, VkDevice device);

// The result's name, e.g. "VK_ERROR_DEVICE_LOST"; "unknown VkResult" for values newer than this file.
const char *rf_vk_result_name(VkResult result);
