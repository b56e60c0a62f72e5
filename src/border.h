// SPDX-License-Identifier: MIT
// The border with ggml: the only files that include ggml's headers. Everything behind it speaks rf_product.
//
// One rf_ggml_device a usable Vulkan device; its logical device is opened when first needed and then stays: drivers do
// not like being unloaded, and llama.cpp creates and frees contexts at will.
#pragma once

#include "ggml-backend-impl.h"

#include "adapter.h"
#include "buffer.h"
#include "env.h"
#include "product.h"

enum { RF_REPACK_TYPES = 4 };

struct rf_ggml_repack {
    struct ggml_backend_buffer_type ggml; // its context is this struct
    struct rf_ggml_device *device;
    ggml_backend_buffer_type_t cpu; // the CPU device's type that it goes with
    char name[64];                  // "ROCKFILL0+CPU_REPACK"
};

struct rf_ggml_device {
    struct ggml_backend_device ggml;         // what the host sees; its context is this struct
    struct ggml_backend_buffer_type buffers; // weights, KV cache, results
    struct ggml_backend_buffer_type host;    // what the CPU computes in; never weights
    struct rf_ggml_repack repacks[RF_REPACK_TYPES];
    ggml_backend_buffer_type_t repack_list[RF_REPACK_TYPES + 1]; // pointers to them, then NULL
    size_t repack_count;
    atomic_bool repack_listed; // the host asked for them; what is above does not change any more
    char name[16];             // "ROCKFILL0"
    char description[320];
    const struct rf_adapter *adapter;
    atomic_int_least64_t probe; // tokens of the graph in which llama.cpp asks; see probe_ggml.c
    pthread_mutex_t open_lock;
    bool opened;              // an attempt was made
    struct rf_device *device; // NULL before it, and after it failed
};

// plugin.c
const struct rf_env *rf_plugin_env(void);
const struct rf_instance *rf_plugin_instance(void);

// device_ggml.c
void rf_ggml_device_init(struct rf_ggml_device *device, ggml_backend_reg_t reg, const struct rf_adapter *adapter,
                         size_t index);
// The logical device, opened on the first call; NULL when it cannot be used. Thread-safe.
struct rf_device *rf_ggml_device_open(struct rf_ggml_device *device);

// buffer_ggml.c
void rf_ggml_buffer_types_init(struct rf_ggml_device *device);
bool rf_ggml_buffer_type_is(const struct rf_ggml_device *device, ggml_backend_buffer_type_t type);
// The buffer that a tensor (or what it views) lies in, when it is one of rockfill's; else NULL. `*data` gets the
// address of the tensor's elements in the order that ggml documents for its type (of weights kept twice: the plain
// ones).
struct rf_buffer *rf_ggml_buffer_of(const struct ggml_tensor *tensor, const void **data);
bool rf_ggml_tensor_constant(const struct ggml_tensor *tensor); // a model's weights

// repack_ggml.c
// The types in which quantised weights are kept twice, once as the CPU's decode wants them; ends in NULL, owned by the
// device. The function that ggml looks for as "ggml_backend_dev_get_extra_bufts".
ggml_backend_buffer_type_t *rf_ggml_repack_types(ggml_backend_dev_t dev);
// Whether a host that knows those types should put the node's weights into one of them.
bool rf_ggml_repack_preferred(struct rf_ggml_device *device, const struct ggml_tensor *node);
// Whether `buffer` is the device's and keeps the node's weights twice, or is an empty one of a type that would.
bool rf_ggml_repack_usable(const struct rf_ggml_device *device, ggml_backend_buffer_t buffer,
                           const struct ggml_tensor *node);
// Whether `type` is one of them, or the CPU's type that their buffers carry.
bool rf_ggml_repack_type_is(struct rf_ggml_device *device, ggml_backend_buffer_type_t type);
// The plain weights of a buffer that keeps them twice; `*data` gets the tensor's address in them. NULL: it does not,
// and
// `*data` is left alone.
struct rf_buffer *rf_ggml_repack_plain(ggml_backend_buffer_t buffer, const struct ggml_tensor *tensor,
                                       const void **data);

// backend_ggml.c
ggml_backend_t rf_ggml_backend_create(struct rf_ggml_device *device);

// ops_ggml.c: supports_op's and graph_compute's views of the same operations.
enum rf_op { RF_OP_NONE, RF_OP_PRODUCT, RF_OP_ATTENTION, RF_OP_UNKNOWN };
enum rf_op rf_ggml_op(const struct ggml_tensor *node);
// The product that a MUL_MAT or MUL_MAT_ID node asks for. False when a type is none of ours.
bool rf_ggml_product(const struct ggml_tensor *node, struct rf_product *product);
bool rf_ggml_supports(struct rf_ggml_device *device, const struct ggml_tensor *node);

// probe_ggml.c: llama.cpp's question about flash attention, from the creation of a backend to the first allocation or
// computation after it. Thread-safe.
void rf_ggml_probe_begin(struct rf_ggml_device *device);
void rf_ggml_probe_end(struct rf_ggml_device *device);
void rf_ggml_probe_allocated(struct rf_ggml_device *device);
// Whether an operation on so many tokens belongs to the question.
bool rf_ggml_probed(struct rf_ggml_device *device, int64_t tokens);
