/* SPDX-License-Identifier: MIT
 *
 * The extensions and features that the device reports, and refusing a device that asks for hidden ones.
 */
#include "trial.h"

#include <stdlib.h>
#include <string.h>

/* What Debian 13's own Mesa lacks on the Mali-G610 (Vulkan 1.1). */
static const char *const old_lacks[] = {
    VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME,
    VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME,
    VK_KHR_SHADER_FLOAT16_INT8_EXTENSION_NAME,
};

/* Structures that come with an extension, or (extension NULL) with Vulkan 1.2 and later. bytes is 0 for properties. */
static const struct hidden {
    const char *extension;
    VkStructureType type;
    size_t bytes;
} hidden_structures[] = {
    {NULL, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES, sizeof(VkPhysicalDeviceVulkan11Features)},
    {NULL, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES, 0},
    {NULL, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, sizeof(VkPhysicalDeviceVulkan12Features)},
    {NULL, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES, 0},
    {NULL, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES, sizeof(VkPhysicalDeviceVulkan13Features)},
    {NULL, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_PROPERTIES, 0},
    {VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT,
     0},
    {VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME,
     VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES,
     sizeof(VkPhysicalDeviceShaderIntegerDotProductFeatures)},
    {VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME,
     VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_PROPERTIES, 0},
    {VK_KHR_SHADER_FLOAT16_INT8_EXTENSION_NAME, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES,
     sizeof(VkPhysicalDeviceShaderFloat16Int8Features)},
    {VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES,
     sizeof(VkPhysicalDeviceTimelineSemaphoreFeatures)},
    {VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_PROPERTIES, 0},
    {VK_KHR_8BIT_STORAGE_EXTENSION_NAME, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES,
     sizeof(VkPhysicalDevice8BitStorageFeatures)},
    {VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PUSH_DESCRIPTOR_PROPERTIES_KHR, 0},
    {VK_EXT_MEMORY_BUDGET_EXTENSION_NAME, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT, 0},
    {VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES,
     sizeof(VkPhysicalDeviceSubgroupSizeControlFeatures)},
    {VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES,
     0},
};

static const char *const calls_since_12[] = {
    "vkWaitSemaphores",
    "vkGetSemaphoreCounterValue",
    "vkSignalSemaphore",
    "vkResetQueryPool",
    "vkGetBufferDeviceAddress",
    "vkGetBufferOpaqueCaptureAddress",
    "vkGetDeviceMemoryOpaqueCaptureAddress",
    "vkQueueSubmit2",
    "vkCmdPipelineBarrier2",
    "vkCmdWriteTimestamp2",
    "vkCmdCopyBuffer2",
    "vkGetDeviceBufferMemoryRequirements",
    "vkCreatePrivateDataSlot",
};

static bool in_list(const char *const *list, size_t count, const char *name) {
    size_t i = 0;
    while (i < count && strcmp(list[i], name) != 0) {
        i++;
    }
    return i < count;
}

bool trial_features_hides(const char *extension) {
    bool import = strcmp(extension, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME) == 0;
    /* Imported host memory cannot be given a shadow, and the device with that memory (Mali) does not import. */
    return trial_config_lists(trial_config.hide, extension) ||
           (import && trial_config.memory == TRIAL_MEMORY_NONCOHERENT) ||
           (trial_config.features_old && in_list(old_lacks, sizeof old_lacks / sizeof *old_lacks, extension));
}

bool trial_features_hides_call(const char *name) {
    return trial_config.features_old && in_list(calls_since_12, sizeof calls_since_12 / sizeof *calls_since_12, name);
}

/* The entry for a structure that the pretended device does not know, or NULL. */
static const struct hidden *find_hidden(VkStructureType type) {
    for (size_t i = 0; i < sizeof hidden_structures / sizeof *hidden_structures; i++) {
        const struct hidden *entry = &hidden_structures[i];
        if (entry->type == type &&
            (entry->extension == NULL ? trial_config.features_old : trial_features_hides(entry->extension))) {
            return entry;
        }
    }
    return NULL;
}

void trial_features_unlink(void *head, struct trial_unlinked *unlinked) {
    unlinked->count = 0;
    VkBaseOutStructure *before = head;
    while (before->pNext != NULL) {
        VkBaseOutStructure *node = before->pNext;
        if (unlinked->count < TRIAL_MAX_UNLINKED && find_hidden(node->sType) != NULL) {
            unlinked->before[unlinked->count] = before;
            unlinked->node[unlinked->count++] = node;
            before->pNext = node->pNext;
        } else {
            before = node;
        }
    }
}

void trial_features_restore(struct trial_unlinked *unlinked) {
    while (unlinked->count > 0) {
        unlinked->count--;
        unlinked->before[unlinked->count]->pNext = unlinked->node[unlinked->count];
    }
}

/* ---- single features inside structures that stay visible ---- */

#define MAX_BOOLS 8
struct bools {
    VkBool32 *at[MAX_BOOLS];
    uint32_t count;
};

static void collect(struct bools *bools, const char *extension, VkBool32 *first, uint32_t count) {
    for (uint32_t i = 0; trial_features_hides(extension) && i < count && bools->count < MAX_BOOLS; i++) {
        bools->at[bools->count++] = first + i;
    }
}

/* The features in this structure that the pretended device lacks. Runs of adjacent members are given by the first. */
static struct bools hidden_bools(VkBaseOutStructure *node) {
    struct bools bools = {.count = 0};
    VkPhysicalDeviceVulkan12Features *v12 = (VkPhysicalDeviceVulkan12Features *)node;
    VkPhysicalDeviceVulkan13Features *v13 = (VkPhysicalDeviceVulkan13Features *)node;
    switch (node->sType) {
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES:
        collect(&bools, VK_KHR_16BIT_STORAGE_EXTENSION_NAME,
                &((VkPhysicalDevice16BitStorageFeatures *)node)->storageBuffer16BitAccess, 4);
        break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES:
        collect(&bools, VK_KHR_16BIT_STORAGE_EXTENSION_NAME,
                &((VkPhysicalDeviceVulkan11Features *)node)->storageBuffer16BitAccess, 4);
        break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES:
        collect(&bools, VK_KHR_8BIT_STORAGE_EXTENSION_NAME, &v12->storageBuffer8BitAccess, 3);
        collect(&bools, VK_KHR_SHADER_FLOAT16_INT8_EXTENSION_NAME, &v12->shaderFloat16, 2);
        collect(&bools, VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME, &v12->timelineSemaphore, 1);
        break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES:
        collect(&bools, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME, &v13->subgroupSizeControl, 2);
        collect(&bools, VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME, &v13->shaderIntegerDotProduct, 1);
        break;
    default:
        break;
    }
    return bools;
}

static void mask_core(VkPhysicalDeviceFeatures *features) {
    if (trial_config.features_old) {
        features->shaderFloat64 = VK_FALSE;
    }
}

VKAPI_ATTR void VKAPI_CALL trial_vkGetPhysicalDeviceFeatures(VkPhysicalDevice physical,
                                                             VkPhysicalDeviceFeatures *features) {
    trial_table_instance(physical)->next.vkGetPhysicalDeviceFeatures(physical, features);
    mask_core(features);
}

VKAPI_ATTR void VKAPI_CALL trial_vkGetPhysicalDeviceFeatures2(VkPhysicalDevice physical,
                                                              VkPhysicalDeviceFeatures2 *features) {
    struct trial_unlinked unlinked;
    trial_features_unlink(features, &unlinked);
    trial_table_instance(physical)->next.vkGetPhysicalDeviceFeatures2(physical, features);
    mask_core(&features->features);
    for (VkBaseOutStructure *node = features->pNext; node != NULL; node = node->pNext) {
        struct bools bools = hidden_bools(node);
        for (uint32_t i = 0; i < bools.count; i++) {
            *bools.at[i] = VK_FALSE;
        }
    }
    trial_features_restore(&unlinked);
}

/* ---- extensions ---- */

/* All extensions of the driver, to be freed; NULL with *result set on failure. One slot more than *count is there. */
static VkExtensionProperties *driver_extensions(VkPhysicalDevice physical, uint32_t *count, VkResult *result) {
    PFN_vkEnumerateDeviceExtensionProperties next =
        trial_table_instance(physical)->next.vkEnumerateDeviceExtensionProperties;
    *result = next(physical, NULL, count, NULL);
    VkExtensionProperties *all = *result == VK_SUCCESS ? calloc(*count + 1, sizeof *all) : NULL;
    if (all == NULL) {
        *result = *result != VK_SUCCESS ? *result : VK_ERROR_OUT_OF_HOST_MEMORY;
        return NULL;
    }
    *result = next(physical, NULL, count, all);
    if (*result != VK_SUCCESS) {
        free(all);
        return NULL;
    }
    return all;
}

/* Filters in place and adds the layer's own; returns the new count. */
static uint32_t mask_extensions(VkExtensionProperties *all, uint32_t count) {
    uint32_t kept = 0;
    bool budget = false;
    for (uint32_t i = 0; i < count; i++) {
        if (!trial_features_hides(all[i].extensionName)) {
            budget |= strcmp(all[i].extensionName, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME) == 0;
            all[kept++] = all[i];
        }
    }
    if (trial_config.heap_mib != 0 && !budget && !trial_features_hides(VK_EXT_MEMORY_BUDGET_EXTENSION_NAME)) {
        all[kept++] = (VkExtensionProperties){.extensionName = VK_EXT_MEMORY_BUDGET_EXTENSION_NAME,
                                              .specVersion = VK_EXT_MEMORY_BUDGET_SPEC_VERSION};
    }
    return kept;
}

VKAPI_ATTR VkResult VKAPI_CALL trial_vkEnumerateDeviceExtensionProperties(VkPhysicalDevice physical, const char *layer,
                                                                          uint32_t *count,
                                                                          VkExtensionProperties *properties) {
    if (layer != NULL && strcmp(layer, TRIAL_LAYER_NAME) == 0) {
        *count = 0;
        return VK_SUCCESS;
    }
    if (layer != NULL) {
        return trial_table_instance(physical)->next.vkEnumerateDeviceExtensionProperties(physical, layer, count,
                                                                                         properties);
    }
    VkResult result = trial_fault_check(TRIAL_CALL_vkEnumerateDeviceExtensionProperties, NULL, NULL);
    if (result != VK_SUCCESS) {
        return result;
    }
    uint32_t available;
    VkExtensionProperties *all = driver_extensions(physical, &available, &result);
    if (all == NULL) {
        return result;
    }
    available = mask_extensions(all, available);
    if (properties == NULL) {
        *count = available;
    } else {
        result = *count < available ? VK_INCOMPLETE : VK_SUCCESS;
        *count = *count < available ? *count : available;
        memcpy(properties, all, *count * sizeof *all);
    }
    free(all);
    return result;
}

/* ---- creating a device ---- */

static bool any_true(const VkBool32 *bools, size_t count) {
    size_t i = 0;
    while (i < count && bools[i] == VK_FALSE) {
        i++;
    }
    return i < count;
}

/* Whether the structure asks for a feature that the pretended device lacks. */
static bool asks_hidden(const VkBaseOutStructure *node) {
    const struct hidden *entry = find_hidden(node->sType);
    if (entry != NULL && entry->bytes > sizeof *node) {
        return any_true((const VkBool32 *)(node + 1), (entry->bytes - sizeof *node) / sizeof(VkBool32));
    }
    struct bools bools = hidden_bools((VkBaseOutStructure *)node);
    bool asks = false;
    for (uint32_t i = 0; i < bools.count; i++) {
        asks |= *bools.at[i] != VK_FALSE;
    }
    const VkPhysicalDeviceFeatures2 *core = (const VkPhysicalDeviceFeatures2 *)node;
    return asks || (node->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2 && trial_config.features_old &&
                    core->features.shaderFloat64);
}

VkResult trial_features_check_device(const VkDeviceCreateInfo *info) {
    for (uint32_t i = 0; i < info->enabledExtensionCount; i++) {
        if (trial_features_hides(info->ppEnabledExtensionNames[i])) {
            trial_log_fault("vkCreateDevice: extension %s is enabled and not offered",
                            info->ppEnabledExtensionNames[i]);
            return VK_ERROR_EXTENSION_NOT_PRESENT;
        }
    }
    bool asks = info->pEnabledFeatures != NULL && trial_config.features_old && info->pEnabledFeatures->shaderFloat64;
    for (const VkBaseOutStructure *node = info->pNext; node != NULL; node = node->pNext) {
        if (asks || asks_hidden(node)) {
            trial_log_fault("vkCreateDevice: structure %d enables a feature that is not offered", (int)node->sType);
            return VK_ERROR_FEATURE_NOT_PRESENT;
        }
    }
    return VK_SUCCESS;
}
