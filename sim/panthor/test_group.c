// SPDX-License-Identifier: MIT
// Submissions: well, to a device that is lost, and with a job that hangs.
#include "test.h"

#include <errno.h>
#include <string.h>

#define STREAM UINT64_C(0x10000)
#define FATAL DRM_PANTHOR_GROUP_STATE_FATAL_FAULT
#define TIMED_OUT DRM_PANTHOR_GROUP_STATE_TIMEDOUT

static struct drm_panthor_sync_op op_signal(uint32_t handle, uint64_t point) {
    return (struct drm_panthor_sync_op){.flags = (uint32_t)DRM_PANTHOR_SYNC_OP_SIGNAL |
                                                 (point > 0 ? DRM_PANTHOR_SYNC_OP_HANDLE_TYPE_TIMELINE_SYNCOBJ : 0),
                                        .handle = handle,
                                        .timeline_value = point};
}

static struct drm_panthor_sync_op op_wait(uint32_t handle, uint64_t point) {
    struct drm_panthor_sync_op op = op_signal(handle, point);
    op.flags &= ~(uint32_t)DRM_PANTHOR_SYNC_OP_SIGNAL;
    return op;
}

// One job with a command stream (or none, for a mere synchronisation) and up to two sync operations.
static int submit(int node, uint32_t group, uint32_t queue, bool stream, const struct drm_panthor_sync_op *ops,
                  uint32_t count) {
    struct drm_panthor_queue_submit job = {.queue_index = queue,
                                           .stream_size = stream ? 64 : 0,
                                           .stream_addr = stream ? STREAM : 0,
                                           .syncs = DRM_PANTHOR_OBJ_ARRAY(count, ops)};
    struct drm_panthor_group_submit call_args = {.group_handle = group,
                                                 .queue_submits = DRM_PANTHOR_OBJ_ARRAY(1, &job)};
    return call(node, DRM_IOCTL_PANTHOR_GROUP_SUBMIT, &call_args);
}

static int submit_signal(int node, uint32_t group, uint32_t queue, uint32_t sync, uint64_t point) {
    struct drm_panthor_sync_op op = op_signal(sync, point);
    return submit(node, group, queue, true, &op, 1);
}

static uint32_t state(int node, uint32_t group, uint32_t *fatal_queues) {
    struct drm_panthor_group_get_state get = {.group_handle = group};
    CHECK_EQUAL(call(node, DRM_IOCTL_PANTHOR_GROUP_GET_STATE, &get), 0);
    *fatal_queues = get.fatal_queues;
    return get.state;
}

static int group_destroy(int node, uint32_t group) {
    struct drm_panthor_group_destroy destroy = {.group_handle = group};
    return call(node, DRM_IOCTL_PANTHOR_GROUP_DESTROY, &destroy);
}

static void run_submit(int node) {
    uint32_t group = group_new(node, vm_new(node)), sync = sync_new(node, false), none = sync_new(node, false), fatal;
    CHECK_EQUAL(submit_signal(node, group, 0, sync, 7), 0);
    CHECK_EQUAL(sync_wait(node, sync, 7, 0, 0), 0);
    CHECK_EQUAL(state(node, group, &fatal), 0);
    CHECK_EQUAL(submit_signal(node, group, 2, sync, 8), -EINVAL); // it has two queues
    CHECK_EQUAL(submit_signal(node, group + 1, 0, sync, 8), -EINVAL);
    struct drm_panthor_sync_op ops[2] = {op_wait(none, 0), op_signal(sync, 8)};
    CHECK_EQUAL(submit(node, group, 0, true, ops, 2), -EINVAL);
    CHECK_EQUAL(sync_wait(node, sync, 8, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT, 0), -ETIME);
    // The second job of a call may wait for what the first one signals.
    struct drm_panthor_sync_op first = op_signal(none, 0), second = op_wait(none, 0);
    struct drm_panthor_queue_submit jobs[2] = {{.syncs = DRM_PANTHOR_OBJ_ARRAY(1, &first)},
                                               {.queue_index = 1, .syncs = DRM_PANTHOR_OBJ_ARRAY(1, &second)}};
    struct drm_panthor_group_submit both = {.group_handle = group, .queue_submits = DRM_PANTHOR_OBJ_ARRAY(2, jobs)};
    CHECK_EQUAL(call(node, DRM_IOCTL_PANTHOR_GROUP_SUBMIT, &both), 0);
    CHECK_EQUAL(group_destroy(node, group), 0);
    CHECK_EQUAL(group_destroy(node, group), -EINVAL);
}

static void after_submit(const struct outcome *outcome) {
    CHECK(test_ended_well(outcome));
    CHECK_EQUAL(test_report_number(outcome, "submissions"), 2);
    CHECK_EQUAL(test_report_number(outcome, "queue_submits"), 3);
    CHECK_EQUAL(test_report_number(outcome, "stream_bytes"), 64);
}

static void run_group_refusals(int node) {
    uint32_t vm = vm_new(node);
    struct drm_panthor_queue_create queue = {.ringbuf_size = 65536};
    struct drm_panthor_group_create good = {.queues = DRM_PANTHOR_OBJ_ARRAY(1, &queue), .vm_id = vm}, bad = good;
    CHECK_EQUAL(call(node, DRM_IOCTL_PANTHOR_GROUP_CREATE, &bad), 0);
    bad = good;
    bad.vm_id = vm + 1;
    CHECK_EQUAL(call(node, DRM_IOCTL_PANTHOR_GROUP_CREATE, &bad), -EINVAL);
    bad = good;
    bad.compute_core_mask = 0x2; // the RK3588 has cores 0, 2, 16 and 18
    CHECK_EQUAL(call(node, DRM_IOCTL_PANTHOR_GROUP_CREATE, &bad), -EINVAL);
    bad = good;
    bad.priority = PANTHOR_GROUP_PRIORITY_HIGH;
    CHECK_EQUAL(call(node, DRM_IOCTL_PANTHOR_GROUP_CREATE, &bad), -EACCES);
    queue.ringbuf_size = 5000;
    bad = good;
    CHECK_EQUAL(call(node, DRM_IOCTL_PANTHOR_GROUP_CREATE, &bad), -EINVAL);
    bad = good;
    bad.queues.stride = 4;
    CHECK_EQUAL(call(node, DRM_IOCTL_PANTHOR_GROUP_CREATE, &bad), -EINVAL);
    bad = good;
    bad.queues.array = 0;
    CHECK_EQUAL(call(node, DRM_IOCTL_PANTHOR_GROUP_CREATE, &bad), -EFAULT);
}

static void run_tiler(int node) {
    struct drm_panthor_tiler_heap_create create = {.vm_id = vm_new(node),
                                                   .initial_chunk_count = 5,
                                                   .chunk_size = 2 * MIB,
                                                   .max_chunks = 64},
                                         bad = create;
    CHECK_EQUAL(call(node, DRM_IOCTL_PANTHOR_TILER_HEAP_CREATE, &create), 0);
    CHECK(create.tiler_heap_ctx_gpu_va >> 47 == 1 && create.first_heap_chunk_gpu_va >> 47 == 1);
    bad.chunk_size = 4096;
    CHECK_EQUAL(call(node, DRM_IOCTL_PANTHOR_TILER_HEAP_CREATE, &bad), -EINVAL);
    struct drm_panthor_tiler_heap_destroy destroy = {.handle = create.handle};
    CHECK_EQUAL(call(node, DRM_IOCTL_PANTHOR_TILER_HEAP_DESTROY, &destroy), 0);
    CHECK_EQUAL(call(node, DRM_IOCTL_PANTHOR_TILER_HEAP_DESTROY, &destroy), -EINVAL);
}

// The job that faults is accepted and its fence signalled; the group is dead from then on, and so is any new one as
// soon as it works.
static void run_lost(int node) {
    uint32_t vm = vm_new(node), group = group_new(node, vm), sync = sync_new(node, false), fatal;
    CHECK_EQUAL(submit_signal(node, group, 0, sync, 1), 0);
    CHECK_EQUAL(state(node, group, &fatal), 0);
    CHECK_EQUAL(submit_signal(node, group, 1, sync, 2), 0);
    CHECK_EQUAL(sync_wait(node, sync, 2, 0, 0), 0);
    CHECK_EQUAL(state(node, group, &fatal), FATAL);
    CHECK_EQUAL(fatal, 1 << 1);
    CHECK_EQUAL(submit_signal(node, group, 0, sync, 3), -EINVAL);
    uint32_t again = group_new(node, vm);
    CHECK_EQUAL(submit(node, again, 0, false, NULL, 0), 0);
    CHECK_EQUAL(state(node, again, &fatal), 0);
    CHECK_EQUAL(submit_signal(node, again, 0, sync, 3), 0);
    CHECK_EQUAL(state(node, again, &fatal), FATAL);
}

static void after_lost(const struct outcome *outcome) {
    CHECK(test_ended_well(outcome));
    CHECK(strstr(outcome->report, "\"lost\": true") != NULL && strstr(outcome->report, "\"hung\": false") != NULL);
}

// Nobody sees the end before the kernel's time is up: not the job's waiter, nor what comes after it in its queue, nor
// what waits for it elsewhere. Others go on.
static void run_hung(int node) {
    uint32_t vm = vm_new(node), group = group_new(node, vm), other = group_new(node, vm), fatal;
    uint32_t hung = sync_new(node, false), later = sync_new(node, false), behind = sync_new(node, false);
    uint32_t free_sync = sync_new(node, false), bound = sync_new(node, false);
    CHECK_EQUAL(submit_signal(node, group, 0, hung, 1), 0);
    int64_t start = now_ms();
    CHECK_EQUAL(submit_signal(node, group, 0, hung, 2), 0);
    CHECK_EQUAL(submit_signal(node, group, 0, later, 0), 0);
    struct drm_panthor_sync_op ops[2] = {op_wait(hung, 2), op_signal(behind, 0)},
                               bind_ops[2] = {ops[0], op_signal(bound, 0)};
    CHECK_EQUAL(submit(node, other, 0, true, ops, 2), 0);
    CHECK_EQUAL(submit_signal(node, other, 1, free_sync, 0), 0);
    struct drm_panthor_vm_bind_op bind = {.flags = (uint32_t)DRM_PANTHOR_VM_BIND_OP_TYPE_SYNC_ONLY,
                                          .syncs = DRM_PANTHOR_OBJ_ARRAY(2, bind_ops)};
    CHECK_EQUAL(vm_bind(node, vm, DRM_PANTHOR_VM_BIND_ASYNC, &bind, 1), 0);
    // A point after the hung one is not reached either, though its own job is done.
    CHECK_EQUAL(submit_signal(node, other, 1, hung, 3), 0);
    CHECK_EQUAL(sync_wait(node, hung, 3, 0, 0), -ETIME);
    CHECK_EQUAL(sync_wait(node, hung, 1, 0, 0), 0);
    CHECK_EQUAL(sync_wait(node, hung, 2, 0, 50), -ETIME);
    CHECK_EQUAL(sync_wait(node, hung, 2, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE, 0), 0);
    CHECK_EQUAL(sync_wait(node, later, 0, 0, 0), -ETIME);
    CHECK_EQUAL(sync_wait(node, behind, 0, 0, 0), -ETIME);
    CHECK_EQUAL(sync_wait(node, bound, 0, 0, 0), -ETIME);
    CHECK_EQUAL(sync_wait(node, free_sync, 0, 0, 0), 0);
    CHECK_EQUAL(state(node, group, &fatal), 0);
    CHECK_EQUAL(sync_wait(node, behind, 0, 0, -1), 0);
    CHECK(now_ms() - start >= 299 && now_ms() - start < 3000);
    CHECK_EQUAL(sync_wait(node, hung, 2, 0, 0), 0);
    CHECK_EQUAL(sync_wait(node, later, 0, 0, 0), 0);
    CHECK_EQUAL(state(node, group, &fatal), TIMED_OUT);
    CHECK_EQUAL(fatal, 0);
    CHECK_EQUAL(submit_signal(node, group, 0, hung, 4), -EINVAL);
    CHECK_EQUAL(state(node, other, &fatal), 0);
    CHECK_EQUAL(submit_signal(node, other, 0, hung, 4), 0);
    CHECK_EQUAL(sync_wait(node, hung, 4, 0, 0), 0);
}

// Without a time limit only the end of the group ends the wait. A mere synchronisation does not hang.
static void run_hung_destroyed(int node) {
    uint32_t group = group_new(node, vm_new(node)), sync = sync_new(node, false);
    struct drm_panthor_sync_op op = op_signal(sync, 1);
    CHECK_EQUAL(submit(node, group, 0, false, &op, 1), 0);
    CHECK_EQUAL(sync_wait(node, sync, 1, 0, 0), 0);
    CHECK_EQUAL(submit_signal(node, group, 0, sync, 2), 0);
    CHECK_EQUAL(sync_wait(node, sync, 2, 0, 50), -ETIME);
    CHECK_EQUAL(group_destroy(node, group), 0);
    CHECK_EQUAL(sync_wait(node, sync, 2, 0, 0), 0);
}

static void after_hung(const struct outcome *outcome) {
    CHECK(test_ended_well(outcome));
    CHECK(strstr(outcome->report, "\"hung\": true") != NULL && strstr(outcome->report, "\"lost\": false") != NULL);
}

const struct test group_tests[] = {
    {.name = "submit", .run = run_submit, .after = after_submit},
    {.name = "group: refusals", .run = run_group_refusals},
    {.name = "tiler heap", .run = run_tiler},
    {.name = "lost device", .environment = {"PANTHOR_SIM_LOSE_AT=2"}, .run = run_lost, .after = after_lost},
    {.name = "hung job",
     .environment = {"PANTHOR_SIM_HANG_AT=2", "PANTHOR_SIM_JOB_TIMEOUT_MS=300"},
     .run = run_hung,
     .after = after_hung},
    {.name = "hung job: its group destroyed",
     .environment = {"PANTHOR_SIM_HANG_AT=1", "PANTHOR_SIM_JOB_TIMEOUT_MS=0"},
     .run = run_hung_destroyed,
     .after = after_hung},
    {0}};
