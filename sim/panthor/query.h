// SPDX-License-Identifier: MIT
// What the driver tells about itself and the GPU. The lock is held around every call.
#pragma once

#include <stdint.h>

#include "ioctl.h"

ps_ioctl_handler ps_query_version, ps_query_cap, ps_query_set_client_cap, ps_query_device, ps_query_set_mmio_offset;

uint64_t ps_query_mmio_offset(void); // file offset of the registers that a program may map
