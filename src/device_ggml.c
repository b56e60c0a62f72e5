// SPDX-License-Identifier: MIT
#include "border.h"

#include <stdio.h>

static struct rf_ggml_device *context_of(ggml_backend_dev_t dev) {
    return dev->context;
}

static const char *device_name(ggml_backend_dev_t dev) {
    return context_of(dev)->name;
}

static const char *device_description(ggml_backend_dev_t dev) {
    return context_of(dev)->description;
}

// The largest heap less what rockfill took. Buffers that do not fit stay in host memory, so this is advice to whoever
// places layers, not a bound.
static void device_memory(ggml_backend_dev_t dev, size_t *free_bytes, size_t *total_bytes) {
    struct rf_ggml_device *device = context_of(dev);
    uint64_t total = device->adapter->caps.heap_bytes;
    pthread_mutex_lock(&device->open_lock);
    uint64_t used = device->device != NULL ? atomic_load(&device->device->allocated_bytes) : 0;
    pthread_mutex_unlock(&device->open_lock);
    *total_bytes = (size_t)total;
    *free_bytes = (size_t)(used < total ? total - used : 0);
}

// IGPU whatever the hardware: it shares the host's memory as far as ggml can tell, and -ngl, -dev and --list-devices
// treat it as users expect.
static enum ggml_backend_dev_type device_type(ggml_backend_dev_t dev) {
    (void)dev;
    return GGML_BACKEND_DEVICE_TYPE_IGPU;
}

static void device_props(ggml_backend_dev_t dev, struct ggml_backend_dev_props *props) {
    *props = (struct ggml_backend_dev_props){.name = device_name(dev),
                                             .description = device_description(dev),
                                             .type = device_type(dev),
                                             .caps = {.host_buffer = true}};
    device_memory(dev, &props->memory_free, &props->memory_total);
}

static ggml_backend_t device_init_backend(ggml_backend_dev_t dev, const char *params) {
    (void)params;
    return rf_ggml_backend_create(context_of(dev));
}

static ggml_backend_buffer_type_t device_buffer_type(ggml_backend_dev_t dev) {
    return &context_of(dev)->buffers;
}

static ggml_backend_buffer_type_t device_host_buffer_type(ggml_backend_dev_t dev) {
    return &context_of(dev)->host;
}

static bool device_supports_op(ggml_backend_dev_t dev, const struct ggml_tensor *op) {
    return rf_ggml_supports(context_of(dev), op);
}

// Any host memory: what does not lie in rockfill's own is copied when it is needed, which the scheduler would do, too.
static bool device_supports_buft(ggml_backend_dev_t dev, ggml_backend_buffer_type_t type) {
    return rf_ggml_buffer_type_is(context_of(dev), type) || rf_ggml_repack_type_is(context_of(dev), type) ||
           ggml_backend_buft_is_host(type);
}

void rf_ggml_device_init(struct rf_ggml_device *device, ggml_backend_reg_t reg, const struct rf_adapter *adapter,
                         size_t index) {
    *device = (struct rf_ggml_device){
        .ggml = {.iface = {.get_name = device_name,
                           .get_description = device_description,
                           .get_memory = device_memory,
                           .get_type = device_type,
                           .get_props = device_props,
                           .init_backend = device_init_backend,
                           .get_buffer_type = device_buffer_type,
                           .get_host_buffer_type = device_host_buffer_type,
                           .supports_op = device_supports_op,
                           .supports_buft = device_supports_buft},
                 .reg = reg,
                 .context = device},
        .adapter = adapter,
    };
    snprintf(device->name, sizeof device->name, "ROCKFILL%zu", index);
    snprintf(device->description, sizeof device->description, "%s (rockfill)", adapter->caps.name);
    pthread_mutex_init(&device->open_lock, NULL);
    rf_ggml_buffer_types_init(device);
}

struct rf_device *rf_ggml_device_open(struct rf_ggml_device *device) {
    pthread_mutex_lock(&device->open_lock);
    if (!device->opened)
        device->device = rf_device_open(rf_plugin_instance(), device->adapter, rf_plugin_env());
    device->opened = true;
    struct rf_device *opened = device->device;
    pthread_mutex_unlock(&device->open_lock);
    return opened;
}
