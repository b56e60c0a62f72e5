/* SPDX-License-Identifier: MIT
 *
 * A slow GPU. The driver below works at its own speed; TRIAL_DELAY_MS holds back the *news*: each submission counts as
 * over that long after it was made or, if that is later, after the one before it was over. Waits sleep (and time out),
 * counters and fences show the past.
 */
#include "trial.h"

#include <stdlib.h>
#include <time.h>

/* Signals in the order made. For each handle those over are dropped except the newest, which says how far it came. */
static struct signal { uint64_t handle, value, ready_ns; } * signals;
static size_t count, capacity;

uint64_t trial_delay_submit(struct trial_device *device) {
    if (trial_config.delay_ms == 0) {
        return 0;
    }
    trial_table_lock();
    uint64_t now_ns = trial_log_now_ns();
    uint64_t begin_ns = device->queue_ready_ns > now_ns ? device->queue_ready_ns : now_ns;
    device->queue_ready_ns = begin_ns + trial_config.delay_ms * 1000000ull;
    uint64_t ready_ns = device->queue_ready_ns;
    trial_table_unlock();
    return ready_ns;
}

/* Drops what is over and superseded. The caller holds the lock. */
static void sweep(uint64_t handle, uint64_t now_ns) {
    size_t kept = 0;
    bool newer_over = false;
    for (size_t i = count; i-- > 0;) {
        bool over = signals[i].handle == handle && signals[i].ready_ns <= now_ns;
        signals[i].handle = over && newer_over ? 0 : signals[i].handle;
        newer_over |= over;
    }
    for (size_t i = 0; i < count; i++) {
        if (signals[i].handle != 0) {
            signals[kept++] = signals[i];
        }
    }
    count = kept;
}

void trial_delay_signal(uint64_t handle, uint64_t value, uint64_t ready_ns) {
    if (trial_config.delay_ms == 0) {
        return;
    }
    trial_table_lock();
    sweep(handle, trial_log_now_ns());
    if (count == capacity) {
        size_t wanted = capacity != 0 ? 2 * capacity : 64;
        struct signal *grown = realloc(signals, wanted * sizeof *signals);
        signals = grown != NULL ? grown : signals;
        capacity = grown != NULL ? wanted : capacity;
    }
    if (count < capacity) {
        signals[count++] = (struct signal){handle, value, ready_ns};
    }
    trial_table_unlock();
}

void trial_delay_forget(uint64_t handle) {
    size_t kept = 0;
    trial_table_lock();
    for (size_t i = 0; i < count; i++) {
        if (signals[i].handle != handle) {
            signals[kept++] = signals[i];
        }
    }
    count = kept;
    trial_table_unlock();
}

uint64_t trial_delay_ready(uint64_t handle, uint64_t value) {
    uint64_t ready_ns = 0;
    trial_table_lock();
    for (size_t i = 0; i < count && ready_ns == 0; i++) {
        if (signals[i].handle == handle && signals[i].value >= value) {
            ready_ns = signals[i].ready_ns;
        }
    }
    trial_table_unlock();
    return ready_ns;
}

uint64_t trial_delay_visible(uint64_t handle, uint64_t value) {
    uint64_t over = 0, now_ns = trial_log_now_ns();
    bool pending = false;
    trial_table_lock();
    for (size_t i = 0; i < count; i++) {
        if (signals[i].handle == handle) {
            bool later = signals[i].ready_ns > now_ns;
            pending |= later;
            over = later ? over : signals[i].value;
        }
    }
    trial_table_unlock();
    return pending && over < value ? over : value;
}

bool trial_delay_sleep(uint64_t ready_ns, uint64_t *timeout_ns) {
    uint64_t now_ns = trial_log_now_ns();
    if (ready_ns <= now_ns || ready_ns == UINT64_MAX) {
        return true;
    }
    uint64_t rest_ns = ready_ns - now_ns;
    bool in_time = rest_ns <= *timeout_ns;
    uint64_t sleep_ns = in_time ? rest_ns : *timeout_ns;
    struct timespec span = {.tv_sec = (time_t)(sleep_ns / 1000000000ull), .tv_nsec = (long)(sleep_ns % 1000000000ull)};
    while (nanosleep(&span, &span) != 0) {
    }
    *timeout_ns -= *timeout_ns != UINT64_MAX ? sleep_ns : 0;
    return in_time;
}
