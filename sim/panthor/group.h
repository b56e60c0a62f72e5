// SPDX-License-Identifier: MIT
// Scheduling groups and their queues: submissions, and what goes wrong in them. The lock is held around every call.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ioctl.h"

ps_ioctl_handler ps_group_create, ps_group_destroy, ps_group_submit, ps_group_get_state;

struct ps_group_stats {
    uint64_t groups;        // created
    uint64_t submissions;   // calls of GROUP_SUBMIT that were accepted
    uint64_t queue_submits; // command streams in them, and mere synchronisations
    uint64_t stream_bytes;
    bool lost, hung; // whether LOSE_AT, HANG_AT came to pass
};
const struct ps_group_stats *ps_group_stats(void);
