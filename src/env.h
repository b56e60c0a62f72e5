// SPDX-License-Identifier: MIT
// The environment variables that the library reads, all of them; HACKING.md has the same table for people.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum rf_memory_mode { RF_MEMORY_AUTO, RF_MEMORY_SHARED, RF_MEMORY_IMPORTED, RF_MEMORY_MIRRORED };
enum rf_path { RF_PATH_INT8, RF_PATH_FP16, RF_PATH_FP32, RF_PATH_COUNT, RF_PATH_AUTO = RF_PATH_COUNT };
// How often quantised weights are kept: once more for the CPU's decode where host memory is left for it, or as told.
enum rf_copies { RF_COPIES_AUTO, RF_COPIES_ONCE, RF_COPIES_TWICE };

struct rf_env {
    const char *device;         // GGML_ROCKFILL_DEVICE: NULL, or a comma list of indices and parts of names
    int64_t min_batch;          // GGML_ROCKFILL_MIN_BATCH: products with fewer columns stay on the CPU; >= 1
    enum rf_memory_mode memory; // GGML_ROCKFILL_MEMORY: auto, shared, imported, mirrored;
    enum rf_copies copies;      // and, after a comma or alone, once or twice
    enum rf_path path;          // GGML_ROCKFILL_PATH: auto, int8, fp16, fp32
    int debug;                  // GGML_ROCKFILL_DEBUG: 0, 1, or 2 (see rf_device.unchecked)
};

#define RF_DEFAULT_MIN_BATCH 32

// Reads the variables. A value that is not understood is named in one warning and replaced by the default, so that a
// typing error never changes results or stops the host program. The string in `device` is the environment's own.
void rf_env_read(struct rf_env *env);

// Parsers behind rf_env_read, apart for tests: true and *out set when `text` is a valid value.
bool rf_env_parse_int(const char *text, int64_t min, int64_t max, int64_t *out);
bool rf_env_parse_memory(const char *text, enum rf_memory_mode *mode, enum rf_copies *copies);
bool rf_env_parse_path(const char *text, enum rf_path *out);

const char *rf_env_memory_name(enum rf_memory_mode mode);
const char *rf_env_path_name(enum rf_path path);
