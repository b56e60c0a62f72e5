// SPDX-License-Identifier: MIT
// Matrix products as steps of a plan: activations into columns, weights into panels, tiles over both.
#pragma once

#include "plan.h"

// Whether a device with these properties can compute the product whatever memory its operands lie in. Only shapes,
// strides and formats are read. Pure.
bool rf_matmul_possible(const struct rf_caps *caps, const struct rf_product *product);

// Appends the product's steps. `constant`: the weights do not change between graphs. False when the device failed or
// has no memory for the smallest piece. Needs the device's lock.
bool rf_matmul_plan(struct rf_device *device, const struct rf_product *product, bool constant);
