// SPDX-License-Identifier: MIT
// A job in a file, with all memory that its address space has, so that it can be executed again elsewhere: to look for
// a fault, and as a benchmark. For machines with the same byte order; pages of zeros are left out. Memory that is
// mapped twice comes back as two copies.
#pragma once

#include "../job.h"

// False: errno tells why, and there is no complete file.
bool mx_job_save(const struct mx_job *job, const char *path);

struct mx_job_file {
    struct mx_job job;
    struct mx_memory *memory;
    void *host; // what stands behind all of it
    uint64_t host_bytes;
};

// NULL: errno tells why; EINVAL: not such a file, or not of this version.
struct mx_job_file *mx_job_load(const char *path);
void mx_job_unload(struct mx_job_file *file);
