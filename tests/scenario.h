// SPDX-License-Identifier: MIT
// rockfill-scenario: the real plug-in inside a small ggml program, as llama.cpp would use it. The test driver runs it
// on bad devices (tests/trial) and reads what it prints: one line an event, `event key=value ...`, on stdout.
//
//   scenario.c          the command line, the list of acts
//   scenario_scene.c    backends and schedulers
//   scenario_product.c  one matrix product, checked against f64
//   scenario_acts.c     acts made of products
//   scenario_noops.c    what the scheduler does around products
//   scenario_twice.c    weights that the device keeps twice
//   scenario_model.c    acts with a language model
//
// Nothing here is thread-safe unless it says so. Functions that return bool have printed why on stderr when it is
// false.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <ggml-backend.h>
#include <ggml.h>

enum rf_scenario_exit {
    RF_SCENARIO_RIGHT = 0,
    RF_SCENARIO_WRONG = 1, // a result is wrong, or a function of ggml failed
    RF_SCENARIO_USAGE = 2,
    RF_SCENARIO_NO_DEVICE = 3, // the plug-in was refused or has no device; what could be checked was right
};

struct rf_scenario_options {
    const char *library; // the plug-in
    const char *model;   // GGUF
    enum ggml_type type; // of the weights
    int64_t m, n, k;
    int64_t experts, used; // 0: MUL_MAT, else MUL_MAT_ID
    int64_t layers;        // products in one graph
    int64_t repeat;        // graphs
    int64_t threads;       // act `threads`: how many
    int64_t tokens;        // act `decode`: generated ones
    int cpu_threads;       // of ggml's CPU backend
};

// ---- scene: loaded libraries, a backend on each device ----

// ggml's CPU backend and nothing else. Once a process.
bool rf_scene_cpu_load(void);
// The plug-in; false when ggml did not take it.
bool rf_scene_library_load(const char *path);
// The plug-in's first device, or NULL. Prints the event `devices`.
ggml_backend_dev_t rf_scene_device_find(void);

struct rf_scene {
    ggml_backend_t backends[2]; // the device's first, where there is one; the CPU's last
    int count;
    ggml_backend_sched_t sched;
};

// Backends and a scheduler, as a llama_context makes them. `device` may be NULL. Thread-safe.
bool rf_scene_open(struct rf_scene *scene, ggml_backend_dev_t device, int cpu_threads);
void rf_scene_close(struct rf_scene *scene);
// Where weights go: the device's memory, else the CPU's.
ggml_backend_buffer_type_t rf_scene_buffer_type(const struct rf_scene *scene);

// ---- product: random weights, random activations, results against f64 ----

struct rf_scene_product {
    enum ggml_type type;
    int64_t m, n, k;       // result[n][m] = activations[n][k] * weights[m][k]
    int64_t experts, used; // experts 0: MUL_MAT
    int64_t layers;        // at least 1: the graph adds up the same product so many times
    float *pool;           // rows of weights as floats, owned: row r of expert e is pool row (e * m + r) % pool_rows
    int64_t pool_rows;
    struct ggml_context *tensors; // owned
    ggml_backend_buffer_t buffer; // owned
    struct ggml_tensor *weights;
};

struct rf_scene_result {
    bool computed;       // the graph ran without an error
    bool right;          // ... and is right
    const char *backend; // which ran the product
    double nmse;         // mean square error over mean square
    double worst;        // largest error over the root of the mean square
    double ms;           // allocation and computation
};

// Makes the weights, in memory of `type`. Thread-safe.
bool rf_scene_product_make(struct rf_scene_product *product, const struct rf_scenario_options *options,
                           ggml_backend_buffer_type_t type);
void rf_scene_product_free(struct rf_scene_product *product);
// Runs one graph on `n` columns that `seed` gives and checks the result. Thread-safe for products and scenes of one's
// own.
struct rf_scene_result rf_scene_product_run(struct rf_scene *scene, const struct rf_scene_product *product, int64_t n,
                                            uint32_t seed);
// Prints the event `compute`; returns result.right.
bool rf_scene_result_print(const struct rf_scene_result *result, int64_t index);

// ---- acts ----

// Each returns an exit status.
int rf_act_devices(const struct rf_scenario_options *options); // load, list, nothing else
int rf_act_product(const struct rf_scenario_options *options); // `repeat` graphs of one product
int rf_act_grow(const struct rf_scenario_options *options);    // batches that grow and shrink
int rf_act_zero(const struct rf_scenario_options *options);    // shapes with a 0 in them
int rf_act_threads(const struct rf_scenario_options *options); // `threads` threads with scenes of their own
int rf_act_reload(const struct rf_scenario_options *options);  // load, compute, unload, load, compute
int rf_act_noops(const struct rf_scenario_options *options);   // a KV cache in the device's memory
int rf_act_twice(const struct rf_scenario_options *options);   // weights placed as llama.cpp places them
int rf_act_requests(const struct rf_scenario_options *options);
int rf_act_decode(const struct rf_scenario_options *options);
