// SPDX-License-Identifier: MIT
// Weights kept twice: as they are in the file, for the device, and in the order that the CPU's own decode kernels want.
//
// ggml's CPU device lists "extra" buffer types (CPU_REPACK and its like) that reorder quantised weights when they are
// set, and its fast kernels run only on tensors whose buffer has such a type. So for each of them rockfill's device
// lists one of its own, whose buffers carry the CPU's type: the CPU decodes from them as if rockfill were not there,
// and products of a large batch read the plain copy beside them. docs/decode-log.md has what it gives and costs.
#include "border.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hostmem.h"
#include "log.h"

struct twofold {
    const struct rf_ggml_repack *type;
    struct rf_buffer *plain;
    ggml_backend_buffer_t reordered; // the CPU's; tensors' addresses lie in it
};

static struct twofold *context_of(ggml_backend_buffer_t buffer) {
    return buffer->context;
}

static void buffer_free(ggml_backend_buffer_t buffer) {
    struct twofold *twofold = context_of(buffer);
    ggml_backend_buffer_free(twofold->reordered);
    rf_buffer_destroy(twofold->plain);
    free(twofold);
}

static void *buffer_base(ggml_backend_buffer_t buffer) {
    return ggml_backend_buffer_get_base(context_of(buffer)->reordered);
}

static enum ggml_status buffer_init_tensor(ggml_backend_buffer_t buffer, struct ggml_tensor *tensor) {
    return ggml_backend_buffer_init_tensor(context_of(buffer)->reordered, tensor);
}

static char *plain_address(ggml_backend_buffer_t buffer, const struct ggml_tensor *tensor) {
    return (char *)context_of(buffer)->plain->host + ((const char *)tensor->data - (const char *)buffer_base(buffer));
}

// The CPU's types take whole tensors only.
static void reorder(ggml_backend_buffer_t buffer, struct ggml_tensor *tensor) {
    struct twofold *twofold = context_of(buffer);
    rf_buffer_touch(twofold->plain);
    twofold->reordered->iface.set_tensor(twofold->reordered, tensor, plain_address(buffer, tensor), 0,
                                         ggml_nbytes(tensor));
}

static void buffer_memset(ggml_backend_buffer_t buffer, struct ggml_tensor *tensor, uint8_t value, size_t offset,
                          size_t size) {
    memset(plain_address(buffer, tensor) + offset, value, size);
    reorder(buffer, tensor);
}

static void buffer_set(ggml_backend_buffer_t buffer, struct ggml_tensor *tensor, const void *data, size_t offset,
                       size_t size) {
    memcpy(plain_address(buffer, tensor) + offset, data, size);
    reorder(buffer, tensor);
}

static void buffer_get(ggml_backend_buffer_t buffer, const struct ggml_tensor *tensor, void *data, size_t offset,
                       size_t size) {
    memcpy(data, plain_address(buffer, tensor) + offset, size);
}

static void buffer_clear(ggml_backend_buffer_t buffer, uint8_t value) {
    struct twofold *twofold = context_of(buffer);
    memset(twofold->plain->host, value, twofold->plain->bytes);
    rf_buffer_touch(twofold->plain);
    ggml_backend_buffer_clear(twofold->reordered, value);
}

static const struct ggml_backend_buffer_i buffer_interface = {
    .free_buffer = buffer_free,
    .get_base = buffer_base,
    .init_tensor = buffer_init_tensor,
    .memset_tensor = buffer_memset,
    .set_tensor = buffer_set,
    .get_tensor = buffer_get,
    .clear = buffer_clear,
};

static struct rf_ggml_repack *repack_of(ggml_backend_buffer_type_t type) {
    return type->context;
}

static const char *type_name(ggml_backend_buffer_type_t type) {
    return repack_of(type)->name;
}

// Both copies, and an eighth of them for what the program allocates next.
static bool room_for(size_t size) {
    uint64_t needed = 2 * (uint64_t)size + size / 4;
    return rf_plugin_env()->copies == RF_COPIES_TWICE || rf_hostmem_available() > needed;
}

static ggml_backend_buffer_t alloc_twofold(struct rf_ggml_repack *repack, size_t size) {
    struct twofold *twofold = calloc(1, sizeof *twofold);
    if (twofold == NULL)
        return NULL;
    twofold->type = repack;
    twofold->reordered = ggml_backend_buft_alloc_buffer(repack->cpu, size);
    twofold->plain = rf_buffer_create(rf_ggml_device_open(repack->device), size);
    ggml_backend_buffer_t buffer = NULL;
    if (twofold->reordered != NULL && twofold->plain != NULL)
        buffer = ggml_backend_buffer_init(repack->cpu, buffer_interface, twofold, size);
    if (buffer == NULL) {
        if (twofold->reordered != NULL)
            ggml_backend_buffer_free(twofold->reordered);
        rf_buffer_destroy(twofold->plain);
        free(twofold);
        return NULL;
    }
    rf_log(RF_LOG_INFO, "%s: %zu MiB of weights are kept a second time, for the CPU's decode (%s)",
           repack->device->name, size >> 20, ggml_backend_buft_name(repack->cpu));
    return buffer;
}

// Where memory is short the weights are kept once, and the CPU decodes with its slower kernels.
static ggml_backend_buffer_t type_alloc(ggml_backend_buffer_type_t type, size_t size) {
    struct rf_ggml_repack *repack = repack_of(type);
    ggml_backend_buffer_t buffer = room_for(size) ? alloc_twofold(repack, size) : NULL;
    if (buffer != NULL)
        return buffer;
    rf_log(RF_LOG_INFO, "%s: no room to keep %zu MiB of weights a second time for the CPU's decode",
           repack->device->name, size >> 20);
    return ggml_backend_buft_alloc_buffer(&repack->device->buffers, size);
}

static size_t type_alignment(ggml_backend_buffer_type_t type) {
    size_t ours = ggml_backend_buft_get_alignment(&repack_of(type)->device->buffers);
    size_t cpu = ggml_backend_buft_get_alignment(repack_of(type)->cpu);
    return ours > cpu ? ours : cpu; // powers of two, both
}

static size_t type_max_size(ggml_backend_buffer_type_t type) {
    size_t ours = ggml_backend_buft_get_max_size(&repack_of(type)->device->buffers);
    size_t cpu = ggml_backend_buft_get_max_size(repack_of(type)->cpu);
    return ours < cpu ? ours : cpu;
}

static size_t type_alloc_size(ggml_backend_buffer_type_t type, const struct ggml_tensor *tensor) {
    size_t plain = ggml_nbytes(tensor), cpu = ggml_backend_buft_get_alloc_size(repack_of(type)->cpu, tensor);
    return plain > cpu ? plain : cpu;
}

static void add_type(struct rf_ggml_device *device, ggml_backend_buffer_type_t cpu) {
    struct rf_ggml_repack *repack = &device->repacks[device->repack_count];
    *repack = (struct rf_ggml_repack){
        .ggml = {.iface = {.get_name = type_name,
                           .alloc_buffer = type_alloc,
                           .get_alignment = type_alignment,
                           .get_max_size = type_max_size,
                           .get_alloc_size = type_alloc_size},
                 .device = &device->ggml,
                 .context = repack},
        .device = device,
        .cpu = cpu,
    };
    snprintf(repack->name, sizeof repack->name, "%s+%s", device->name, ggml_backend_buft_name(cpu));
    device->repack_list[device->repack_count++] = &repack->ggml;
}

// Decode on the device itself has no use for the second copy.
static bool wanted(void) {
    return rf_plugin_env()->copies != RF_COPIES_ONCE && rf_plugin_env()->min_batch > 1;
}

ggml_backend_buffer_type_t *rf_ggml_repack_types(ggml_backend_dev_t dev) {
    struct rf_ggml_device *device = dev->context;
    ggml_backend_dev_t cpu = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
    ggml_backend_dev_get_extra_bufts_t list =
        cpu == NULL ? NULL
                    : (ggml_backend_dev_get_extra_bufts_t)ggml_backend_reg_get_proc_address(
                          ggml_backend_dev_backend_reg(cpu), "ggml_backend_dev_get_extra_bufts");
    ggml_backend_buffer_type_t *types = list != NULL && wanted() ? list(cpu) : NULL;
    pthread_mutex_lock(&device->open_lock);
    if (!atomic_load(&device->repack_listed))
        // Host types among them (fast memory) do not reorder.
        for (; types != NULL && *types != NULL && device->repack_count < RF_REPACK_TYPES; types++)
            if (!ggml_backend_buft_is_host(*types))
                add_type(device, *types);
    atomic_store(&device->repack_listed, true);
    pthread_mutex_unlock(&device->open_lock);
    return device->repack_list;
}

// Whether the CPU device has a kernel of its own for the operation when its weights lie in the given type.
static bool cpu_reorders(ggml_backend_buffer_type_t cpu, const struct ggml_tensor *node) {
    ggml_backend_buffer_t empty = ggml_backend_buft_alloc_buffer(cpu, 0);
    if (empty == NULL)
        return false;
    struct ggml_tensor weights = *node->src[0], copy = *node;
    weights.buffer = empty;
    copy.src[0] = &weights;
    bool reorders = ggml_backend_dev_supports_op(ggml_backend_buft_get_device(cpu), &copy);
    ggml_backend_buffer_free(empty);
    return reorders;
}

bool rf_ggml_repack_preferred(struct rf_ggml_device *device, const struct ggml_tensor *node) {
    if (!atomic_load(&device->repack_listed))
        return false;
    for (size_t i = 0; i < device->repack_count; i++)
        if (cpu_reorders(device->repacks[i].cpu, node))
            return true;
    return false;
}

bool rf_ggml_repack_usable(const struct rf_ggml_device *device, ggml_backend_buffer_t buffer,
                           const struct ggml_tensor *node) {
    if (buffer->iface.free_buffer == buffer_free)
        return context_of(buffer)->type->device == device;
    ggml_backend_buffer_type_t type = ggml_backend_buffer_get_type(buffer);
    return type->iface.get_name == type_name && repack_of(type)->device == device &&
           cpu_reorders(repack_of(type)->cpu, node);
}

bool rf_ggml_repack_type_is(struct rf_ggml_device *device, ggml_backend_buffer_type_t type) {
    if (!atomic_load(&device->repack_listed))
        return false;
    for (size_t i = 0; i < device->repack_count; i++)
        if (type == &device->repacks[i].ggml || type == device->repacks[i].cpu)
            return true;
    return false;
}

struct rf_buffer *rf_ggml_repack_plain(ggml_backend_buffer_t buffer, const struct ggml_tensor *tensor,
                                       const void **data) {
    if (buffer->iface.free_buffer != buffer_free)
        return NULL;
    *data = plain_address(buffer, tensor);
    return context_of(buffer)->plain;
}
