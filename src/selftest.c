// SPDX-License-Identifier: MIT
#include "selftest.h"

#include <string.h>

#include "log.h"
#include "memory.h"
#include "plan.h"
#include "submit.h"

#define START 1000

struct dot_case {
    int8_t a[4], b[4];
};

// Extremes, signs and lane order: a saturating, unsigned or zero result differs in at least one.
static const struct dot_case dot_cases[] = {
    {{-128, -128, -128, -128}, {-128, -128, -128, -128}},
    {{127, 127, 127, 127}, {-128, -128, -128, -128}},
    {{127, 127, 127, 127}, {127, 127, 127, 127}},
    {{1, 0, 0, 0}, {-1, 5, 6, 7}},
    {{0, 0, 0, -3}, {9, 9, 9, 100}},
    {{1, 2, 3, 4}, {-5, 6, -7, 8}},
    {{-1, -1, -1, -1}, {1, 1, 1, 1}},
    {{0, 0, 0, 0}, {-128, 127, -128, 127}},
};

#define CASES (sizeof dot_cases / sizeof dot_cases[0])

static int32_t expected(const struct dot_case *c) {
    int32_t sum = START;
    for (int i = 0; i < 4; i++)
        sum += c->a[i] * c->b[i];
    return sum;
}

static bool run(struct rf_device *device, int32_t sums[CASES]) {
    VkResult result;
    struct rf_pipeline_key key = {.kernel = RF_KERNEL_SELFTEST};
    struct rf_step step = {.pipeline = rf_pipelines_get(device, &key, &result), .groups = {1, 1, 1}, .push_bytes = 8};
    if (step.pipeline == VK_NULL_HANDLE)
        return false;
    int32_t push[2] = {CASES, START};
    memcpy(step.push, push, sizeof push);
    struct rf_arena *staging = &device->plan->staging;
    bool flushed;
    if (!rf_plan_room(device, 0, 0, 1024, &flushed) ||
        !rf_plan_upload(device, dot_cases, sizeof dot_cases, &step.bindings[0]))
        return false;
    step.bindings[1] = rf_plan_take(staging, CASES * sizeof *sums);
    char *at = (char *)staging->memory.host + step.bindings[1].offset;
    memset(at, 0x55, CASES * sizeof *sums);
    if (rf_memory_flush(device, &staging->memory, step.bindings[1].offset, step.bindings[1].bytes) != VK_SUCCESS ||
        !rf_plan_step(device, &step) || !rf_plan_flush(device) ||
        rf_memory_invalidate(device, &staging->memory, step.bindings[1].offset, step.bindings[1].bytes) != VK_SUCCESS)
        return false;
    memcpy(sums, at, CASES * sizeof *sums);
    return true;
}

bool rf_selftest_dot(struct rf_device *device) {
    int32_t sums[CASES];
    if (!run(device, sums)) {
        rf_log(RF_LOG_WARN, "%s: the self-test of the byte dot product did not run; the int8 path is off",
               device->caps.name);
        return false;
    }
    for (size_t i = 0; i < CASES; i++)
        if (sums[i] != expected(&dot_cases[i])) {
            rf_log(RF_LOG_WARN,
                   "%s: the driver's byte dot product is wrong (case %zu: %d instead of %d); "
                   "the int8 path is off",
                   device->caps.name, i, sums[i], expected(&dot_cases[i]));
            return false;
        }
    return true;
}
