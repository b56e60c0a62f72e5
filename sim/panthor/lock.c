// SPDX-License-Identifier: MIT
#include "lock.h"

#include <pthread.h>
#include <time.h>

#define NS_PER_S UINT64_C(1000000000)

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

void ps_lock_take(void) {
    pthread_mutex_lock(&mutex);
}

void ps_lock_drop(void) {
    pthread_mutex_unlock(&mutex);
}

bool ps_lock_take_in_handler(void) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 1;
    return pthread_mutex_timedlock(&mutex, &until) == 0;
}

void ps_lock_wait(uint64_t deadline_ns) {
    struct timespec until = {.tv_sec = (time_t)(deadline_ns / NS_PER_S), .tv_nsec = (long)(deadline_ns % NS_PER_S)};
    pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &until);
}

void ps_lock_wake(void) {
    pthread_cond_broadcast(&condition);
}

uint64_t ps_lock_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}
