// SPDX-License-Identifier: MIT
// Lines on stderr, and the two ways in which an ioctl says no. Safe from any thread.
#pragma once

#include <stdint.h>

enum { PS_LOG_ALWAYS = 0, PS_LOG_EVENTS = 1, PS_LOG_CALLS = 2 };

void ps_log(int level, const char *format, ...) __attribute__((format(printf, 2, 3)));

// An answer that the real driver gives, too (wrong handle, no memory): counted, said at PS_LOG_EVENTS. Returns -error.
int ps_log_refuse(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Something that the simulation does not know, so that a result may be worth nothing: always said. Returns -EINVAL.
int ps_log_unknown(const char *format, ...) __attribute__((format(printf, 1, 2)));

uint64_t ps_log_refused(void); // how many of both there were
