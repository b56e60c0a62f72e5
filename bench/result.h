// SPDX-License-Identifier: MIT
#pragma once

// Writer of the measurement files build/results/NAME.json. Every file is one JSON object that starts with
//   version  of the format, 1
//   commit   of the sources, "-dirty" appended when they were changed; "unknown" outside a git checkout
//   date     UTC, ISO 8601
//   host     object: system, machine, cpu, cores, memory_mib
// and goes on with the caller's own fields. Not thread safe (it runs git).

#include <jansson.h>
#include <stdbool.h>

#define RF_RESULT_VERSION 1

// Makes the object with the common fields. The caller adds its own and frees it with json_decref. NULL when memory is
// short.
json_t *rf_result_create(void);

// Writes the object to `path`, making the folders it needs. The file appears whole or not at all: it is written
// beside its place and renamed over it. False after one line on stderr that says what failed.
bool rf_result_write(const json_t *result, const char *path);

// Sorts `values` in place and returns the median (mean of the middle two for an even count); 0 for none.
double rf_result_median(double *values, size_t count);
