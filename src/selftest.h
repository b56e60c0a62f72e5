// SPDX-License-Identifier: MIT
// What a driver advertises is checked before it is relied on.
#pragma once

#include "device.h"

// Computes known four-way byte dot products on the device. False, with one warning, when one is wrong.
bool rf_selftest_dot(struct rf_device *device);
