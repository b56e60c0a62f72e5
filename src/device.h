// SPDX-License-Identifier: MIT
// A logical device: one VkDevice with one compute queue, shared by every buffer and every ggml backend on it.
//
// Thread safety: rf_device_open/close by one thread; memory and buffer functions by any thread; everything that records
// or submits (plan, submit, pipeline) only while holding `lock`.
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "adapter.h"
#include "env.h"

// Which memory type serves which use; ~0u: none.
struct rf_memory_types {
    uint32_t local; // scratch that the host never touches
    uint32_t host;  // what the host reads and writes: host cached where there is one
    bool host_cached;
    bool host_coherent;
};

struct rf_device {
    struct rf_vk vk;
    struct rf_caps caps;
    VkDevice handle;
    VkQueue queue;
    pthread_mutex_t lock;
    atomic_bool failed;       // lost, hung or cancelled: never submit again, leave the work to the CPU
    bool unchecked;           // for simulators that execute nothing: no self-test, canaries are taken as written
    enum rf_memory_mode mode; // shared, imported or mirrored
    struct rf_memory_types types;
    enum rf_path quantised_path; // path of quantised weights
    enum rf_path half_path;      // path of F16 and BF16 weights
    atomic_uint_least64_t allocated_bytes;
    uint64_t dispatches; // recorded since the device was opened; under `lock`
    struct rf_pipelines *pipelines;
    struct rf_submit *submit;
    struct rf_plan *plan;
};

// Creates the device and all that computing needs but memory for operands. On failure logs one line, releases
// everything and returns NULL. `env` gives the memory mode and path wished for; what the device cannot do is replaced,
// with a warning.
struct rf_device *rf_device_open(const struct rf_instance *instance, const struct rf_adapter *adapter,
                                 const struct rf_env *env);
// Waits for the device and releases everything; NULL is allowed. All buffers must be gone.
void rf_device_close(struct rf_device *device);

// Marks the device as unusable after `what` failed with `result`, in one line; later calls are silent.
void rf_device_fail(struct rf_device *device, const char *what, VkResult result);

// The memory mode and memory types for a device: pure, for tests. `wish` other than AUTO wins where possible.
enum rf_memory_mode rf_device_choose_memory(const struct rf_caps *caps, enum rf_memory_mode wish,
                                            struct rf_memory_types *types);
// The paths for quantised and half-precision weights. `dot_ok`: the dot product passed its self-test.
void rf_device_choose_paths(const struct rf_caps *caps, enum rf_path wish, bool dot_ok, enum rf_path *quantised,
                            enum rf_path *half);
