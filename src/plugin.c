// SPDX-License-Identifier: MIT
// The two functions that ggml's loader looks for, and the registry they hand out.
#include <stdlib.h>
#include <string.h>

#include "border.h"
#include "log.h"

#define EXPORT __attribute__((visibility("default")))

// ggml_tensor_overhead(): the tensor and the 32 bytes of ggml's private object header before it.
#define RF_TENSOR_OVERHEAD (sizeof(struct ggml_tensor) + 32)

// One registry for the life of the process: the loader may initialise, close and reopen the library (which is linked
// with nodelete, so that this state and the drivers behind it survive).
static struct {
    pthread_once_t once;
    struct rf_env env;
    struct rf_instance instance;
    struct rf_ggml_device *devices;
    struct ggml_backend_reg reg;
    bool usable;
} plugin = {.once = PTHREAD_ONCE_INIT};

const struct rf_env *rf_plugin_env(void) {
    return &plugin.env;
}

const struct rf_instance *rf_plugin_instance(void) {
    return &plugin.instance;
}

static const char *reg_name(ggml_backend_reg_t reg) {
    (void)reg;
    return "ROCKFILL";
}

static size_t reg_device_count(ggml_backend_reg_t reg) {
    (void)reg;
    return plugin.devices != NULL ? plugin.instance.count : 0;
}

static ggml_backend_dev_t reg_device(ggml_backend_reg_t reg, size_t index) {
    return index < reg_device_count(reg) ? &plugin.devices[index].ggml : NULL;
}

static void *reg_proc_address(ggml_backend_reg_t reg, const char *name) {
    (void)reg;
    return strcmp(name, "ggml_backend_dev_get_extra_bufts") == 0 ? (void *)rf_ggml_repack_types : NULL;
}

// The structures that this library was compiled for, as far as the running ggml's public functions can tell.
static bool abi_matches(void) {
    return ggml_tensor_overhead() == RF_TENSOR_OVERHEAD && strcmp(ggml_op_name(GGML_OP_MUL_MAT), "MUL_MAT") == 0 &&
           strcmp(ggml_op_name(GGML_OP_MUL_MAT_ID), "MUL_MAT_ID") == 0 &&
           strcmp(ggml_type_name(GGML_TYPE_MXFP4), "mxfp4") == 0 && strcmp(ggml_version(), RF_GGML_VERSION) == 0;
}

static void plugin_open(void) {
    rf_env_read(&plugin.env);
    rf_log_set_verbose(plugin.env.debug);
    if (!abi_matches()) {
        rf_log(RF_LOG_ERROR,
               "not loaded: built for ggml " RF_GGML_VERSION ", the host has ggml %s; build rockfill for it "
               "(-DROCKFILL_LLAMA_DIR=...)",
               ggml_version());
        return;
    }
    plugin.usable = true;
    plugin.reg = (struct ggml_backend_reg){
        .api_version = GGML_BACKEND_API_VERSION,
        .iface = {.get_name = reg_name,
                  .get_device_count = reg_device_count,
                  .get_device = reg_device,
                  .get_proc_address = reg_proc_address},
    };
    rf_instance_open(&plugin.instance, plugin.env.device);
    plugin.devices = calloc(plugin.instance.count + 1, sizeof *plugin.devices);
    for (size_t i = 0; plugin.devices != NULL && i < plugin.instance.count; i++)
        rf_ggml_device_init(&plugin.devices[i], &plugin.reg, &plugin.instance.adapters[i], i);
}

EXPORT ggml_backend_reg_t ggml_backend_init(void) {
    pthread_once(&plugin.once, plugin_open);
    return plugin.usable ? &plugin.reg : NULL;
}

// Any value above 0: usable. The loader compares it only among libraries of one name.
EXPORT int ggml_backend_score(void) {
    return 1;
}
