// SPDX-License-Identifier: MIT
// The driver's own copy kernels (vkCmdCopyBuffer, vkCmdUpdateBuffer), recognised by their code.
#pragma once

#include <stdbool.h>

#include "../observer.h"

// Whether the job is such a copy, and is now done. One with an address that would fault is not: executing it tells why.
bool mx_copy_run(const struct mx_job *job, const struct mx_program *program, const struct mx_observer *observer);
