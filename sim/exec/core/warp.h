// SPDX-License-Identifier: MIT
// Runs warps of a workgroup: which lanes go on together, branches, barriers, ends.
#pragma once

#include "worker.h"

// Executes the workgroups w->groups, side by side when messages are interleaved. False: w->fault says why.
bool mx_groups_run(struct mx_worker *w, const struct mx_core_options *options);
