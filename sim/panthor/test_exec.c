// SPDX-License-Identifier: MIT
// Jobs that something executes (mock_exec.c), so that fences are open for a while.
#include "test.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "mock_exec.h"

#define MOCK "PANTHOR_SIM_EXEC=" MOCK_PROGRAM
#define BASE UINT64_C(0x100000) // GPU address of the words
#define FOR_SUBMIT DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT

// An address space with a page of words, and a group.
struct scene {
    int node;
    uint32_t vm, bo, group;
    volatile uint32_t *words; // 64 bytes apart: a stream's alignment
};

static struct scene scene_make(int node) {
    struct scene scene = {.node = node, .vm = vm_new(node), .bo = bo_new(node, 65536)};
    struct drm_panthor_bo_mmap_offset offset = {.handle = scene.bo};
    scene.group = group_new(node, scene.vm);
    CHECK_EQUAL(call(node, DRM_IOCTL_PANTHOR_BO_MMAP_OFFSET, &offset), 0);
    CHECK_EQUAL(vm_map(node, scene.vm, scene.bo, 0, BASE, 4096), 0);
    void *mapped = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, node, (off_t)offset.offset);
    CHECK(mapped != MAP_FAILED);
    scene.words = mapped;
    return scene;
}

static void word_set(const struct scene *scene, uint32_t word, uint32_t value) {
    scene->words[word * 16] = value;
}

static struct drm_panthor_sync_op sync_op(uint32_t handle, uint64_t point, bool signal) {
    uint32_t type = point > 0 ? DRM_PANTHOR_SYNC_OP_HANDLE_TYPE_TIMELINE_SYNCOBJ : 0;
    return (struct drm_panthor_sync_op){
        .flags = type | (signal ? (uint32_t)DRM_PANTHOR_SYNC_OP_SIGNAL : 0), .handle = handle, .timeline_value = point};
}

// A job that ends with that word (0: a mere synchronisation), waits for `wait` (0: nothing) and signals.
static int submit(const struct scene *scene, uint32_t queue, uint32_t word, uint32_t wait, uint32_t signal,
                  uint64_t point) {
    struct drm_panthor_sync_op ops[2] = {sync_op(signal, point, true), sync_op(wait, 0, false)};
    struct drm_panthor_queue_submit job = {.queue_index = queue,
                                           .stream_size = word > 0 ? 64 : 0,
                                           .stream_addr = word > 0 ? BASE + 64 * (uint64_t)word : 0,
                                           .syncs = DRM_PANTHOR_OBJ_ARRAY(wait > 0 ? 2 : 1, ops)};
    struct drm_panthor_group_submit args = {.group_handle = scene->group,
                                            .queue_submits = DRM_PANTHOR_OBJ_ARRAY(1, &job)};
    return call(scene->node, DRM_IOCTL_PANTHOR_GROUP_SUBMIT, &args);
}

static uint32_t state(const struct scene *scene, uint32_t *fatal_queues) {
    struct drm_panthor_group_get_state get = {.group_handle = scene->group};
    CHECK_EQUAL(call(scene->node, DRM_IOCTL_PANTHOR_GROUP_GET_STATE, &get), 0);
    *fatal_queues = get.fatal_queues;
    return get.state;
}

static uint64_t reached(int node, uint32_t handle) {
    uint64_t point = 0;
    struct drm_syncobj_timeline_array query = {
        .handles = (uintptr_t)&handle, .points = (uintptr_t)&point, .count_handles = 1};
    CHECK_EQUAL(call(node, DRM_IOCTL_SYNCOBJ_QUERY, &query), 0);
    return point;
}

// Once, and after a while: nothing is to end by itself.
static void check_open(int node, uint32_t handle, uint64_t point) {
    CHECK_EQUAL(sync_wait(node, handle, point, 0, 0), -ETIME);
    CHECK_EQUAL(sync_wait(node, handle, point, 0, 20), -ETIME);
}

static void run_queue(int node) {
    struct scene scene = scene_make(node);
    uint32_t line = sync_new(node, false), binary = sync_new(node, false);
    CHECK_EQUAL(submit(&scene, 0, 1, 0, line, 1), 0);
    CHECK_EQUAL(submit(&scene, 0, 2, 0, line, 2), 0);
    CHECK_EQUAL(submit(&scene, 0, 0, 0, binary, 0), 0);
    CHECK_EQUAL(submit(&scene, 1, 3, 0, line, 3), 0);
    word_set(&scene, 2, 1);
    word_set(&scene, 3, 1);
    check_open(node, line, 1); // the second job waits for the first one, point 3 for both
    check_open(node, line, 3);
    CHECK_EQUAL(reached(node, line), 0);
    CHECK_EQUAL(sync_wait(node, line, 3, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE, 0), 0);
    check_open(node, binary, 0);
    word_set(&scene, 1, 1);
    CHECK_EQUAL(sync_wait(node, line, 3, 0, -1), 0);
    CHECK_EQUAL(sync_wait(node, binary, 0, 0, -1), 0);
    CHECK_EQUAL(reached(node, line), 3);
}

// What is open is taken over: by a transfer (0: all of a timeline), by a file, by another job's wait.
static void run_pending(int node) {
    struct scene scene = scene_make(node);
    uint32_t line = sync_new(node, false), copy = sync_new(node, false), from_file = sync_new(node, false);
    uint32_t last = sync_new(node, false);
    CHECK_EQUAL(submit(&scene, 0, 1, 0, line, 1), 0);
    CHECK_EQUAL(submit(&scene, 1, 2, 0, line, 2), 0);
    struct drm_syncobj_transfer transfer = {.src_handle = line, .dst_handle = copy};
    CHECK_EQUAL(call(node, DRM_IOCTL_SYNCOBJ_TRANSFER, &transfer), 0);
    struct drm_syncobj_array reset = {.handles = (uintptr_t)&line, .count_handles = 1};
    CHECK_EQUAL(call(node, DRM_IOCTL_SYNCOBJ_RESET, &reset), 0);
    struct drm_syncobj_handle out = {.handle = copy, .flags = DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE};
    CHECK_EQUAL(call(node, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &out), 0);
    struct drm_syncobj_handle in = {
        .handle = from_file, .fd = out.fd, .flags = DRM_SYNCOBJ_FD_TO_HANDLE_FLAGS_IMPORT_SYNC_FILE};
    CHECK_EQUAL(call(node, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &in), 0);
    CHECK_EQUAL(submit(&scene, 0, 3, from_file, last, 7), 0);
    word_set(&scene, 1, 1);
    word_set(&scene, 3, 1);
    check_open(node, copy, 0);
    check_open(node, from_file, 0);
    check_open(node, last, 7);
    word_set(&scene, 2, 1);
    CHECK_EQUAL(sync_wait(node, last, 7, 0, -1), 0);
    CHECK_EQUAL(sync_wait(node, copy, 0, 0, 0), 0);
    CHECK_EQUAL(sync_wait(node, from_file, 0, 0, 0), 0);
    CHECK_EQUAL(sync_wait(node, line, 0, 0, 0), -EINVAL); // it was reset
    close(out.fd);
}

struct late {
    struct scene scene;
    uint32_t line;
};

static void *submit_late(void *argument) {
    const struct late *late = argument;
    nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
    CHECK_EQUAL(submit(&late->scene, 0, 1, 0, late->line, 4), 0);
    nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
    word_set(&late->scene, 1, 1);
    return NULL;
}

static void run_wait_before(int node) {
    struct late late = {scene_make(node), sync_new(node, false)};
    pthread_t thread;
    int64_t start = now_ms();
    CHECK_EQUAL(pthread_create(&thread, NULL, submit_late, &late), 0);
    CHECK_EQUAL(sync_wait(node, late.line, 4, FOR_SUBMIT, -1), 0);
    CHECK(now_ms() - start >= 58);
    pthread_join(thread, NULL);
}

// Its fence is signalled, the group dead, what waits in it ends unexecuted; other groups go on.
static void run_fault(int node) {
    struct scene scene = scene_make(node), other = scene;
    uint32_t open = sync_new(node, false), line = sync_new(node, false), behind = sync_new(node, false), fatal;
    other.group = group_new(node, scene.vm);
    CHECK_EQUAL(submit(&other, 0, 4, 0, open, 0), 0);
    CHECK_EQUAL(submit(&scene, 1, 1, 0, line, 1), 0);
    CHECK_EQUAL(submit(&scene, 0, 2, open, behind, 0), 0);
    check_open(node, line, 1);
    CHECK_EQUAL(state(&scene, &fatal), 0);
    word_set(&scene, 1, 0x44);
    CHECK_EQUAL(sync_wait(node, line, 1, 0, -1), 0);
    CHECK_EQUAL(sync_wait(node, behind, 0, 0, -1), 0);
    CHECK_EQUAL(state(&scene, &fatal), DRM_PANTHOR_GROUP_STATE_FATAL_FAULT);
    CHECK_EQUAL(fatal, 1 << 1);
    CHECK_EQUAL(submit(&scene, 0, 3, 0, line, 2), -EINVAL);
    check_open(node, open, 0);
    CHECK_EQUAL(state(&other, &fatal), 0);
    word_set(&scene, 4, 1);
    CHECK_EQUAL(sync_wait(node, open, 0, 0, -1), 0);
}

// A mapping that waits for a job is not there before; a job that waits for the mapping finds it.
static void run_bind(int node) {
    struct scene scene = scene_make(node);
    uint32_t first = sync_new(node, false), bound = sync_new(node, false), last = sync_new(node, false), fatal;
    CHECK_EQUAL(submit(&scene, 0, 1, 0, first, 0), 0);
    struct drm_panthor_sync_op ops[2] = {sync_op(first, 0, false), sync_op(bound, 0, true)};
    struct drm_panthor_vm_bind_op swap[2] = {
        {.flags = DRM_PANTHOR_VM_BIND_OP_TYPE_UNMAP, .va = BASE, .size = 4096},
        {.flags = DRM_PANTHOR_VM_BIND_OP_TYPE_MAP, .va = BASE, .size = 4096, .bo_handle = scene.bo, .bo_offset = 4096}};
    swap[0].syncs = (struct drm_panthor_obj_array)DRM_PANTHOR_OBJ_ARRAY(1, &ops[0]);
    swap[1].syncs = (struct drm_panthor_obj_array)DRM_PANTHOR_OBJ_ARRAY(1, &ops[1]);
    CHECK_EQUAL(vm_bind(node, scene.vm, DRM_PANTHOR_VM_BIND_ASYNC, swap, 2), 0);
    CHECK_EQUAL(submit(&scene, 1, 2, bound, last, 1), 0);
    word_set(&scene, 64 + 2, 1); // in the other page
    check_open(node, bound, 0);
    check_open(node, last, 1);
    word_set(&scene, 1, 1);
    CHECK_EQUAL(sync_wait(node, last, 1, 0, -1), 0);
    CHECK_EQUAL(state(&scene, &fatal), 0);
}

static void run_destroy(int node) {
    struct scene scene = scene_make(node);
    uint32_t line = sync_new(node, false), never = sync_new(node, false);
    CHECK_EQUAL(submit(&scene, 0, 1, 0, line, 1), 0);
    CHECK_EQUAL(submit(&scene, 1, 2, line, never, 0), 0);
    check_open(node, line, 1);
    struct drm_panthor_group_destroy destroy = {.group_handle = scene.group};
    CHECK_EQUAL(call(node, DRM_IOCTL_PANTHOR_GROUP_DESTROY, &destroy), 0);
    CHECK_EQUAL(sync_wait(node, line, 1, 0, 0), 0);
    CHECK_EQUAL(sync_wait(node, never, 0, 0, 0), 0);
}

static void run_death(int node) {
    struct scene scene = scene_make(node), other = scene;
    uint32_t line = sync_new(node, false), fatal;
    other.group = group_new(node, scene.vm);
    CHECK_EQUAL(submit(&scene, 0, 1, 0, line, 1), 0);
    check_open(node, line, 1);
    word_set(&scene, 1, MOCK_DIES);
    CHECK_EQUAL(sync_wait(node, line, 1, 0, -1), 0);
    CHECK_EQUAL(state(&scene, &fatal), DRM_PANTHOR_GROUP_STATE_FATAL_FAULT);
    CHECK_EQUAL(submit(&other, 0, 1, 0, line, 2), 0);
    CHECK_EQUAL(sync_wait(node, line, 2, 0, 0), 0);
    CHECK_EQUAL(state(&other, &fatal), DRM_PANTHOR_GROUP_STATE_FATAL_FAULT);
}

static void after_death(const struct outcome *outcome) {
    CHECK(test_ended_well(outcome));
    CHECK(strstr(outcome->errors, "mali-exec has ended too early") != NULL);
    CHECK(strchr(outcome->errors, '\n') == strrchr(outcome->errors, '\n')); // one line
}

static void run_nothing(int node) {
    CHECK(node >= 0);
}

static void after_missing(const struct outcome *outcome) {
    CHECK(WIFEXITED(outcome->status) && WEXITSTATUS(outcome->status) == 2);
    CHECK(strstr(outcome->errors, "PANTHOR_SIM_EXEC=/nowhere/mali-exec: it cannot be started") != NULL);
}

static void after_goodbye(const struct outcome *outcome) {
    char *end;
    const char *text = strstr(outcome->errors, "goodbye from ");
    CHECK(test_ended_well(outcome));
    CHECK(text != NULL && strtol(text + strlen("goodbye from "), &end, 10) > 1 && *end == '\n');
}

const struct test exec_tests[] = {
    {.name = "exec: order in a queue and on a timeline", .environment = {MOCK}, .run = run_queue},
    {.name = "exec: open fences are taken over", .environment = {MOCK}, .run = run_pending},
    {.name = "exec: wait before submission", .environment = {MOCK}, .run = run_wait_before},
    {.name = "exec: fault", .environment = {MOCK}, .run = run_fault},
    {.name = "exec: asynchronous VM_BIND", .environment = {MOCK}, .run = run_bind},
    {.name = "exec: group destroyed", .environment = {MOCK}, .run = run_destroy},
    {.name = "exec: its death", .environment = {MOCK}, .run = run_death, .after = after_death},
    {.name = "exec: missing",
     .environment = {"PANTHOR_SIM_EXEC=/nowhere/mali-exec"},
     .run = run_nothing,
     .after = after_missing},
    {.name = "exec: options, goodbye",
     .environment = {MOCK, "PANTHOR_SIM_EXEC_OPTIONS=--slow %p"},
     .run = run_nothing,
     .after = after_goodbye},
    {0}};
