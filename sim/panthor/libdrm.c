// SPDX-License-Identifier: MIT
// The functions of libdrm that list devices: they read /sys, where the simulated one is not.

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <xf86drm.h>

#include "gpu.h"
#include "knobs.h"
#include "node.h"

#define EXPORT __attribute__((visibility("default")))

// All that a drmDevice points to, in one piece, so that one free() takes all.
struct device {
    drmDevice head;
    char *nodes[DRM_NODE_MAX];
    char paths[DRM_NODE_MAX][32], compatible[64];
    char *compatibles[2];
    drmPlatformBusInfo bus;
    drmPlatformDeviceInfo platform;
};

static drmDevicePtr device_new(void) {
    struct device *device = calloc(1, sizeof *device);
    if (device == NULL)
        return NULL;
    for (int i = 0; i < DRM_NODE_MAX; i++)
        device->nodes[i] = device->paths[i];
    strcpy(device->paths[DRM_NODE_RENDER], PS_NODE_PATH);
    strcpy(device->bus.fullname, "/soc/gpu@fb000000");
    strncpy(device->compatible, ps_knobs()->gpu->compatible, sizeof device->compatible - 1);
    device->compatibles[0] = device->compatible;
    device->platform.compatible = device->compatibles;
    device->head.nodes = device->nodes;
    device->head.available_nodes = 1 << DRM_NODE_RENDER;
    device->head.bustype = DRM_BUS_PLATFORM;
    device->head.businfo.platform = &device->bus;
    device->head.deviceinfo.platform = &device->platform;
    return &device->head;
}

EXPORT int drmGetDevices2(uint32_t flags, drmDevicePtr devices[], int max_devices) {
    (void)flags;
    if (devices == NULL || max_devices < 1)
        return 1;
    devices[0] = device_new();
    return devices[0] != NULL ? 1 : -ENOMEM;
}

EXPORT int drmGetDevices(drmDevicePtr devices[], int max_devices) {
    return drmGetDevices2(DRM_DEVICE_GET_PCI_REVISION, devices, max_devices);
}

EXPORT int drmGetDevice2(int fd, uint32_t flags, drmDevicePtr *device) {
    (void)flags;
    if (!ps_node_is(fd))
        return -ENODEV;
    *device = device_new();
    return *device != NULL ? 0 : -ENOMEM;
}

EXPORT int drmGetDevice(int fd, drmDevicePtr *device) {
    return drmGetDevice2(fd, DRM_DEVICE_GET_PCI_REVISION, device);
}

EXPORT void drmFreeDevice(drmDevicePtr *device) {
    if (device == NULL)
        return;
    free(*device);
    *device = NULL;
}

EXPORT void drmFreeDevices(drmDevicePtr devices[], int count) {
    for (int i = 0; i < count; i++)
        drmFreeDevice(&devices[i]);
}
