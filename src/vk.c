// SPDX-License-Identifier: MIT
#include "vk.h"

#include <dlfcn.h>

bool rf_vk_open(struct rf_vk *vk, const char **why) {
    void *library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        *why = "no Vulkan loader (libvulkan.so.1); install libvulkan1 and a driver such as mesa-vulkan-drivers";
        return false;
    }
    // A function pointer through memory: ISO C has no conversion from dlsym's object pointer.
    *(void **)&vk->GetInstanceProcAddr = dlsym(library, "vkGetInstanceProcAddr");
    if (vk->GetInstanceProcAddr == NULL) {
        *why = "libvulkan.so.1 has no vkGetInstanceProcAddr";
        return false;
    }
    vk->CreateInstance = (PFN_vkCreateInstance)vk->GetInstanceProcAddr(NULL, "vkCreateInstance");
    vk->EnumerateInstanceVersion =
        (PFN_vkEnumerateInstanceVersion)vk->GetInstanceProcAddr(NULL, "vkEnumerateInstanceVersion");
    if (vk->CreateInstance == NULL || vk->EnumerateInstanceVersion == NULL) {
        *why = "the Vulkan loader is older than 1.1";
        return false;
    }
    return true;
}

bool rf_vk_load_instance(struct rf_vk *vk, VkInstance instance) {
    bool complete = true;
#define LOAD(name)                                                                                                     \
    vk->name = (PFN_vk##name)vk->GetInstanceProcAddr(instance, "vk" #name);                                            \
    complete = complete && vk->name != NULL;
    RF_VK_INSTANCE(LOAD)
#undef LOAD
    return complete;
}

bool rf_vk_load_device(struct rf_vk *vk, VkDevice device) {
    bool complete = true;
#define LOAD(name)                                                                                                     \
    vk->name = (PFN_vk##name)vk->GetDeviceProcAddr(device, "vk" #name);                                                \
    complete = complete && vk->name != NULL;
    RF_VK_DEVICE(LOAD)
#undef LOAD
    vk->WaitSemaphores = (PFN_vkWaitSemaphores)vk->GetDeviceProcAddr(device, "vkWaitSemaphoresKHR");
    if (vk->WaitSemaphores == NULL)
        vk->WaitSemaphores = (PFN_vkWaitSemaphores)vk->GetDeviceProcAddr(device, "vkWaitSemaphores");
    vk->GetMemoryHostPointerPropertiesEXT =
        (PFN_vkGetMemoryHostPointerPropertiesEXT)vk->GetDeviceProcAddr(device, "vkGetMemoryHostPointerPropertiesEXT");
    return complete && vk->WaitSemaphores != NULL;
}

const char *rf_vk_result_name(VkResult result) {
    switch (result) {
#define NAME(value)                                                                                                    \
    case value:                                                                                                        \
        return #value;
        NAME(VK_SUCCESS)
        NAME(VK_NOT_READY)
        NAME(VK_TIMEOUT)
        NAME(VK_INCOMPLETE)
        NAME(VK_ERROR_OUT_OF_HOST_MEMORY)
        NAME(VK_ERROR_OUT_OF_DEVICE_MEMORY)
        NAME(VK_ERROR_INITIALIZATION_FAILED)
        NAME(VK_ERROR_DEVICE_LOST)
        NAME(VK_ERROR_MEMORY_MAP_FAILED)
        NAME(VK_ERROR_LAYER_NOT_PRESENT)
        NAME(VK_ERROR_EXTENSION_NOT_PRESENT)
        NAME(VK_ERROR_FEATURE_NOT_PRESENT)
        NAME(VK_ERROR_INCOMPATIBLE_DRIVER)
        NAME(VK_ERROR_TOO_MANY_OBJECTS)
        NAME(VK_ERROR_FRAGMENTED_POOL)
        NAME(VK_ERROR_OUT_OF_POOL_MEMORY)
        NAME(VK_ERROR_INVALID_EXTERNAL_HANDLE)
        NAME(VK_ERROR_UNKNOWN)
#undef NAME
    default:
        return "unknown VkResult";
    }
}
