// SPDX-License-Identifier: MIT
#include "buffer.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "log.h"

#define HUGE_PAGE ((size_t)2 << 20)

static size_t round_to_pages(size_t bytes) {
    return bytes == 0 ? RF_BUFFER_ALIGNMENT
                      : (bytes + RF_BUFFER_ALIGNMENT - 1) / RF_BUFFER_ALIGNMENT * RF_BUFFER_ALIGNMENT;
}

// Host memory in whole pages, for large buffers in whole huge pages.
static void *host_alloc(size_t bytes) {
    size_t alignment = bytes >= HUGE_PAGE ? HUGE_PAGE : RF_BUFFER_ALIGNMENT;
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

// The device's own memory, or host memory that it imports. Leaves the buffer without memory when that fails.
static void create_memory(struct rf_buffer *buffer) {
    struct rf_device *device = buffer->device;
    size_t bytes = round_to_pages(buffer->bytes);
    VkResult result = VK_SUCCESS;
    if (device->mode == RF_MEMORY_SHARED) {
        result = rf_memory_create(device, RF_MEMORY_HOST, bytes, NULL, &buffer->memory);
        buffer->host = buffer->memory.host;
    } else if (device->mode == RF_MEMORY_IMPORTED) {
        buffer->host = host_alloc(bytes);
        if (buffer->host != NULL)
            result = rf_memory_create(device, RF_MEMORY_FOREIGN, bytes, buffer->host, &buffer->memory);
    }
    if (result != VK_SUCCESS)
        rf_log(RF_LOG_WARN, "%s has no %zu MiB for a buffer (%s); it stays in host memory and is copied when needed",
               device->caps.name, bytes >> 20, rf_vk_result_name(result));
}

struct rf_buffer *rf_buffer_create(struct rf_device *device, size_t bytes) {
    struct rf_buffer *buffer = calloc(1, sizeof *buffer);
    if (buffer == NULL)
        return NULL;
    buffer->device = device;
    buffer->bytes = bytes;
    if (device != NULL && !atomic_load(&device->failed))
        create_memory(buffer);
    if (buffer->host == NULL)
        buffer->host = host_alloc(round_to_pages(bytes));
    if (buffer->host == NULL) {
        free(buffer);
        return NULL;
    }
    // Decode reads every weight once a token: with 4 KiB pages the walks of the page tables cost a tenth of its speed.
    // A hint; mappings of device files may refuse it.
    madvise(buffer->host, round_to_pages(bytes), MADV_HUGEPAGE);
    return buffer;
}

void rf_buffer_destroy(struct rf_buffer *buffer) {
    if (buffer == NULL)
        return;
    bool mapped =
        buffer->memory.host != NULL && buffer->memory.host == buffer->host && buffer->device->mode == RF_MEMORY_SHARED;
    if (buffer->device != NULL) {
        rf_memory_destroy(buffer->device, &buffer->twin);
        rf_memory_destroy(buffer->device, &buffer->memory);
    }
    if (!mapped)
        free(buffer->host);
    free(buffer);
}

void rf_buffer_touch(struct rf_buffer *buffer) {
    atomic_store(&buffer->current, false);
}

size_t rf_buffer_offset(const struct rf_buffer *buffer, const void *address) {
    return (size_t)((const char *)address - (const char *)buffer->host);
}
