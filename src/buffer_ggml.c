// SPDX-License-Identifier: MIT
#include "border.h"

#include <string.h>

static struct rf_buffer *context_of(ggml_backend_buffer_t buffer) {
    return buffer->context;
}

static void buffer_free(ggml_backend_buffer_t buffer) {
    rf_buffer_destroy(context_of(buffer));
}

static void *buffer_base(ggml_backend_buffer_t buffer) {
    return context_of(buffer)->host;
}

static void buffer_memset(ggml_backend_buffer_t buffer, struct ggml_tensor *tensor, uint8_t value, size_t offset,
                          size_t size) {
    memset((char *)tensor->data + offset, value, size);
    rf_buffer_touch(context_of(buffer));
}

static void buffer_set(ggml_backend_buffer_t buffer, struct ggml_tensor *tensor, const void *data, size_t offset,
                       size_t size) {
    memcpy((char *)tensor->data + offset, data, size);
    rf_buffer_touch(context_of(buffer));
}

static void buffer_get(ggml_backend_buffer_t buffer, const struct ggml_tensor *tensor, void *data, size_t offset,
                       size_t size) {
    (void)buffer;
    memcpy(data, (const char *)tensor->data + offset, size);
}

static bool buffer_copy(ggml_backend_buffer_t buffer, const struct ggml_tensor *from, struct ggml_tensor *to) {
    ggml_backend_buffer_t source = from->view_src != NULL ? from->view_src->buffer : from->buffer;
    if (!ggml_backend_buffer_is_host(source))
        return false;
    memcpy(to->data, from->data, ggml_nbytes(from));
    rf_buffer_touch(context_of(buffer));
    return true;
}

static void buffer_clear(ggml_backend_buffer_t buffer, uint8_t value) {
    memset(context_of(buffer)->host, value, context_of(buffer)->bytes);
    rf_buffer_touch(context_of(buffer));
}

static const struct ggml_backend_buffer_i buffer_interface = {
    .free_buffer = buffer_free,
    .get_base = buffer_base,
    .memset_tensor = buffer_memset,
    .set_tensor = buffer_set,
    .get_tensor = buffer_get,
    .cpy_tensor = buffer_copy,
    .clear = buffer_clear,
};

static struct rf_ggml_device *device_of(ggml_backend_buffer_type_t type) {
    return type->context;
}

static const char *type_name(ggml_backend_buffer_type_t type) {
    return device_of(type)->name;
}

static const char *host_type_name(ggml_backend_buffer_type_t type) {
    (void)type;
    return "ROCKFILL_Host";
}

static ggml_backend_buffer_t type_alloc(ggml_backend_buffer_type_t type, size_t size) {
    rf_ggml_probe_allocated(device_of(type));
    struct rf_buffer *buffer = rf_buffer_create(rf_ggml_device_open(device_of(type)), size);
    if (buffer == NULL)
        return NULL;
    ggml_backend_buffer_t result = ggml_backend_buffer_init(type, buffer_interface, buffer, size);
    if (result == NULL)
        rf_buffer_destroy(buffer);
    return result;
}

// Tensors never share a flush granule, a binding offset or a cache line with their neighbours.
static size_t type_alignment(ggml_backend_buffer_type_t type) {
    const struct rf_caps *caps = &device_of(type)->adapter->caps;
    size_t alignment = 64;
    while (alignment < caps->atom_bytes || alignment < caps->offset_alignment)
        alignment *= 2;
    return alignment;
}

// Larger allocations than the driver allows are split by ggml between tensors.
static size_t type_max_size(ggml_backend_buffer_type_t type) {
    uint64_t bytes = device_of(type)->adapter->caps.max_allocation_bytes / RF_BUFFER_ALIGNMENT * RF_BUFFER_ALIGNMENT;
    return bytes > SIZE_MAX ? SIZE_MAX : (size_t)bytes;
}

static bool type_is_host(ggml_backend_buffer_type_t type) {
    (void)type;
    return true;
}

void rf_ggml_buffer_types_init(struct rf_ggml_device *device) {
    device->buffers = (struct ggml_backend_buffer_type){
        .iface = {.get_name = type_name,
                  .alloc_buffer = type_alloc,
                  .get_alignment = type_alignment,
                  .get_max_size = type_max_size,
                  .is_host = type_is_host},
        .device = &device->ggml,
        .context = device,
    };
    device->host = device->buffers;
    device->host.iface.get_name = host_type_name;
}

bool rf_ggml_buffer_type_is(const struct rf_ggml_device *device, ggml_backend_buffer_type_t type) {
    return type == &device->buffers || type == &device->host;
}

struct rf_buffer *rf_ggml_buffer_of(const struct ggml_tensor *tensor, const void **data) {
    ggml_backend_buffer_t buffer = tensor->view_src != NULL ? tensor->view_src->buffer : tensor->buffer;
    *data = tensor->data;
    struct rf_buffer *plain = buffer != NULL ? rf_ggml_repack_plain(buffer, tensor, data) : NULL;
    if (plain != NULL)
        return plain;
    // The interface's address-free test: its free function is ours alone.
    return buffer != NULL && buffer->iface.free_buffer == buffer_free ? context_of(buffer) : NULL;
}

bool rf_ggml_tensor_constant(const struct ggml_tensor *tensor) {
    ggml_backend_buffer_t buffer = tensor->view_src != NULL ? tensor->view_src->buffer : tensor->buffer;
    return buffer != NULL && ggml_backend_buffer_get_usage(buffer) == GGML_BACKEND_BUFFER_USAGE_WEIGHTS;
}
