// SPDX-License-Identifier: MIT
#include "../core.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "copy.h"
#include "warp.h"

#define WORKERS_MAX 19 // the driver's stack has room for so many cores of 2048 threads

struct mx_core {
    struct mx_core_options options;
    struct mx_programs *programs;
    struct mx_core_stats stats;
    uint32_t worker_count;
    struct mx_worker *workers[WORKERS_MAX];
    pthread_t threads[WORKERS_MAX];
    uint32_t started;
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    // The job that runs; changed under the lock.
    const struct mx_job *job;
    const struct mx_program *program;
    uint64_t generation;
    uint32_t busy;
    bool ends;
    // Shared by the workers of a job.
    uint64_t next_group, group_total;
    uint64_t stride, start; // of the shuffled order
    int stop;
};

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t gcd(uint64_t a, uint64_t b) {
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static uint64_t mix(uint64_t x) { // splitmix64's finaliser
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

// A random affine permutation: it needs no memory, and any two neighbours may end up in either order.
static void order_choose(struct mx_core *core) {
    uint64_t total = core->group_total, seed = core->options.shuffle;
    core->start = 0;
    core->stride = 1;
    if (seed == 0 || total < 2)
        return;
    core->start = mix(seed + core->job->number) % total;
    core->stride = mix(seed * 3 + core->job->number) % total;
    while (gcd(core->stride, total) != 1)
        core->stride = (core->stride + 1) % total;
}

static void worker_prepare(struct mx_core *core, struct mx_worker *w) {
    w->job = core->job;
    w->program = core->program;
    w->fault = (struct mx_fault){0};
    memset(w->regions, 0, sizeof w->regions);
    memset(w->buffers, 0, sizeof w->buffers);
    mx_program_fill_pool(w->program, w->job, w->pool);
    for (unsigned l = 0; l < MX_LANES; l++)
        w->pool[MX_POOL_LANE_ID][l] = l;
}

// The place-th of the workgroups that run side by side on this worker.
static void group_place(struct mx_worker *w, uint32_t place, uint64_t linear) {
    const struct mx_job *job = w->job;
    const uint32_t *count = job->group_count;
    uint64_t threads = (uint64_t)job->local_size[0] * job->local_size[1] * job->local_size[2];
    uint64_t warps = (threads + MX_LANES - 1) / MX_LANES;
    struct mx_workgroup *group = &w->groups[place];
    *group = (struct mx_workgroup){.job = job, .program = w->program, .worker = w->number, .linear = (uint32_t)linear};
    group->stack_base =
        job->stack_base + (w->number * (uint64_t)MX_WARPS_MAX + place * warps) * MX_LANES * job->stack_bytes;
    group->shared_base = job->shared_base + (w->number * (uint64_t)job->shared_instances + place) * job->shared_bytes;
    group->core = (uint32_t)(linear % MX_MODELLED_CORES);
    group->id[0] = (uint32_t)(linear % count[0]);
    group->id[1] = (uint32_t)(linear / count[0] % count[1]);
    group->id[2] = (uint32_t)(linear / count[0] / count[1]);
}

// Workgroups that a core holds at once: by registers, and by the instances of workgroup memory that the driver made.
static uint32_t resident(const struct mx_job *job) {
    uint32_t threads = job->local_size[0] * job->local_size[1] * job->local_size[2];
    uint32_t room = job->program_word >> 30 == 2 ? 2048 : 1024;
    uint32_t count = room / ((threads + MX_LANES - 1) / MX_LANES * MX_LANES);
    if (job->shared_bytes > 0 && count > job->shared_instances)
        count = job->shared_instances;
    return count > 0 ? count : 1;
}

// As the modelled cores would: each takes every fourth workgroup, and holds as many as fit.
static void worker_interleaved(struct mx_core *core, struct mx_worker *w) {
    uint64_t side = resident(w->job), total = core->group_total;
    for (uint64_t first = 0; first < total; first += side * MX_MODELLED_CORES) {
        for (uint32_t c = 0; c < MX_MODELLED_CORES; c++) {
            w->group_count = 0;
            for (uint64_t i = 0; i < side && first + i * MX_MODELLED_CORES + c < total; i++)
                group_place(w, w->group_count++, first + i * MX_MODELLED_CORES + c);
            if (!mx_groups_run(w, &core->options))
                return;
        }
    }
}

static void worker_job(struct mx_core *core, struct mx_worker *w) {
    worker_prepare(core, w);
    if (core->options.interleave) {
        worker_interleaved(core, w);
        return;
    }
    w->group_count = 1;
    for (;;) {
        uint64_t i = __atomic_fetch_add(&core->next_group, 1, __ATOMIC_RELAXED);
        if (i >= core->group_total || __atomic_load_n(&core->stop, __ATOMIC_RELAXED))
            return;
        group_place(w, 0, (uint64_t)(((unsigned __int128)i * core->stride + core->start) % core->group_total));
        if (!mx_groups_run(w, &core->options))
            __atomic_store_n(&core->stop, 1, __ATOMIC_RELAXED);
    }
}

struct start {
    struct mx_core *core;
    uint32_t number;
};

static void *worker_thread(void *argument) {
    struct start start = *(struct start *)argument;
    struct mx_core *core = start.core;
    uint64_t seen = 0;
    free(argument);
    pthread_mutex_lock(&core->lock);
    for (;;) {
        while (!core->ends && core->generation == seen)
            pthread_cond_wait(&core->work, &core->lock);
        if (core->ends)
            break;
        seen = core->generation;
        pthread_mutex_unlock(&core->lock);
        worker_job(core, core->workers[start.number]);
        pthread_mutex_lock(&core->lock);
        if (--core->busy == 0)
            pthread_cond_signal(&core->done);
    }
    pthread_mutex_unlock(&core->lock);
    return NULL;
}

static struct mx_worker *worker_new(uint32_t number, const struct mx_observer *observer) {
    size_t size = (sizeof(struct mx_worker) + 63) / 64 * 64;
    struct mx_worker *w = aligned_alloc(64, size);
    if (w == NULL)
        return NULL;
    memset(w, 0, size);
    w->number = number;
    w->observer = observer;
    w->warps = aligned_alloc(64, sizeof(struct mx_warp) * MX_WARPS_MAX);
    if (w->warps == NULL) {
        free(w);
        return NULL;
    }
    return w;
}

void mx_core_free(struct mx_core *core) {
    if (core == NULL)
        return;
    pthread_mutex_lock(&core->lock);
    core->ends = true;
    pthread_cond_broadcast(&core->work);
    pthread_mutex_unlock(&core->lock);
    for (uint32_t i = 1; i <= core->started; i++)
        pthread_join(core->threads[i], NULL);
    for (uint32_t i = 0; i < core->worker_count; i++) {
        if (core->workers[i] != NULL)
            free(core->workers[i]->warps);
        free(core->workers[i]);
    }
    mx_programs_free(core->programs);
    pthread_cond_destroy(&core->work);
    pthread_cond_destroy(&core->done);
    pthread_mutex_destroy(&core->lock);
    free(core);
}

static bool threads_start(struct mx_core *core) {
    for (uint32_t i = 1; i < core->worker_count; i++) {
        struct start *start = malloc(sizeof *start);
        if (start == NULL)
            return false;
        *start = (struct start){core, i};
        if (pthread_create(&core->threads[i], NULL, worker_thread, start) != 0) {
            free(start);
            return false;
        }
        core->started = i;
    }
    return true;
}

struct mx_core *mx_core_new(const struct mx_core_options *options) {
    struct mx_core *core = calloc(1, sizeof *core);
    if (core == NULL)
        return NULL;
    core->options = *options;
    pthread_mutex_init(&core->lock, NULL);
    pthread_cond_init(&core->work, NULL);
    pthread_cond_init(&core->done, NULL);
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t wanted = options->threads > 0 ? options->threads : processors > 0 ? (uint32_t)processors : 1;
    core->worker_count = options->interleave ? 1 : wanted < WORKERS_MAX ? wanted : WORKERS_MAX;
    core->programs = mx_programs_new();
    bool good = core->programs != NULL;
    for (uint32_t i = 0; good && i < core->worker_count; i++)
        good = (core->workers[i] = worker_new(i, options->observer)) != NULL;
    if (!good || !threads_start(core)) {
        mx_core_free(core);
        return NULL;
    }
    return core;
}

static void workers_run(struct mx_core *core) {
    pthread_mutex_lock(&core->lock);
    core->generation++;
    core->busy = core->worker_count - 1;
    pthread_cond_broadcast(&core->work);
    pthread_mutex_unlock(&core->lock);
    worker_job(core, core->workers[0]);
    pthread_mutex_lock(&core->lock);
    while (core->busy > 0)
        pthread_cond_wait(&core->done, &core->lock);
    pthread_mutex_unlock(&core->lock);
}

// Of several workers' faults the first workgroup's is told.
static bool fault_collect(struct mx_core *core, struct mx_fault *fault) {
    bool found = false;
    for (uint32_t i = 0; i < core->worker_count; i++) {
        const struct mx_fault *f = &core->workers[i]->fault;
        if (f->kind != MX_FAULT_NONE && !found) {
            *fault = *f;
            found = true;
        }
    }
    return found;
}

static bool job_check(const struct mx_job *job, struct mx_fault *fault) {
    uint64_t threads = (uint64_t)job->local_size[0] * job->local_size[1] * job->local_size[2];
    if (threads > 0 && threads <= MX_LANES * MX_WARPS_MAX && job->resource_count <= 64)
        return true;
    *fault = (struct mx_fault){.kind = MX_FAULT_DESCRIPTOR, .job = job->number, .code = job->code};
    snprintf(fault->text, sizeof fault->text, "a workgroup of %llu threads, %u resource tables",
             (unsigned long long)threads, job->resource_count);
    return false;
}

static bool job_execute(struct mx_core *core, const struct mx_job *job, struct mx_fault *fault) {
    const struct mx_observer *observer = core->options.observer;
    if (!job_check(job, fault))
        return false;
    const struct mx_program *program = mx_programs_get(core->programs, job, fault);
    if (program == NULL)
        return false;
    core->job = job;
    core->program = program;
    core->group_total = (uint64_t)job->group_count[0] * job->group_count[1] * job->group_count[2];
    core->next_group = 0;
    core->stop = 0;
    if (observer != NULL && observer->job_begin != NULL)
        observer->job_begin(observer->context, job, program, core->worker_count);
    order_choose(core);
    if (core->group_total > 0 && !core->options.no_shortcuts && mx_copy_run(job, program, observer))
        core->stats.copies++;
    else if (core->group_total > 0)
        workers_run(core);
    bool finished = core->group_total == 0 || !fault_collect(core, fault);
    if (observer != NULL && observer->job_end != NULL)
        observer->job_end(observer->context, job, finished);
    return finished;
}

bool mx_core_run(struct mx_core *core, const struct mx_job *job, struct mx_fault *fault) {
    uint64_t start = now_ns(), instructions = 0;
    *fault = (struct mx_fault){0};
    for (uint32_t i = 0; i < core->worker_count; i++)
        core->workers[i]->fault = (struct mx_fault){0};
    bool finished = job_execute(core, job, fault);
    core->stats.jobs++;
    for (uint32_t i = 0; i < core->worker_count; i++)
        instructions += core->workers[i]->instructions;
    core->stats.warp_instructions = instructions;
    core->stats.busy_ns += now_ns() - start;
    return finished;
}

void mx_core_forget(struct mx_core *core, uint64_t begin, uint64_t size_bytes) {
    mx_programs_forget(core->programs, begin, size_bytes);
}

const struct mx_core_stats *mx_core_stats(const struct mx_core *core) {
    return &core->stats;
}
