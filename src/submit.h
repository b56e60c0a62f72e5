// SPDX-License-Identifier: MIT
// Steps (a dispatch or a copy) recorded in order into two command buffers that take turns behind one timeline
// semaphore. Each submission is bounded in estimated time and ends in a canary, so that a watchdog that cancels work
// silently is noticed.
//
// All functions need the device's lock.
#pragma once

#include "pipeline.h"

struct rf_slice {
    VkBuffer buffer;
    VkDeviceSize offset; // bytes; a multiple of the device's offset_alignment for dispatches
    VkDeviceSize bytes;
};

struct rf_step {
    VkPipeline pipeline;                   // VK_NULL_HANDLE: copy bindings[0] to bindings[1]
    struct rf_slice bindings[RF_BINDINGS]; // buffer VK_NULL_HANDLE: the kernel does not use it
    uint32_t groups[3];
    uint8_t push[RF_PUSH_BYTES];
    uint32_t push_bytes;
    bool barrier; // waits for all earlier steps; else it may overlap them
    double work;  // estimate, in multiply-accumulates; bounds the submission
};

struct rf_submit;

struct rf_submit *rf_submit_create(struct rf_device *device); // NULL and one line on failure
void rf_submit_destroy(struct rf_device *device, struct rf_submit *submit);

// Runs the steps in order and returns when the device has finished them and its writes are visible to the host (but
// for cached non-coherent memory, which the caller invalidates). On failure the device is marked as failed.
bool rf_submit_run(struct rf_device *device, const struct rf_step *steps, size_t count);

// Work that one submission may hold: about half a second at the measured rate. A step should not exceed it.
double rf_submit_work_limit(const struct rf_device *device);
