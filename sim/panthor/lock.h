// SPDX-License-Identifier: MIT
// One lock over everything that the simulated driver holds, the condition that waiters sleep on, and the clock.
#pragma once

#include <stdbool.h>
#include <stdint.h>

void ps_lock_take(void);
void ps_lock_drop(void);

// For a signal handler, which may have interrupted the holder: tries for a second, then goes on without.
// Returns whether ps_lock_drop is due.
bool ps_lock_take_in_handler(void);

// Sleeps, the lock dropped meanwhile, until ps_lock_wake or until CLOCK_MONOTONIC shows deadline_ns.
void ps_lock_wait(uint64_t deadline_ns);
void ps_lock_wake(void);

uint64_t ps_lock_now_ns(void); // CLOCK_MONOTONIC
