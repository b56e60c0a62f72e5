// SPDX-License-Identifier: MIT
#include "sync.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <drm/drm.h>
#include <drm/panthor_drm.h>

#include "job.h"
#include "lock.h"
#include "log.h"

// A timeline's points are reached in their order, as the kernel's chain of fences has it: a point whose own job is done
// waits for those before it.
struct point {
    uint64_t point; // 0: a binary fence
    struct ps_fence *fence;
};
struct object {
    uint32_t references; // handles, and file descriptors, which keep theirs for good: their closing is not seen
    bool has_fence;
    uint64_t last;         // point submitted; 0: a binary fence
    uint64_t reached;      // point
    struct point *pending; // by order of submission, the first one open
    size_t count, capacity;
};

// What a file descriptor of ours holds.
struct token {
    uint32_t magic;
    enum token_kind { TOKEN_OBJECT, TOKEN_FENCE } kind;
    uint32_t index; // of the object, or of the fence among `exported`; 0: a fence that is signalled
};
#define TOKEN_MAGIC 0x70736e63u

static struct object *objects; // 0 is none
static uint32_t object_end = 1, object_capacity;
static uint32_t *handles; // to objects; 0 is none
static uint32_t handle_end = 1, handle_capacity;
static struct ps_fence **exported; // 0 is none
static uint32_t exported_end = 1, exported_capacity;

static void point_remove(struct object *object, size_t at) {
    ps_fence_drop(object->pending[at].fence);
    object->count--;
    memmove(object->pending + at, object->pending + at + 1, (object->count - at) * sizeof *object->pending);
}

static void object_settle(struct object *object) {
    while (object->count > 0 && ps_fence_done(object->pending[0].fence)) {
        object->reached = object->pending[0].point;
        point_remove(object, 0);
    }
}

// Without any fence.
static void object_clear(struct object *object) {
    while (object->count > 0)
        point_remove(object, object->count - 1);
    *object =
        (struct object){.references = object->references, .pending = object->pending, .capacity = object->capacity};
}

static struct object *object_find(uint32_t handle) {
    if (handle == 0 || handle >= handle_end || handles[handle] == 0)
        return NULL;
    object_settle(&objects[handles[handle]]);
    return &objects[handles[handle]];
}

static void *grow(void *array, uint32_t *capacity, size_t element_bytes) {
    uint32_t wanted = *capacity > 0 ? *capacity * 2 : 256;
    void *grown = realloc(array, wanted * element_bytes);
    if (grown != NULL)
        *capacity = wanted;
    return grown;
}

static uint32_t object_new(void) {
    uint32_t index = 1;
    while (index < object_end && objects[index].references > 0)
        index++;
    if (index >= object_capacity) {
        struct object *grown = grow(objects, &object_capacity, sizeof *objects);
        if (grown == NULL)
            return 0;
        objects = grown;
    }
    if (index < object_end)
        free(objects[index].pending);
    object_end = index < object_end ? object_end : index + 1;
    objects[index] = (struct object){0};
    return index;
}

static int handle_new(uint32_t object, uint32_t *handle) {
    uint32_t index = 1;
    while (index < handle_end && handles[index] != 0)
        index++;
    if (index >= handle_capacity) {
        uint32_t *grown = grow(handles, &handle_capacity, sizeof *handles);
        if (grown == NULL)
            return ps_log_refuse(ENOMEM, "no memory for the simulation's own table of syncobjs");
        handles = grown;
    }
    handle_end = index < handle_end ? handle_end : index + 1;
    handles[index] = object;
    objects[object].references++;
    *handle = index;
    return 0;
}

static bool is_submitted(const struct object *object, uint64_t point) {
    return point == 0 ? object->has_fence : object->last >= point;
}

static bool is_signalled(const struct object *object, uint64_t point) {
    return is_submitted(object, point) && (object->count == 0 || (point > 0 && point <= object->reached));
}

static void no_memory(void) {
    ps_log(PS_LOG_ALWAYS, "no memory for a fence of the simulation's own: it counts as signalled");
}

// A new fence: a binary one replaces all there was, a point comes after the others.
static void attach(struct object *object, uint64_t point, struct ps_fence *fence) {
    if (point == 0)
        object_clear(object);
    object->has_fence = true;
    object->last = point > object->last ? point : object->last;
    if (object->count == object->capacity) {
        size_t capacity = object->capacity > 0 ? object->capacity * 2 : 4;
        struct point *grown = realloc(object->pending, capacity * sizeof *grown);
        if (grown == NULL) {
            no_memory();
            return;
        }
        object->pending = grown;
        object->capacity = capacity;
    }
    object->pending[object->count++] = (struct point){object->last, ps_fence_hold(fence)};
    object_settle(object);
    ps_lock_wake();
}

// *fence is then done no earlier than the object's point is reached (0: all that was submitted).
static void join(const struct object *object, uint64_t point, struct ps_fence **fence) {
    for (size_t i = 0; i < object->count && !(point > 0 && point <= object->reached); i++) {
        if (!ps_fence_join(fence, object->pending[i].fence))
            no_memory();
        if (point > 0 && object->pending[i].point >= point)
            return;
    }
}

// The index of a fence among those that files hold; 0 when there is no memory.
static uint32_t export(struct ps_fence *fence) {
    if (exported_end >= exported_capacity) {
        struct ps_fence **grown = grow(exported, &exported_capacity, sizeof *exported);
        if (grown == NULL) {
            no_memory();
            return 0;
        }
        exported = grown;
    }
    exported[exported_end] = ps_fence_hold(fence);
    return exported_end++;
}

int ps_sync_create(void *argument) {
    struct drm_syncobj_create *create = argument;
    if (create->flags & ~(uint32_t)DRM_SYNCOBJ_CREATE_SIGNALED)
        return ps_log_unknown("SYNCOBJ_CREATE flags 0x%x", create->flags);
    uint32_t object = object_new();
    if (object == 0)
        return ps_log_refuse(ENOMEM, "no memory for the simulation's own table of syncobjs");
    objects[object].has_fence = create->flags & DRM_SYNCOBJ_CREATE_SIGNALED;
    return handle_new(object, &create->handle);
}

int ps_sync_destroy(void *argument) {
    const struct drm_syncobj_destroy *destroy = argument;
    struct object *object = object_find(destroy->handle);
    if (object == NULL || destroy->pad != 0)
        return ps_log_refuse(EINVAL, "SYNCOBJ_DESTROY of %u, pad %u", destroy->handle, destroy->pad);
    object->references--;
    handles[destroy->handle] = 0;
    return 0;
}

int ps_sync_to_fd(void *argument) {
    struct drm_syncobj_handle *out = argument;
    struct object *object = object_find(out->handle);
    bool fence = out->flags & DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE;
    if (out->flags & ~(uint32_t)DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE)
        return ps_log_unknown("SYNCOBJ_HANDLE_TO_FD flags 0x%x", out->flags);
    if (object == NULL || (fence && !object->has_fence))
        return ps_log_refuse(EINVAL, "SYNCOBJ_HANDLE_TO_FD of %u, which does not exist or has no fence", out->handle);
    struct token token = {.magic = TOKEN_MAGIC, .kind = TOKEN_OBJECT, .index = handles[out->handle]};
    if (fence) {
        struct ps_fence *all = NULL;
        join(object, 0, &all);
        token.kind = TOKEN_FENCE;
        token.index = all != NULL ? export(all) : 0;
        ps_fence_drop(all);
    }
    int fd = memfd_create("panthor-sim-sync", MFD_CLOEXEC);
    if (fd < 0 || write(fd, &token, sizeof token) != (ssize_t)sizeof token) {
        if (fd >= 0)
            close(fd);
        return ps_log_refuse(EMFILE, "SYNCOBJ_HANDLE_TO_FD: no file for the syncobj: %s", strerror(errno));
    }
    object->references += !fence;
    out->fd = fd;
    return 0;
}

int ps_sync_from_fd(void *argument) {
    struct drm_syncobj_handle *import = argument;
    bool fence = import->flags & DRM_SYNCOBJ_FD_TO_HANDLE_FLAGS_IMPORT_SYNC_FILE;
    struct token token;
    if (import->flags & ~(uint32_t)DRM_SYNCOBJ_FD_TO_HANDLE_FLAGS_IMPORT_SYNC_FILE)
        return ps_log_unknown("SYNCOBJ_FD_TO_HANDLE flags 0x%x", import->flags);
    if (pread(import->fd, &token, sizeof token, 0) != (ssize_t)sizeof token || token.magic != TOKEN_MAGIC ||
        token.kind != (fence ? TOKEN_FENCE : TOKEN_OBJECT))
        return ps_log_refuse(EINVAL, "SYNCOBJ_FD_TO_HANDLE: file %d is not one of ours", import->fd);
    if (!fence)
        return handle_new(token.index, &import->handle);
    struct object *object = object_find(import->handle);
    if (object == NULL)
        return ps_log_refuse(ENOENT, "SYNCOBJ_FD_TO_HANDLE into %u, which does not exist", import->handle);
    attach(object, 0, token.index > 0 && token.index < exported_end ? exported[token.index] : NULL);
    return 0;
}

struct wait {
    const uint32_t *handles;
    const uint64_t *points; // NULL: binary
    uint32_t count, flags;
    int64_t timeout_ns; // of CLOCK_MONOTONIC; 0: do not wait
};

// How many of the objects are there, and the first of them. Negative: -errno.
static int wait_count(const struct wait *wait, uint32_t *first) {
    int ready = 0;
    for (uint32_t i = 0; i < wait->count; i++) {
        uint64_t point = wait->points != NULL ? wait->points[i] : 0;
        const struct object *object = object_find(wait->handles[i]);
        if (object == NULL)
            return ps_log_refuse(ENOENT, "a wait for syncobj %u, which does not exist", wait->handles[i]);
        bool submitted = is_submitted(object, point);
        if (!submitted &&
            !(wait->flags & (DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT | DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE)))
            return ps_log_refuse(EINVAL, "a wait for syncobj %u, to which nothing was submitted", wait->handles[i]);
        bool available = wait->flags & DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE;
        if (submitted && (available || is_signalled(object, point)) && ready++ == 0)
            *first = i;
    }
    return ready;
}

static int wait_run(const struct wait *wait, uint32_t *first) {
    if (wait->count == 0)
        return ps_log_refuse(EINVAL, "a wait for no syncobj");
    for (;;) {
        int ready = wait_count(wait, first);
        bool all = wait->flags & DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL;
        if (ready < 0)
            return ready;
        if (all ? (uint32_t)ready == wait->count : ready > 0)
            return 0;
        uint64_t now_ns = ps_lock_now_ns();
        if (wait->timeout_ns <= 0 || (uint64_t)wait->timeout_ns <= now_ns)
            return -ETIME;
        uint64_t until_ns = (uint64_t)wait->timeout_ns;
        ps_lock_wait(ps_job_due_ns() < until_ns ? ps_job_due_ns() : until_ns);
        ps_job_settle();
    }
}

int ps_sync_wait(void *argument) {
    struct drm_syncobj_wait *wait = argument;
    if (wait->flags & ~(uint32_t)(DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL | DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT))
        return ps_log_unknown("SYNCOBJ_WAIT flags 0x%x", wait->flags);
    struct wait plain = {.handles = (const uint32_t *)(uintptr_t)wait->handles,
                         .count = wait->count_handles,
                         .flags = wait->flags,
                         .timeout_ns = wait->timeout_nsec};
    return wait_run(&plain, &wait->first_signaled);
}

int ps_sync_timeline_wait(void *argument) {
    struct drm_syncobj_timeline_wait *wait = argument;
    if (wait->flags & ~(uint32_t)(DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL | DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT |
                                  DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE))
        return ps_log_unknown("SYNCOBJ_TIMELINE_WAIT flags 0x%x", wait->flags);
    struct wait timeline = {.handles = (const uint32_t *)(uintptr_t)wait->handles,
                            .points = (const uint64_t *)(uintptr_t)wait->points,
                            .count = wait->count_handles,
                            .flags = wait->flags,
                            .timeout_ns = wait->timeout_nsec};
    return wait_run(&timeline, &wait->first_signaled);
}

static int check_handles(const char *call, const uint32_t *list, uint32_t count) {
    if (count == 0)
        return ps_log_refuse(EINVAL, "%s of no syncobj", call);
    for (uint32_t i = 0; i < count; i++)
        if (object_find(list[i]) == NULL)
            return ps_log_refuse(ENOENT, "%s of %u, which does not exist", call, list[i]);
    return 0;
}

int ps_sync_reset(void *argument) {
    const struct drm_syncobj_array *array = argument;
    const uint32_t *list = (const uint32_t *)(uintptr_t)array->handles;
    int result = check_handles("SYNCOBJ_RESET", list, array->count_handles);
    for (uint32_t i = 0; result == 0 && i < array->count_handles; i++) {
        object_clear(object_find(list[i]));
    }
    return result;
}

int ps_sync_signal(void *argument) {
    const struct drm_syncobj_array *array = argument;
    const uint32_t *list = (const uint32_t *)(uintptr_t)array->handles;
    int result = check_handles("SYNCOBJ_SIGNAL", list, array->count_handles);
    for (uint32_t i = 0; result == 0 && i < array->count_handles; i++)
        attach(object_find(list[i]), 0, NULL);
    return result;
}

int ps_sync_timeline_signal(void *argument) {
    const struct drm_syncobj_timeline_array *array = argument;
    const uint32_t *list = (const uint32_t *)(uintptr_t)array->handles;
    const uint64_t *points = (const uint64_t *)(uintptr_t)array->points;
    if (array->flags != 0)
        return ps_log_unknown("SYNCOBJ_TIMELINE_SIGNAL flags 0x%x", array->flags);
    int result = check_handles("SYNCOBJ_TIMELINE_SIGNAL", list, array->count_handles);
    for (uint32_t i = 0; result == 0 && i < array->count_handles; i++)
        attach(object_find(list[i]), points != NULL ? points[i] : 0, NULL);
    return result;
}

int ps_sync_query(void *argument) {
    const struct drm_syncobj_timeline_array *array = argument;
    const uint32_t *list = (const uint32_t *)(uintptr_t)array->handles;
    uint64_t *points = (uint64_t *)(uintptr_t)array->points;
    if (array->flags & ~(uint32_t)DRM_SYNCOBJ_QUERY_FLAGS_LAST_SUBMITTED)
        return ps_log_unknown("SYNCOBJ_QUERY flags 0x%x", array->flags);
    int result = check_handles("SYNCOBJ_QUERY", list, array->count_handles);
    for (uint32_t i = 0; result == 0 && i < array->count_handles; i++) {
        const struct object *object = object_find(list[i]);
        points[i] = array->flags & DRM_SYNCOBJ_QUERY_FLAGS_LAST_SUBMITTED ? object->last : object->reached;
    }
    return result;
}

int ps_sync_transfer(void *argument) {
    const struct drm_syncobj_transfer *transfer = argument;
    const uint32_t ends[] = {transfer->src_handle, transfer->dst_handle};
    if (transfer->flags & ~(uint32_t)DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT)
        return ps_log_unknown("SYNCOBJ_TRANSFER flags 0x%x", transfer->flags);
    int result = transfer->pad != 0 ? ps_log_refuse(EINVAL, "SYNCOBJ_TRANSFER with pad %u", transfer->pad)
                                    : check_handles("SYNCOBJ_TRANSFER", ends, 2);
    if (result != 0)
        return result;
    uint64_t point = transfer->src_point;
    // WAIT_AVAILABLE: what is submitted is taken over, done or not.
    struct wait wait = {.handles = ends,
                        .points = &point,
                        .count = 1,
                        .timeout_ns = INT64_MAX,
                        .flags = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE};
    if (!is_submitted(object_find(ends[0]), point) && !(transfer->flags & DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT))
        return ps_log_refuse(EINVAL, "SYNCOBJ_TRANSFER from %u, to which nothing was submitted", ends[0]);
    uint32_t first;
    result = wait_run(&wait, &first);
    if (result == 0)
        result = check_handles("SYNCOBJ_TRANSFER", ends, 2); // the wait let go of the lock
    if (result == 0) {
        struct ps_fence *fence = NULL;
        join(object_find(ends[0]), point, &fence);
        attach(object_find(ends[1]), transfer->dst_point, fence);
        ps_fence_drop(fence);
    }
    return result;
}

static const struct drm_panthor_obj_array *array_at(const struct drm_panthor_obj_array *first, size_t stride_bytes,
                                                    uint32_t index) {
    return (const struct drm_panthor_obj_array *)((const char *)first + index * stride_bytes);
}

static const struct drm_panthor_sync_op *op_at(const struct drm_panthor_obj_array *array, uint32_t index) {
    return (const struct drm_panthor_sync_op *)((const char *)(uintptr_t)array->array + (size_t)index * array->stride);
}

static bool is_signal(const struct drm_panthor_sync_op *op) {
    return op->flags & (uint32_t)DRM_PANTHOR_SYNC_OP_SIGNAL;
}

// Whether an earlier job of the same call signals what this one waits for.
static bool is_signalled_before(const struct drm_panthor_obj_array *first, size_t stride_bytes, uint32_t job,
                                const struct drm_panthor_sync_op *wait) {
    for (uint32_t i = 0; i < job; i++) {
        const struct drm_panthor_obj_array *array = array_at(first, stride_bytes, i);
        for (uint32_t k = 0; k < array->count; k++) {
            const struct drm_panthor_sync_op *op = op_at(array, k);
            if (is_signal(op) && op->handle == wait->handle && op->timeline_value == wait->timeline_value)
                return true;
        }
    }
    return false;
}

static int check_op(const struct drm_panthor_sync_op *op, bool *needs_fence) {
    uint32_t type = op->flags & DRM_PANTHOR_SYNC_OP_HANDLE_TYPE_MASK;
    const struct object *object = object_find(op->handle);
    if (op->flags & ~(uint32_t)(DRM_PANTHOR_SYNC_OP_HANDLE_TYPE_MASK | DRM_PANTHOR_SYNC_OP_SIGNAL))
        return ps_log_unknown("sync operation with flags 0x%x", op->flags);
    if (type > DRM_PANTHOR_SYNC_OP_HANDLE_TYPE_TIMELINE_SYNCOBJ)
        return ps_log_unknown("sync operation on an object of type %u", type);
    if (type == DRM_PANTHOR_SYNC_OP_HANDLE_TYPE_SYNCOBJ && op->timeline_value != 0)
        return ps_log_refuse(EINVAL, "sync operation on a point of syncobj %u, which is not given as a timeline",
                             op->handle);
    if (object == NULL)
        return ps_log_refuse(is_signal(op) ? EINVAL : ENOENT, "sync operation on %u, which does not exist", op->handle);
    *needs_fence = !is_signal(op) && !is_submitted(object, op->timeline_value);
    return 0;
}

int ps_sync_check(const struct drm_panthor_obj_array *first, size_t stride_bytes, uint32_t jobs) {
    for (uint32_t job = 0; job < jobs; job++) {
        const struct drm_panthor_obj_array *array = array_at(first, stride_bytes, job);
        if (array->count > 0 && (array->stride < sizeof(struct drm_panthor_sync_op) || array->array == 0))
            return ps_log_refuse(EINVAL, "%u sync operations of %u bytes", array->count, array->stride);
        for (uint32_t i = 0; i < array->count; i++) {
            bool needs_fence = false;
            int result = check_op(op_at(array, i), &needs_fence);
            if (result != 0)
                return result;
            if (needs_fence && !is_signalled_before(first, stride_bytes, job, op_at(array, i)))
                return ps_log_refuse(EINVAL, "a job waits for syncobj %u, to which nothing was submitted",
                                     op_at(array, i)->handle);
        }
    }
    return 0;
}

void ps_sync_join(const struct drm_panthor_obj_array *array, struct ps_fence **wait) {
    for (uint32_t i = 0; i < array->count; i++) {
        const struct drm_panthor_sync_op *op = op_at(array, i);
        if (!is_signal(op))
            join(object_find(op->handle), op->timeline_value, wait);
    }
}

void ps_sync_attach(const struct drm_panthor_obj_array *array, struct ps_fence *done) {
    for (uint32_t i = 0; i < array->count; i++)
        if (is_signal(op_at(array, i)))
            attach(object_find(op_at(array, i)->handle), op_at(array, i)->timeline_value, done);
}
