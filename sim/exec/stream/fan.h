// SPDX-License-Identifier: MIT
// Several observers as one: each is told in the order in which they were added.
#pragma once

#include "../observer.h"

#define MX_FAN_MAX 4

struct mx_fan {
    struct mx_observer observer;
    const struct mx_observer *parts[MX_FAN_MAX];
    uint32_t count;
};

void mx_fan_add(struct mx_fan *fan, const struct mx_observer *observer); // at most MX_FAN_MAX

// What the core is to be given: NULL when there is none. Lives as long as the fan, and the observers.
const struct mx_observer *mx_fan_observer(struct mx_fan *fan);
