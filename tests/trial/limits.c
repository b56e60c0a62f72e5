/* SPDX-License-Identifier: MIT
 *
 * The limits and the identity that the device reports. They are only reported; with the validation layer above this
 * one (named before it in VK_INSTANCE_LAYERS) they are also enforced.
 */
#include "trial.h"

#include <stdio.h>
#include <string.h>

#define ARM_VENDOR_ID 0x13B5u
#define SMALL_RANGE_MIB 128u

static uint32_t least(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

static void mask_small(VkPhysicalDeviceLimits *limits) {
    limits->maxComputeSharedMemorySize = least(limits->maxComputeSharedMemorySize, 16384);
    limits->maxComputeWorkGroupInvocations = least(limits->maxComputeWorkGroupInvocations, 256);
    limits->maxComputeWorkGroupSize[0] = least(limits->maxComputeWorkGroupSize[0], 256);
    limits->maxComputeWorkGroupSize[1] = least(limits->maxComputeWorkGroupSize[1], 256);
    limits->maxComputeWorkGroupSize[2] = least(limits->maxComputeWorkGroupSize[2], 64);
    limits->maxStorageBufferRange = least(limits->maxStorageBufferRange, (uint32_t)(SMALL_RANGE_MIB * TRIAL_MIB));
    limits->maxPushConstantsSize = least(limits->maxPushConstantsSize, 128);
    limits->minStorageBufferOffsetAlignment = 256;
}

static void mask_identity(VkPhysicalDeviceProperties *properties) {
    if (trial_config.type_set) {
        properties->deviceType = trial_config.type;
    }
    if (trial_config.type_set && trial_config.type != VK_PHYSICAL_DEVICE_TYPE_CPU) {
        properties->vendorID = ARM_VENDOR_ID;
    }
    if (trial_config.name != NULL) {
        snprintf(properties->deviceName, sizeof properties->deviceName, "%s", trial_config.name);
    }
    if (trial_config.features_old) {
        properties->apiVersion = VK_MAKE_API_VERSION(0, 1, 1, VK_API_VERSION_PATCH(properties->apiVersion));
    }
}

void trial_limits_mask(VkPhysicalDeviceProperties *properties) {
    mask_identity(properties);
    if (trial_config.limits_small) {
        mask_small(&properties->limits);
    }
    if (trial_config.range_mib != 0) {
        uint64_t bytes = trial_config.range_mib * TRIAL_MIB;
        properties->limits.maxStorageBufferRange = bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes;
    }
    if (trial_config.memory == TRIAL_MEMORY_NONCOHERENT) {
        properties->limits.nonCoherentAtomSize = TRIAL_ATOM_BYTES;
    }
}

/* The driver must not give away what a pretended GPU is. */
static void mask_driver(VkDriverId *id, char *name, char *info) {
    if (trial_config.type_set && trial_config.type != VK_PHYSICAL_DEVICE_TYPE_CPU) {
        *id = VK_DRIVER_ID_MESA_PANVK;
        snprintf(name, VK_MAX_DRIVER_NAME_SIZE, "panvk");
        snprintf(info, VK_MAX_DRIVER_INFO_SIZE, "trial layer");
    }
}

/* The packed products, which is what the accelerated properties are read for. */
#define DOT_LIE(p)                                                                                                     \
    do {                                                                                                               \
        (p)->integerDotProduct4x8BitPackedUnsignedAccelerated = VK_TRUE;                                               \
        (p)->integerDotProduct4x8BitPackedSignedAccelerated = VK_TRUE;                                                 \
        (p)->integerDotProductAccumulatingSaturating4x8BitPackedUnsignedAccelerated = VK_TRUE;                         \
        (p)->integerDotProductAccumulatingSaturating4x8BitPackedSignedAccelerated = VK_TRUE;                           \
    } while (0)

static void mask_13(VkPhysicalDeviceVulkan13Properties *properties) {
    if (trial_config.dot != TRIAL_DOT_AS_IS) {
        DOT_LIE(properties);
    }
    if (trial_config.subgroup != 0) {
        properties->minSubgroupSize = properties->maxSubgroupSize = (uint32_t)trial_config.subgroup;
    }
}

static void mask_dot(VkPhysicalDeviceShaderIntegerDotProductProperties *properties) {
    if (trial_config.dot != TRIAL_DOT_AS_IS) {
        DOT_LIE(properties);
    }
}

static void mask_subgroup_range(VkPhysicalDeviceSubgroupSizeControlProperties *properties) {
    if (trial_config.subgroup != 0) {
        properties->minSubgroupSize = properties->maxSubgroupSize = (uint32_t)trial_config.subgroup;
    }
}

static void mask_subgroup(uint32_t *size) {
    if (trial_config.subgroup != 0) {
        *size = (uint32_t)trial_config.subgroup;
    }
}

static void mask_node(VkBaseOutStructure *node) {
    VkPhysicalDeviceDriverProperties *driver = (VkPhysicalDeviceDriverProperties *)node;
    VkPhysicalDeviceVulkan12Properties *v12 = (VkPhysicalDeviceVulkan12Properties *)node;
    switch (node->sType) {
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES:
        mask_subgroup(&((VkPhysicalDeviceSubgroupProperties *)node)->subgroupSize);
        break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES:
        mask_subgroup(&((VkPhysicalDeviceVulkan11Properties *)node)->subgroupSize);
        break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES:
        mask_subgroup_range((VkPhysicalDeviceSubgroupSizeControlProperties *)node);
        break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_PROPERTIES:
        mask_dot((VkPhysicalDeviceShaderIntegerDotProductProperties *)node);
        break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_PROPERTIES:
        mask_13((VkPhysicalDeviceVulkan13Properties *)node);
        break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES:
        mask_driver(&driver->driverID, driver->driverName, driver->driverInfo);
        break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES:
        mask_driver(&v12->driverID, v12->driverName, v12->driverInfo);
        break;
    default:
        break;
    }
}

void trial_limits_mask_chain(void *chain) {
    for (VkBaseOutStructure *node = chain; node != NULL; node = node->pNext) {
        mask_node(node);
    }
}

VKAPI_ATTR void VKAPI_CALL trial_vkGetPhysicalDeviceProperties(VkPhysicalDevice physical,
                                                               VkPhysicalDeviceProperties *properties) {
    trial_table_instance(physical)->next.vkGetPhysicalDeviceProperties(physical, properties);
    trial_limits_mask(properties);
}

VKAPI_ATTR void VKAPI_CALL trial_vkGetPhysicalDeviceProperties2(VkPhysicalDevice physical,
                                                                VkPhysicalDeviceProperties2 *properties) {
    struct trial_unlinked unlinked;
    trial_features_unlink(properties, &unlinked);
    trial_table_instance(physical)->next.vkGetPhysicalDeviceProperties2(physical, properties);
    trial_limits_mask(&properties->properties);
    trial_limits_mask_chain(properties->pNext);
    trial_features_restore(&unlinked);
}
