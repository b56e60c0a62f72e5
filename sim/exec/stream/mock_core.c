// SPDX-License-Identifier: MIT
#include <sched.h>
#include <stdio.h>

#include "stream_test.h"

struct mock mock;
static struct mx_core_stats stats;

struct mx_core *mx_core_new(const struct mx_core_options *options) {
    (void)options;
    stats = (struct mx_core_stats){0};
    return (struct mx_core *)&mock;
}

void mx_core_free(struct mx_core *core) {
    (void)core;
}

bool mx_core_run(struct mx_core *core, const struct mx_job *job, struct mx_fault *fault) {
    (void)core;
    mock.jobs[mock.count++ % MOCK_JOBS] = *job;
    stats.jobs++;
    if (job->code == MOCK_SLOW) {
        __atomic_store_n(&mock.slow_runs, true, __ATOMIC_SEQ_CST);
        while (!__atomic_load_n(&mock.slow_end, __ATOMIC_SEQ_CST))
            sched_yield();
    }
    if (job->code != MOCK_FAULTY)
        return true;
    *fault = (struct mx_fault){.kind = MX_FAULT_TRANSLATION, .job = job->number, .code = job->code, .pc = 8};
    snprintf(fault->text, sizeof fault->text, "a fault that the test wants");
    return false;
}

void mx_core_forget(struct mx_core *core, uint64_t begin, uint64_t size_bytes) {
    (void)core;
    (void)begin;
    (void)size_bytes;
}

const struct mx_core_stats *mx_core_stats(const struct mx_core *core) {
    (void)core;
    return &stats;
}
