// SPDX-License-Identifier: MIT
// The pipeline cache's file: a header that ties the driver's bytes to one driver and protects them, written atomically.
// Pure: no Vulkan.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Who may read the bytes back. Zero the whole struct before filling it: it is compared as bytes.
struct rf_cachefile_owner {
    uint32_t vendor_id, device_id, driver_version;
    uint8_t uuid[16]; // the driver's pipelineCacheUUID
};

// The file's path: $XDG_CACHE_HOME/rockfill or $HOME/.cache/rockfill, a name a device and driver. False when neither
// variable is set or the path does not fit.
bool rf_cachefile_path(const struct rf_cachefile_owner *owner, char *path, size_t path_bytes);

// The driver's bytes (to be freed) and their count, or NULL when the file is absent, foreign, truncated or corrupt.
void *rf_cachefile_read(const char *path, const struct rf_cachefile_owner *owner, size_t *data_bytes);

// Replaces the file in one step, creating its folder. False on failure, which leaves the old file as it was.
bool rf_cachefile_write(const char *path, const struct rf_cachefile_owner *owner, const void *data, size_t data_bytes);
