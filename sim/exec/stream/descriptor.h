// SPDX-License-Identifier: MIT
// From a queue's registers and the descriptors that they point to, to a job: csf-exec.md, sections 3 to 5.
#pragma once

#include "../job.h"

// selects: RUN_COMPUTE's bits 40 to 47. job->memory is set. NULL, or what is wrong.
const char *mx_descriptor_read(struct mx_job *job, const uint32_t *registers, uint32_t selects);
