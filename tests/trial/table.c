/* SPDX-License-Identifier: MIT
 *
 * The instances and devices alive. The loader puts the same pointer at the start of an instance and its physical
 * devices, and of a device, its queues and its command buffers: that pointer is the key.
 */
#include "trial.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct trial_instance *instances;
static struct trial_device *devices;

void trial_table_lock(void) {
    pthread_mutex_lock(&mutex);
}

void trial_table_unlock(void) {
    pthread_mutex_unlock(&mutex);
}

static void *key_of(const void *dispatchable) {
    return *(void *const *)dispatchable;
}

static void die(const char *what) {
    fprintf(stderr,
            "trial: a call came for a %s that was never created or is destroyed: the program or the loader is "
            "broken\n",
            what);
    abort();
}

void trial_table_add_instance(struct trial_instance *instance) {
    instance->key = key_of(instance->handle);
    trial_table_lock();
    instance->link = instances;
    instances = instance;
    trial_table_unlock();
}

void trial_table_add_device(struct trial_device *device) {
    device->key = key_of(device->handle);
    trial_table_lock();
    device->link = devices;
    devices = device;
    trial_table_unlock();
}

/* The place that points to the entry, so that it can be taken out. The caller holds the lock. */
static struct trial_instance **instance_place(const void *dispatchable) {
    struct trial_instance **place = &instances;
    while (*place != NULL && (*place)->key != key_of(dispatchable)) {
        place = &(*place)->link;
    }
    return place;
}

static struct trial_device **device_place(const void *dispatchable) {
    struct trial_device **place = &devices;
    while (*place != NULL && (*place)->key != key_of(dispatchable)) {
        place = &(*place)->link;
    }
    return place;
}

struct trial_instance *trial_table_instance(const void *dispatchable) {
    trial_table_lock();
    struct trial_instance *found = *instance_place(dispatchable);
    trial_table_unlock();
    if (found == NULL) {
        die("Vulkan instance");
    }
    return found;
}

struct trial_device *trial_table_device(const void *dispatchable) {
    trial_table_lock();
    struct trial_device *found = *device_place(dispatchable);
    trial_table_unlock();
    if (found == NULL) {
        die("Vulkan device");
    }
    return found;
}

struct trial_instance *trial_table_take_instance(const void *dispatchable) {
    trial_table_lock();
    struct trial_instance **place = instance_place(dispatchable), *found = *place;
    if (found != NULL) {
        *place = found->link;
    }
    trial_table_unlock();
    return found;
}

struct trial_device *trial_table_take_device(const void *dispatchable) {
    trial_table_lock();
    struct trial_device **place = device_place(dispatchable), *found = *place;
    if (found != NULL) {
        *place = found->link;
    }
    trial_table_unlock();
    return found;
}
