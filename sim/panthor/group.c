// SPDX-License-Identifier: MIT
#include "group.h"

#include <errno.h>
#include <stdlib.h>

#include <drm/drm.h>
#include <drm/panthor_drm.h>

#include "exec.h"
#include "gpu.h"
#include "job.h"
#include "knobs.h"
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
    struct ps_line line;
} groups[GROUP_COUNT];

static struct ps_group_stats stats;

static struct group *group_find(uint32_t handle) {
    return handle > 0 && handle < GROUP_COUNT && groups[handle].exists ? &groups[handle] : NULL;
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
        if (!ps_line_open(&groups[handle].line, handle, create->queues.count))
            return ps_log_refuse(ENOMEM, "GROUP_CREATE: no memory for the simulation's own table");
        groups[handle].exists = true;
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
    ps_exec_group_gone(destroy->group_handle);
    ps_line_close(&group->line);
    group->exists = false;
    return 0;
}

int ps_group_get_state(void *argument) {
    struct drm_panthor_group_get_state *get = argument;
    const struct group *group = group_find(get->group_handle);
    if (group == NULL || get->pad != 0)
        return ps_log_refuse(EINVAL, "GROUP_GET_STATE of %u, pad %u", get->group_handle, get->pad);
    get->state = 0;
    if (group->line.timed_out)
        get->state |= DRM_PANTHOR_GROUP_STATE_TIMEDOUT;
    if (group->line.fatal_queues != 0)
        get->state |= DRM_PANTHOR_GROUP_STATE_FATAL_FAULT;
    get->fatal_queues = group->line.fatal_queues;
    return 0;
}

static int check_job(const struct group *group, const struct drm_panthor_queue_submit *job) {
    if (job->pad != 0 || (job->latest_flush & 0x7f000000u) != 0)
        return ps_log_refuse(EINVAL, "GROUP_SUBMIT with pad %u, flush 0x%x", job->pad, job->latest_flush);
    if ((job->stream_size == 0) != (job->stream_addr == 0) || (job->stream_addr & 63) != 0 ||
        (job->stream_size & 7) != 0)
        return ps_log_refuse(EINVAL, "GROUP_SUBMIT of %u bytes at 0x%llx", job->stream_size,
                             (unsigned long long)job->stream_addr);
    if (job->queue_index >= group->line.queue_count)
        return ps_log_refuse(EINVAL, "GROUP_SUBMIT to queue %u of %u", job->queue_index, group->line.queue_count);
    return 0;
}

static int check_submit(const struct group *group, const struct drm_panthor_queue_submit *jobs, uint32_t count) {
    if (ps_line_is_dead(&group->line))
        return ps_log_refuse(EINVAL, "GROUP_SUBMIT to a group that is dead (%s)",
                             group->line.fatal_queues != 0 ? "fault" : "timed out");
    int result = 0;
    for (uint32_t i = 0; result == 0 && i < count; i++)
        result = check_job(group, &jobs[i]);
    if (result == 0 && count > 0)
        result = ps_sync_check(&jobs->syncs, sizeof *jobs, count);
    return result;
}

// The knobs LOSE_AT and HANG_AT. A mere synchronisation neither hangs nor faults.
static enum ps_job_fate fate_of(const struct drm_panthor_queue_submit *job) {
    const struct ps_knobs *knobs = ps_knobs();
    if (job->stream_size > 0 && !stats.hung && knobs->hang_at > 0 && stats.submissions >= knobs->hang_at) {
        stats.hung = true;
        ps_log(PS_LOG_EVENTS, "submission %llu hangs", (unsigned long long)stats.submissions);
        return PS_JOB_HANGS;
    }
    if (job->stream_size > 0 && knobs->lose_at > 0 && stats.submissions >= knobs->lose_at) {
        stats.lost = true;
        ps_log(PS_LOG_EVENTS, "submission %llu faults", (unsigned long long)stats.submissions);
        return PS_JOB_FAULTS;
    }
    return PS_JOB_RUNS;
}

static void job_push(struct group *group, const struct drm_panthor_queue_submit *submit, struct ps_job *job) {
    stats.queue_submits++;
    stats.stream_bytes += submit->stream_size;
    job->fate = fate_of(submit);
    job->queue = submit->queue_index;
    job->latest_flush = submit->latest_flush;
    job->stream = submit->stream_addr;
    job->stream_bytes = submit->stream_size;
    ps_sync_join(&submit->syncs, &job->wait);
    ps_sync_attach(&submit->syncs, job->done);
    ps_job_push(&group->line, job);
}

// A chain of so many; NULL: no memory.
static struct ps_job *jobs_new(uint32_t count) {
    struct ps_job *jobs = NULL;
    for (uint32_t i = 0; i < count; i++) {
        struct ps_job *job = ps_job_new();
        if (job == NULL) {
            for (; jobs != NULL; jobs = job) {
                job = jobs->next;
                ps_job_free(jobs);
            }
            return NULL;
        }
        job->next = jobs;
        jobs = job;
    }
    return jobs;
}

static int run(struct group *group, const struct drm_panthor_queue_submit *submits, uint32_t count) {
    int result = check_submit(group, submits, count);
    if (result != 0)
        return result;
    struct ps_job *jobs = jobs_new(count);
    if (jobs == NULL && count > 0)
        return ps_log_refuse(ENOMEM, "GROUP_SUBMIT: no memory for the simulation's own table");
    stats.submissions++;
    for (uint32_t i = 0; i < count; i++) {
        struct ps_job *job = jobs;
        jobs = job->next;
        job->next = NULL;
        job_push(group, &submits[i], job);
    }
    return 0;
}

int ps_group_submit(void *argument) {
    const struct drm_panthor_group_submit *submit = argument;
    struct group *group = group_find(submit->group_handle);
    if (group == NULL || submit->pad != 0)
        return ps_log_refuse(EINVAL, "GROUP_SUBMIT to %u, pad %u", submit->group_handle, submit->pad);
    void *copy;
    int result = ps_ioctl_copy_array(&submit->queue_submits, sizeof(struct drm_panthor_queue_submit),
                                     sizeof(struct drm_panthor_queue_submit), &copy);
    if (result == 0)
        result = run(group, copy, submit->queue_submits.count);
    free(copy);
    return result;
}

const struct ps_group_stats *ps_group_stats(void) {
    return &stats;
}
