// SPDX-License-Identifier: MIT
// The ioctls of the simulated device: one table from number to handler.
#pragma once

#include <stddef.h>
#include <stdint.h>

struct drm_panthor_obj_array;

// A handler gets its argument as the header that we were built with knows it: shorter ones of an older program are
// filled up with zeros, as the kernel does. It runs with the lock held and returns 0 or -errno.
typedef int ps_ioctl_handler(void *argument);

int ps_ioctl_run(unsigned long request, void *argument); // takes the lock

uint64_t ps_ioctl_unknown(void); // how many calls had a number that the table lacks

// Copies an array of objects that another ioctl's argument points to, each made known_bytes long; *copy is to be freed.
// min_bytes: the length of the first version of such an object. 0 or -errno.
int ps_ioctl_copy_array(const struct drm_panthor_obj_array *array, size_t min_bytes, size_t known_bytes, void **copy);
