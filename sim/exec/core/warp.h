// SPDX-License-Identifier: MIT
// Runs warps of a workgroup: which lanes go on together, branches, barriers, ends.
#pragma once

#include "worker.h"

// Executes the workgroup w->group. False: w->fault says why.
bool mx_group_run(struct mx_worker *w, const struct mx_core_options *options);
