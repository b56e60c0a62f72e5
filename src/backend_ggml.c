// SPDX-License-Identifier: MIT
#include "border.h"

#include <inttypes.h>
#include <stdlib.h>

#include "log.h"
#include "matmul.h"
#include "pipeline.h"

// A backend is a handle on its device; `cpu` is created when the device fails and the work has to end somewhere.
struct backend {
    struct ggml_backend ggml;
    struct rf_ggml_device *device;
    ggml_backend_t cpu;
};

static const char *backend_name(ggml_backend_t backend) {
    return ((struct backend *)backend)->device->name;
}

static void report(struct rf_ggml_device *owner) {
    pthread_mutex_lock(&owner->open_lock);
    struct rf_device *device = owner->device;
    pthread_mutex_unlock(&owner->open_lock);
    if (device == NULL)
        return;
    pthread_mutex_lock(&device->lock);
    uint64_t dispatches = device->dispatches;
    pthread_mutex_unlock(&device->lock);
    rf_log(RF_LOG_INFO, "%s: %" PRIu64 " dispatches since it was opened", device->caps.name, dispatches);
}

static void backend_free(ggml_backend_t ggml) {
    struct backend *backend = (struct backend *)ggml;
    report(backend->device);
    if (backend->cpu != NULL)
        ggml_backend_free(backend->cpu);
    free(backend);
}

static bool plan_node(struct rf_device *device, const struct ggml_tensor *node) {
    struct rf_product product;
    if (!rf_ggml_product(node, &product))
        return false;
    // The host reads the routing now: whatever computes it must have run. It never is on this device.
    return rf_matmul_plan(device, &product, rf_ggml_tensor_constant(node->src[0]));
}

static bool empty(const struct ggml_tensor *node) {
    return ggml_nelements(node) == 0 || !(node->flags & GGML_TENSOR_FLAG_COMPUTE);
}

// Plans and runs the graph's products. False when the device failed or could not do it: the results are then undefined.
static bool compute_on_device(struct rf_device *device, struct ggml_cgraph *graph) {
    if (device == NULL || atomic_load(&device->failed))
        return false;
    pthread_mutex_lock(&device->lock);
    bool good = true;
    for (int i = 0; good && i < ggml_graph_n_nodes(graph); i++) {
        const struct ggml_tensor *node = ggml_graph_node(graph, i);
        enum rf_op op = rf_ggml_op(node);
        if (op == RF_OP_NONE || empty(node))
            continue;
        good = op == RF_OP_PRODUCT && plan_node(device, node);
    }
    good = good && rf_plan_flush(device);
    if (!good)
        rf_plan_reset(device);
    rf_pipelines_save(device);
    pthread_mutex_unlock(&device->lock);
    return good;
}

// All of rockfill's memory is host memory, so the CPU backend can take over any graph.
static enum ggml_status compute_on_cpu(struct backend *backend, struct ggml_cgraph *graph) {
    if (backend->cpu == NULL) {
        ggml_backend_dev_t cpu = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
        backend->cpu = cpu != NULL ? ggml_backend_dev_init(cpu, NULL) : NULL;
        if (backend->cpu == NULL) {
            rf_log(RF_LOG_ERROR, "the device failed and there is no CPU backend to go on with");
            return GGML_STATUS_FAILED;
        }
        rf_log(RF_LOG_WARN, "%s: computing on the CPU instead", backend->device->name);
    }
    return ggml_backend_graph_compute(backend->cpu, graph);
}

static enum ggml_status backend_compute(ggml_backend_t ggml, struct ggml_cgraph *graph) {
    struct backend *backend = (struct backend *)ggml;
    rf_ggml_probe_end(backend->device);
    if (compute_on_device(rf_ggml_device_open(backend->device), graph))
        return GGML_STATUS_SUCCESS;
    return compute_on_cpu(backend, graph);
}

ggml_backend_t rf_ggml_backend_create(struct rf_ggml_device *device) {
    static ggml_guid guid = {0x72, 0x6f, 0x63, 0x6b, 0x66, 0x69, 0x6c, 0x6c,
                             0x8b, 0x1d, 0x47, 0xe5, 0x9c, 0x20, 0x61, 0x0a};
    struct backend *backend = calloc(1, sizeof *backend);
    if (backend == NULL)
        return NULL;
    backend->ggml = (struct ggml_backend){
        .guid = &guid,
        .iface = {.get_name = backend_name, .free = backend_free, .graph_compute = backend_compute},
        .device = &device->ggml,
        .context = backend,
    };
    backend->device = device;
    rf_ggml_probe_begin(device);
    return &backend->ggml;
}
