// SPDX-License-Identifier: MIT
// Tiler heaps, which Mesa's driver makes for every device. Only their numbers are simulated: nothing is drawn.
#pragma once

#include <stdint.h>

#include "ioctl.h"

ps_ioctl_handler ps_tiler_create, ps_tiler_destroy;

uint64_t ps_tiler_peak_bytes(void); // of the initial chunks, which the kernel allocates and pins
