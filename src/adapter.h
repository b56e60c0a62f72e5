// SPDX-License-Identifier: MIT
// The Vulkan instance and the physical devices that rockfill can use: what each offers, as plain numbers.
#pragma once

#include <stddef.h>

#include "vk.h"

// Everything later decisions read; tests fill it by hand.
struct rf_caps {
    char name[VK_MAX_PHYSICAL_DEVICE_NAME_SIZE];
    bool software;         // VK_PHYSICAL_DEVICE_TYPE_CPU
    bool discrete;         // own memory, behind a bus
    bool fp16;             // fp16 arithmetic
    bool dot4;             // signed 4x8-bit dot product with saturating accumulation
    bool dot4_accelerated; // ... in one instruction
    bool host_import;      // VK_EXT_external_memory_host
    uint32_t vendor_id, device_id, driver_version;
    uint8_t cache_uuid[VK_UUID_SIZE];
    uint32_t subgroup_size;
    uint32_t queue_family;    // one with compute
    uint64_t max_range_bytes; // of one storage buffer binding
    uint64_t max_allocation_bytes;
    uint64_t heap_bytes;       // of the largest heap
    uint64_t offset_alignment; // of a storage buffer binding, bytes
    uint64_t atom_bytes;       // granularity of flushes
    uint64_t import_alignment; // of imported host memory; 0 without host_import
    uint32_t max_groups[3];    // workgroups a dispatch
    uint32_t max_invocations;  // of a workgroup
    VkPhysicalDeviceMemoryProperties memory;
    const char *extensions[6]; // to enable: those of the features above that are not core in its version
    uint32_t extension_count;
};

struct rf_adapter {
    VkPhysicalDevice handle;
    struct rf_caps caps;
};

struct rf_instance {
    struct rf_vk vk;
    VkInstance handle;
    struct rf_adapter *adapters; // owned
    size_t count;
};

// Opens Vulkan and lists the usable devices. `filter` is NULL (all hardware devices) or a comma list of indices (in
// Vulkan's own order) and parts of names, any case; software rasterisers are listed only when the filter names them.
// Always leaves a valid, perhaps empty, instance; what is missing is said in one warning. Not thread-safe.
void rf_instance_open(struct rf_instance *instance, const char *filter);
void rf_instance_close(struct rf_instance *instance);

// Whether the filter (not NULL) selects the device with this index and name.
bool rf_adapter_selected(const char *filter, size_t index, const char *name);
