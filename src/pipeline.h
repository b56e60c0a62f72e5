// SPDX-License-Identifier: MIT
// Compute pipelines: created when first needed, kept by kernel and specialisation constants, and in a cache on disk.
#pragma once

#include "device.h"
#include "kernels.h"

#define RF_BINDINGS 6    // storage buffers that a kernel may have, numbered from 0
#define RF_PUSH_BYTES 64 // push constants that a kernel may have
#define RF_SPEC_MAX 6    // specialisation constants, numbered from 0

struct rf_pipeline_key {
    enum rf_kernel kernel;
    uint32_t spec[RF_SPEC_MAX]; // unused ones are 0
};

struct rf_pipelines;

struct rf_pipelines *rf_pipelines_create(struct rf_device *device); // NULL and one line on failure
void rf_pipelines_destroy(struct rf_device *device, struct rf_pipelines *pipelines);

// The pipeline for `key`, created if need be. VK_NULL_HANDLE when the driver fails; *result then says why.
VkPipeline rf_pipelines_get(struct rf_device *device, const struct rf_pipeline_key *key, VkResult *result);

VkPipelineLayout rf_pipelines_layout(const struct rf_device *device);
VkDescriptorSetLayout rf_pipelines_set_layout(const struct rf_device *device);

// Writes the driver's cache to disk if pipelines were created since the last call. Failures only cost time later.
void rf_pipelines_save(struct rf_device *device);
