// SPDX-License-Identifier: MIT
// A Vulkan device with every feature that it has, and buffers with guarded ends. Nothing here ends the program: what
// fails returns its VkResult.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

struct gpu {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device; // VK_NULL_HANDLE: not open
    VkQueue queue;
    VkCommandPool pool;
    uint32_t memory_type; // host-visible and coherent
    bool robust;
    bool null_descriptors; // bindings may have nothing bound
};

// The first device there is. What was made until a failure is closed by gpu_close.
VkResult gpu_open(struct gpu *gpu, bool robust);
void gpu_close(struct gpu *gpu); // also of a zeroed struct, or a lost device

#define GPU_GUARD_BYTES 256 // on either side

struct gpu_buffer {
    VkBuffer handle;
    VkDeviceMemory memory;
    uint8_t *bytes; // the content, mapped; guards before and behind it
    uint32_t size_bytes;
    uint64_t address; // of the content, for the GPU
};

// Zeroed.
VkResult gpu_buffer_new(const struct gpu *gpu, uint32_t size_bytes, struct gpu_buffer *buffer);
void gpu_buffer_free(const struct gpu *gpu, struct gpu_buffer *buffer);

// Whether a guard was written: *offset is the first such byte, counted from the content's begin.
bool gpu_buffer_overrun(const struct gpu_buffer *buffer, int64_t *offset);
