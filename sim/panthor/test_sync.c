// SPDX-License-Identifier: MIT
// Synchronisation objects without any job.
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#define FOR_SUBMIT DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT

static int array_call(int node, unsigned long request, uint32_t handle) {
    struct drm_syncobj_array array = {.handles = (uintptr_t)&handle, .count_handles = 1};
    return call(node, request, &array);
}

static int timeline_signal(int node, uint32_t handle, uint64_t point) {
    struct drm_syncobj_timeline_array array = {
        .handles = (uintptr_t)&handle, .points = (uintptr_t)&point, .count_handles = 1};
    return call(node, DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, &array);
}

static uint64_t query(int node, uint32_t handle) {
    uint64_t point = UINT64_MAX;
    struct drm_syncobj_timeline_array array = {
        .handles = (uintptr_t)&handle, .points = (uintptr_t)&point, .count_handles = 1};
    CHECK_EQUAL(call(node, DRM_IOCTL_SYNCOBJ_QUERY, &array), 0);
    return point;
}

static void run_binary(int node) {
    uint32_t done = sync_new(node, true), open = sync_new(node, false);
    CHECK_EQUAL(sync_wait(node, done, 0, 0, 0), 0);
    CHECK_EQUAL(sync_wait(node, open, 0, 0, 1000), -EINVAL); // nothing was submitted
    int64_t start = now_ms();
    CHECK_EQUAL(sync_wait(node, open, 0, FOR_SUBMIT, 60), -ETIME);
    CHECK(now_ms() - start >= 59 && now_ms() - start < 2000);
    CHECK_EQUAL(array_call(node, DRM_IOCTL_SYNCOBJ_SIGNAL, open), 0);
    CHECK_EQUAL(sync_wait(node, open, 0, 0, 0), 0);
    CHECK_EQUAL(array_call(node, DRM_IOCTL_SYNCOBJ_RESET, open), 0);
    CHECK_EQUAL(sync_wait(node, open, 0, 0, 0), -EINVAL);
    CHECK_EQUAL(array_call(node, DRM_IOCTL_SYNCOBJ_SIGNAL, 99), -ENOENT);
    struct drm_syncobj_destroy destroy = {.handle = open};
    CHECK_EQUAL(call(node, DRM_IOCTL_SYNCOBJ_DESTROY, &destroy), 0);
    CHECK_EQUAL(call(node, DRM_IOCTL_SYNCOBJ_DESTROY, &destroy), -EINVAL);
    CHECK_EQUAL(sync_wait(node, open, 0, 0, 0), -ENOENT);
}

static void run_any_and_all(int node) {
    uint32_t handles[2] = {sync_new(node, false), sync_new(node, true)};
    struct drm_syncobj_wait wait = {.handles = (uintptr_t)handles, .count_handles = 2, .flags = FOR_SUBMIT};
    CHECK_EQUAL(call(node, DRM_IOCTL_SYNCOBJ_WAIT, &wait), 0);
    CHECK_EQUAL(wait.first_signaled, 1);
    wait.flags |= DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL;
    CHECK_EQUAL(call(node, DRM_IOCTL_SYNCOBJ_WAIT, &wait), -ETIME);
    wait.count_handles = 0;
    CHECK_EQUAL(call(node, DRM_IOCTL_SYNCOBJ_WAIT, &wait), -EINVAL);
}

static void run_timeline(int node) {
    uint32_t line = sync_new(node, false), copy = sync_new(node, false);
    CHECK_EQUAL(timeline_signal(node, line, 5), 0);
    CHECK_EQUAL(query(node, line), 5);
    CHECK_EQUAL(sync_wait(node, line, 5, 0, 0), 0);
    CHECK_EQUAL(sync_wait(node, line, 3, 0, 0), 0);
    CHECK_EQUAL(sync_wait(node, line, 6, 0, 0), -EINVAL);
    CHECK_EQUAL(sync_wait(node, line, 6, FOR_SUBMIT, 10), -ETIME);
    struct drm_syncobj_transfer transfer = {.src_handle = line, .dst_handle = copy, .src_point = 6, .dst_point = 2};
    CHECK_EQUAL(call(node, DRM_IOCTL_SYNCOBJ_TRANSFER, &transfer), -EINVAL);
    transfer.src_point = 5;
    CHECK_EQUAL(call(node, DRM_IOCTL_SYNCOBJ_TRANSFER, &transfer), 0);
    CHECK_EQUAL(query(node, copy), 2);
    CHECK_EQUAL(array_call(node, DRM_IOCTL_SYNCOBJ_RESET, line), 0);
    CHECK_EQUAL(query(node, line), 0);
}

static void run_files(int node) {
    uint32_t line = sync_new(node, false);
    struct drm_syncobj_handle out = {.handle = line};
    CHECK_EQUAL(call(node, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &out), 0);
    struct drm_syncobj_handle in = {.fd = out.fd};
    CHECK_EQUAL(call(node, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &in), 0);
    CHECK(in.handle != line);
    CHECK_EQUAL(timeline_signal(node, line, 9), 0);
    CHECK_EQUAL(query(node, in.handle), 9); // one object, two handles
    struct drm_syncobj_handle fence = {.handle = line, .flags = DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE};
    CHECK_EQUAL(call(node, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &fence), 0);
    struct drm_syncobj_handle into = {
        .handle = sync_new(node, false), .fd = fence.fd, .flags = DRM_SYNCOBJ_FD_TO_HANDLE_FLAGS_IMPORT_SYNC_FILE};
    CHECK_EQUAL(call(node, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &into), 0);
    CHECK_EQUAL(sync_wait(node, into.handle, 0, 0, 0), 0);
    struct drm_syncobj_handle foreign = {.fd = open("/dev/null", O_RDONLY)};
    CHECK_EQUAL(call(node, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &foreign), -EINVAL);
    fence.handle = sync_new(node, false);
    CHECK_EQUAL(call(node, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &fence), -EINVAL); // there is no fence to export
    // A program built with older headers gives a shorter argument.
    struct {
        uint32_t handle, flags;
        int32_t fd;
        uint32_t pad;
    } old = {.handle = line};
    _Static_assert(sizeof old < sizeof(struct drm_syncobj_handle), "not the older argument");
    CHECK_EQUAL(call(node, _IOWR('d', 0xc1, __typeof__(old)), &old), 0);
    CHECK(old.fd > 0);
}

struct late {
    int node;
    uint32_t handle;
};

static void *signal_late(void *argument) {
    const struct late *late = argument;
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    CHECK_EQUAL(timeline_signal(late->node, late->handle, 4), 0);
    return NULL;
}

static void run_wake(int node) {
    struct late late = {node, sync_new(node, false)};
    pthread_t thread;
    int64_t start = now_ms();
    CHECK_EQUAL(pthread_create(&thread, NULL, signal_late, &late), 0);
    CHECK_EQUAL(sync_wait(node, late.handle, 4, FOR_SUBMIT, -1), 0);
    CHECK(now_ms() - start >= 49);
    pthread_join(thread, NULL);
}

const struct test sync_tests[] = {{.name = "syncobj: binary", .run = run_binary},
                                  {.name = "syncobj: any and all", .run = run_any_and_all},
                                  {.name = "syncobj: timeline", .run = run_timeline},
                                  {.name = "syncobj: files", .run = run_files},
                                  {.name = "syncobj: woken by another thread", .run = run_wake},
                                  {0}};
