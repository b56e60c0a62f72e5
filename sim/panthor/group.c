// SPDX-License-Identifier: MIT
#include "group.h"

#include <errno.h>
#include <stdlib.h>

#include <drm/drm.h>
#include <drm/panthor_drm.h>

#include "exec.h"
#include "gpu.h"
#include "knobs.h"
#include "lock.h"
#include "log.h"
#include "sync.h"
#include "vm.h"

#define GROUP_COUNT 129 // the kernel's 128, and 0, which is none
#define QUEUE_COUNT_MAX 32
#define QUEUE_PRIORITY_MAX 15
#define RINGBUF_BYTES_MIN 4096
#define RINGBUF_BYTES_MAX 65536

static struct group {
    bool exists;
    bool timed_out;
    bool hangs; // a job of its does
    uint32_t queue_count;
    uint32_t fatal_queues;   // bits
    uint32_t blocked_queues; // bits: they wait for the hung job
} groups[GROUP_COUNT];

static struct ps_group_stats stats;

static struct group *group_find(uint32_t handle) {
    if (handle == 0 || handle >= GROUP_COUNT || !groups[handle].exists)
        return NULL;
    struct group *group = &groups[handle];
    if (!ps_sync_hung()) {
        group->timed_out |= group->hangs;
        group->hangs = false;
        group->blocked_queues = 0;
    }
    return group;
}

static int check_queue(const struct drm_panthor_queue_create *queue) {
    bool power_of_2 = (queue->ringbuf_size & (queue->ringbuf_size - 1)) == 0;
    if (queue->pad[0] != 0 || queue->pad[1] != 0 || queue->pad[2] != 0)
        return ps_log_refuse(EINVAL, "GROUP_CREATE: a queue with padding");
    if (queue->ringbuf_size < RINGBUF_BYTES_MIN || queue->ringbuf_size > RINGBUF_BYTES_MAX || !power_of_2)
        return ps_log_refuse(EINVAL, "GROUP_CREATE: a ring buffer of %u bytes", queue->ringbuf_size);
    if (queue->priority > QUEUE_PRIORITY_MAX)
        return ps_log_refuse(EINVAL, "GROUP_CREATE: a queue of priority %u", queue->priority);
    return 0;
}

static bool cores_fit(uint64_t mask, uint64_t present, uint32_t max) {
    return (mask & ~present) == 0 && (uint32_t)__builtin_popcountll(mask) >= max;
}

static int check_create(const struct drm_panthor_group_create *create) {
    const struct drm_panthor_gpu_info *info = &ps_knobs()->gpu->info;
    if (create->pad != 0 || create->queues.count == 0 || create->queues.count > QUEUE_COUNT_MAX)
        return ps_log_refuse(EINVAL, "GROUP_CREATE with %u queues, pad %u", create->queues.count, create->pad);
    if (create->priority > PANTHOR_GROUP_PRIORITY_REALTIME)
        return ps_log_refuse(EINVAL, "GROUP_CREATE of priority %u", create->priority);
    if (create->priority > PANTHOR_GROUP_PRIORITY_MEDIUM)
        return ps_log_refuse(EACCES, "GROUP_CREATE of priority %u, for which a user has no right", create->priority);
    if (!cores_fit(create->compute_core_mask, info->shader_present, create->max_compute_cores) ||
        !cores_fit(create->fragment_core_mask, info->shader_present, create->max_fragment_cores) ||
        !cores_fit(create->tiler_core_mask, info->tiler_present, create->max_tiler_cores))
        return ps_log_refuse(EINVAL, "GROUP_CREATE with cores that the GPU lacks");
    if (!ps_vm_exists(create->vm_id))
        return ps_log_refuse(EINVAL, "GROUP_CREATE in VM %u, which does not exist", create->vm_id);
    return 0;
}

static int check_queues(const struct drm_panthor_obj_array *array) {
    void *copy;
    int result = ps_ioctl_copy_array(array, sizeof(struct drm_panthor_queue_create),
                                     sizeof(struct drm_panthor_queue_create), &copy);
    const struct drm_panthor_queue_create *queues = copy;
    for (uint32_t i = 0; result == 0 && i < array->count; i++)
        result = check_queue(&queues[i]);
    free(copy);
    return result;
}

int ps_group_create(void *argument) {
    struct drm_panthor_group_create *create = argument;
    int result = check_create(create);
    if (result == 0)
        result = check_queues(&create->queues);
    if (result != 0)
        return result;
    for (uint32_t handle = 1; handle < GROUP_COUNT; handle++) {
        if (groups[handle].exists)
            continue;
        groups[handle] = (struct group){.exists = true, .queue_count = create->queues.count};
        create->group_handle = handle;
        ps_exec_group(handle, create->vm_id, create->queues.count);
        stats.groups++;
        ps_log(PS_LOG_EVENTS, "group %u: %u queues, VM %u, compute cores 0x%llx", handle, create->queues.count,
               create->vm_id, (unsigned long long)create->compute_core_mask);
        return 0;
    }
    return ps_log_refuse(ENOSPC, "GROUP_CREATE: there are %d groups", GROUP_COUNT - 1);
}

// The kernel cancels what still runs in a group that goes: its fences are signalled.
int ps_group_destroy(void *argument) {
    const struct drm_panthor_group_destroy *destroy = argument;
    struct group *group = group_find(destroy->group_handle);
    if (group == NULL || destroy->pad != 0)
        return ps_log_refuse(EINVAL, "GROUP_DESTROY of %u, pad %u", destroy->group_handle, destroy->pad);
    if (group->hangs)
        ps_sync_hang_end();
    ps_exec_group_gone(destroy->group_handle);
    *group = (struct group){0};
    return 0;
}

int ps_group_get_state(void *argument) {
    struct drm_panthor_group_get_state *get = argument;
    const struct group *group = group_find(get->group_handle);
    if (group == NULL || get->pad != 0)
        return ps_log_refuse(EINVAL, "GROUP_GET_STATE of %u, pad %u", get->group_handle, get->pad);
    get->state = 0;
    if (group->timed_out)
        get->state |= DRM_PANTHOR_GROUP_STATE_TIMEDOUT;
    if (group->fatal_queues != 0)
        get->state |= DRM_PANTHOR_GROUP_STATE_FATAL_FAULT;
    get->fatal_queues = group->fatal_queues;
    return 0;
}

static int check_job(const struct group *group, const struct drm_panthor_queue_submit *job) {
    if (job->pad != 0 || (job->latest_flush & 0x7f000000u) != 0)
        return ps_log_refuse(EINVAL, "GROUP_SUBMIT with pad %u, flush 0x%x", job->pad, job->latest_flush);
    if ((job->stream_size == 0) != (job->stream_addr == 0) || (job->stream_addr & 63) != 0 ||
        (job->stream_size & 7) != 0)
        return ps_log_refuse(EINVAL, "GROUP_SUBMIT of %u bytes at 0x%llx", job->stream_size,
                             (unsigned long long)job->stream_addr);
    if (job->queue_index >= group->queue_count)
        return ps_log_refuse(EINVAL, "GROUP_SUBMIT to queue %u of %u", job->queue_index, group->queue_count);
    return 0;
}

static int check_submit(const struct group *group, const struct drm_panthor_queue_submit *jobs, uint32_t count) {
    if (group->timed_out || group->fatal_queues != 0)
        return ps_log_refuse(EINVAL, "GROUP_SUBMIT to a group that is dead (%s)",
                             group->fatal_queues != 0 ? "fault" : "timed out");
    int result = 0;
    for (uint32_t i = 0; result == 0 && i < count; i++)
        result = check_job(group, &jobs[i]);
    if (result == 0 && count > 0)
        result = ps_sync_check(&jobs->syncs, sizeof *jobs, count);
    return result;
}

static bool goes_wrong(const struct drm_panthor_queue_submit *job) {
    const struct ps_knobs *knobs = ps_knobs();
    bool works = job->stream_size > 0; // a mere synchronisation neither hangs nor faults
    return works && ((knobs->lose_at > 0 && stats.submissions >= knobs->lose_at) ||
                     (!stats.hung && knobs->hang_at > 0 && stats.submissions >= knobs->hang_at));
}

// Hands all jobs over before it waits for the first: those of one queue may wait for what another queue does.
static uint64_t jobs_start(const struct group *group, const struct drm_panthor_queue_submit *jobs, uint32_t count) {
    uint64_t first = 0;
    for (uint32_t i = 0; i < count && ps_exec_on(); i++) {
        bool runs = !goes_wrong(&jobs[i]);
        uint64_t number = ps_exec_submit((uint32_t)(group - groups), jobs[i].queue_index, jobs[i].stream_addr,
                                         runs ? jobs[i].stream_size : 0, jobs[i].latest_flush);
        first = i == 0 ? number : first;
    }
    return first;
}

// The job is done when it returns, unless it hangs or comes after the one that hangs. A job that faults is done, too:
// the kernel signals its fences, with an error that a wait does not show. number: of mali-exec's job; 0: none.
static void run_job(struct group *group, const struct drm_panthor_queue_submit *job, uint64_t number) {
    const struct ps_knobs *knobs = ps_knobs();
    uint32_t queue = UINT32_C(1) << job->queue_index;
    bool works = job->stream_size > 0; // a mere synchronisation neither hangs nor faults
    stats.queue_submits++;
    stats.stream_bytes += job->stream_size;
    if (works && !stats.hung && knobs->hang_at > 0 && stats.submissions >= knobs->hang_at) {
        uint64_t timeout_ns = knobs->job_timeout_ms * 1000000;
        ps_sync_hang_begin(timeout_ns > 0 ? ps_lock_now_ns() + timeout_ns : 0);
        group->hangs = true;
        group->blocked_queues |= queue;
        stats.hung = true;
        ps_log(PS_LOG_EVENTS, "submission %llu hangs", (unsigned long long)stats.submissions);
    }
    if (works && knobs->lose_at > 0 && stats.submissions >= knobs->lose_at) {
        group->fatal_queues |= queue;
        stats.lost = true;
        ps_log(PS_LOG_EVENTS, "submission %llu faults", (unsigned long long)stats.submissions);
    }
    if (number > 0 && ps_exec_wait(number) != 0) {
        group->fatal_queues |= queue;
        stats.faulted = true;
    }
    if (ps_sync_waits_for_hang(&job->syncs))
        group->blocked_queues |= queue;
    ps_sync_run(&job->syncs, group->blocked_queues & queue);
}

int ps_group_submit(void *argument) {
    const struct drm_panthor_group_submit *submit = argument;
    struct group *group = group_find(submit->group_handle);
    if (group == NULL || submit->pad != 0)
        return ps_log_refuse(EINVAL, "GROUP_SUBMIT to %u, pad %u", submit->group_handle, submit->pad);
    void *copy;
    int result = ps_ioctl_copy_array(&submit->queue_submits, sizeof(struct drm_panthor_queue_submit),
                                     sizeof(struct drm_panthor_queue_submit), &copy);
    const struct drm_panthor_queue_submit *jobs = copy;
    uint32_t count = submit->queue_submits.count;
    if (result == 0)
        result = check_submit(group, jobs, count);
    if (result == 0)
        stats.submissions++;
    uint64_t first = result == 0 ? jobs_start(group, jobs, count) : 0;
    for (uint32_t i = 0; result == 0 && i < count; i++)
        run_job(group, &jobs[i], first > 0 ? first + i : 0);
    free(copy);
    return result;
}

const struct ps_group_stats *ps_group_stats(void) {
    return &stats;
}
