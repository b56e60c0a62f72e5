/* SPDX-License-Identifier: MIT
 *
 * How the loader gets into the layer: negotiation, looking up functions, and the making and ending of instances and
 * devices.
 */
#include "trial.h"

#include <stdlib.h>
#include <string.h>

static PFN_vkVoidFunction VKAPI_CALL instance_proc(VkInstance instance, const char *name);
static PFN_vkVoidFunction VKAPI_CALL device_proc(VkDevice device, const char *name);

struct entry {
    const char *name;
    PFN_vkVoidFunction function;
};

#define X(call) {#call, (PFN_vkVoidFunction)trial_##call},
#define TWIN(twin, call) {#twin, (PFN_vkVoidFunction)trial_##call},
static const struct entry instance_entries[] = {TRIAL_INSTANCE_CALLS(X) TRIAL_INSTANCE_TWINS(TWIN){NULL, NULL}};
static const struct entry device_entries[] = {
    TRIAL_DEVICE_CALLS(X) TRIAL_DEVICE_TWINS(TWIN){"vkGetDeviceProcAddr", (PFN_vkVoidFunction)device_proc},
    {NULL, NULL}};
#undef TWIN
#undef X

static PFN_vkVoidFunction find(const struct entry *entries, const char *name) {
    for (; entries->name != NULL; entries++) {
        if (strcmp(entries->name, name) == 0) {
            return entries->function;
        }
    }
    return NULL;
}

/* ---- instances ---- */

static VkLayerInstanceCreateInfo *instance_link(const VkInstanceCreateInfo *info) {
    VkLayerInstanceCreateInfo *link = (VkLayerInstanceCreateInfo *)info->pNext;
    while (link != NULL &&
           !(link->sType == VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO && link->function == VK_LAYER_LINK_INFO)) {
        link = (VkLayerInstanceCreateInfo *)link->pNext;
    }
    return link;
}

static void load_instance(struct trial_instance *instance) {
#define X(call) instance->next.call = (PFN_##call)instance->next_gipa(instance->handle, #call);
    TRIAL_INSTANCE_CALLS(X)
#undef X
#define X(twin, call)                                                                                                  \
    if (instance->next.call == NULL) {                                                                                 \
        instance->next.call = (PFN_##call)instance->next_gipa(instance->handle, #twin);                                \
    }
    TRIAL_INSTANCE_TWINS(X)
#undef X
}

static VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo *info,
                                                      const VkAllocationCallbacks *allocator, VkInstance *out) {
    VkLayerInstanceCreateInfo *link = instance_link(info);
    if (link == NULL || !trial_config_load()) {
        return VK_ERROR_INITIALIZATION_FAILED;
    }
    trial_log_start();
    struct trial_instance *instance = calloc(1, sizeof *instance);
    if (instance == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    instance->next_gipa = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    instance->next_gpdpa = link->u.pLayerInfo->pfnNextGetPhysicalDeviceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    PFN_vkCreateInstance next = (PFN_vkCreateInstance)instance->next_gipa(NULL, "vkCreateInstance");
    VkResult result = next != NULL ? next(info, allocator, out) : VK_ERROR_INITIALIZATION_FAILED;
    if (result != VK_SUCCESS) {
        free(instance);
        return result;
    }
    instance->handle = *out;
    load_instance(instance);
    trial_table_add_instance(instance);
    trial_log_count(TRIAL_KIND_INSTANCE, 1);
    return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL trial_vkDestroyInstance(VkInstance handle, const VkAllocationCallbacks *allocator) {
    struct trial_instance *instance = handle != VK_NULL_HANDLE ? trial_table_take_instance(handle) : NULL;
    if (instance == NULL) {
        return;
    }
    instance->next.vkDestroyInstance(handle, allocator);
    free(instance);
    trial_log_count(TRIAL_KIND_INSTANCE, -1);
    trial_log_write();
}

VKAPI_ATTR VkResult VKAPI_CALL trial_vkEnumeratePhysicalDevices(VkInstance handle, uint32_t *count,
                                                                VkPhysicalDevice *devices) {
    VkResult result = trial_fault_check(TRIAL_CALL_vkEnumeratePhysicalDevices, NULL, NULL);
    return result != VK_SUCCESS ? result
                                : trial_table_instance(handle)->next.vkEnumeratePhysicalDevices(handle, count, devices);
}

VKAPI_ATTR VkResult VKAPI_CALL trial_vkEnumeratePhysicalDeviceGroups(VkInstance handle, uint32_t *count,
                                                                     VkPhysicalDeviceGroupProperties *groups) {
    VkResult result = trial_fault_check(TRIAL_CALL_vkEnumeratePhysicalDeviceGroups, NULL, NULL);
    return result != VK_SUCCESS
               ? result
               : trial_table_instance(handle)->next.vkEnumeratePhysicalDeviceGroups(handle, count, groups);
}

/* ---- devices ---- */

static VkLayerDeviceCreateInfo *device_link(const VkDeviceCreateInfo *info) {
    VkLayerDeviceCreateInfo *link = (VkLayerDeviceCreateInfo *)info->pNext;
    while (link != NULL &&
           !(link->sType == VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO && link->function == VK_LAYER_LINK_INFO)) {
        link = (VkLayerDeviceCreateInfo *)link->pNext;
    }
    return link;
}

static void load_device(struct trial_device *device) {
#define X(call) device->next.call = (PFN_##call)device->next_gdpa(device->handle, #call);
    TRIAL_DEVICE_CALLS(X)
#undef X
#define X(twin, call)                                                                                                  \
    if (device->next.call == NULL) {                                                                                   \
        device->next.call = (PFN_##call)device->next_gdpa(device->handle, #twin);                                      \
    }
    TRIAL_DEVICE_TWINS(X)
#undef X
}

/* The memory budget is the layer's own extension (features.c), which the driver must not see. Returns the names to
 * pass on, to be freed, or NULL when out of memory. */
static const char **names_below(const VkDeviceCreateInfo *info, uint32_t *count) {
    const char **names = calloc(info->enabledExtensionCount + 1, sizeof *names);
    *count = 0;
    for (uint32_t i = 0; names != NULL && i < info->enabledExtensionCount; i++) {
        if (strcmp(info->ppEnabledExtensionNames[i], VK_EXT_MEMORY_BUDGET_EXTENSION_NAME) != 0) {
            names[(*count)++] = info->ppEnabledExtensionNames[i];
        }
    }
    return names;
}

static VkResult create_below(struct trial_device *device, const VkDeviceCreateInfo *info,
                             const VkAllocationCallbacks *allocator, VkDevice *out) {
    VkLayerDeviceCreateInfo *link = device_link(info);
    if (link == NULL) {
        return VK_ERROR_INITIALIZATION_FAILED;
    }
    PFN_vkGetInstanceProcAddr next_gipa = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    device->next_gdpa = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    PFN_vkCreateDevice next = (PFN_vkCreateDevice)next_gipa(device->instance->handle, "vkCreateDevice");
    VkDeviceCreateInfo below = *info;
    const char **names = names_below(info, &below.enabledExtensionCount);
    if (next == NULL || names == NULL) {
        free(names);
        return VK_ERROR_INITIALIZATION_FAILED;
    }
    if (trial_config.heap_mib != 0) {
        below.ppEnabledExtensionNames = names;
    } else {
        below.enabledExtensionCount = info->enabledExtensionCount;
    }
    VkResult result = next(device->physical, &below, allocator, out);
    free(names);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL trial_vkCreateDevice(VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
                                                    const VkAllocationCallbacks *allocator, VkDevice *out) {
    VkResult result = trial_fault_check(TRIAL_CALL_vkCreateDevice, NULL, NULL);
    result = result != VK_SUCCESS ? result : trial_features_check_device(info);
    if (result != VK_SUCCESS) {
        return result;
    }
    struct trial_device *device = calloc(1, sizeof *device);
    if (device == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    device->instance = trial_table_instance(physical);
    device->physical = physical;
    result = create_below(device, info, allocator, out);
    if (result != VK_SUCCESS) {
        free(device);
        return result;
    }
    device->handle = *out;
    load_device(device);
    trial_table_add_device(device);
    trial_log_count(TRIAL_KIND_DEVICE, 1);
    return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL trial_vkDestroyDevice(VkDevice handle, const VkAllocationCallbacks *allocator) {
    struct trial_device *device = handle != VK_NULL_HANDLE ? trial_table_take_device(handle) : NULL;
    if (device == NULL) {
        return;
    }
    trial_memory_forget(device);
    device->next.vkDestroyDevice(handle, allocator);
    free(device);
    trial_log_count(TRIAL_KIND_DEVICE, -1);
    trial_log_write();
}

/* ---- looking up functions ---- */

static PFN_vkVoidFunction VKAPI_CALL instance_proc(VkInstance handle, const char *name) {
    if (strcmp(name, "vkCreateInstance") == 0) {
        return (PFN_vkVoidFunction)create_instance;
    }
    if (strcmp(name, "vkGetInstanceProcAddr") == 0) {
        return (PFN_vkVoidFunction)instance_proc;
    }
    if (handle == VK_NULL_HANDLE) {
        return NULL;
    }
    PFN_vkVoidFunction next = trial_table_instance(handle)->next_gipa(handle, name);
    if (next == NULL) {
        return NULL;
    }
    PFN_vkVoidFunction own = find(instance_entries, name);
    own = own != NULL ? own : find(device_entries, name);
    return own != NULL ? own : next;
}

static PFN_vkVoidFunction VKAPI_CALL device_proc(VkDevice handle, const char *name) {
    PFN_vkVoidFunction next = trial_table_device(handle)->next_gdpa(handle, name);
    if (next == NULL || trial_features_hides_call(name)) {
        return NULL;
    }
    PFN_vkVoidFunction own = find(device_entries, name);
    return own != NULL ? own : next;
}

static PFN_vkVoidFunction VKAPI_CALL physical_device_proc(VkInstance handle, const char *name) {
    struct trial_instance *instance = trial_table_instance(handle);
    PFN_vkVoidFunction next = instance->next_gpdpa != NULL ? instance->next_gpdpa(handle, name) : NULL;
    if (next == NULL) {
        return NULL;
    }
    PFN_vkVoidFunction own = find(instance_entries, name);
    return own != NULL ? own : next;
}

VK_LAYER_EXPORT VKAPI_ATTR VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *negotiation) {
    if (negotiation == NULL || negotiation->sType != LAYER_NEGOTIATE_INTERFACE_STRUCT ||
        negotiation->loaderLayerInterfaceVersion < 2) {
        return VK_ERROR_INITIALIZATION_FAILED;
    }
    negotiation->loaderLayerInterfaceVersion = 2;
    negotiation->pfnGetInstanceProcAddr = instance_proc;
    negotiation->pfnGetDeviceProcAddr = device_proc;
    negotiation->pfnGetPhysicalDeviceProcAddr = physical_device_proc;
    return VK_SUCCESS;
}
