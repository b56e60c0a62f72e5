// SPDX-License-Identifier: MIT
#include "machine.h"

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SPACES 64
#define GROUPS 129
#define QUEUES 32
#define FAULTS 64
#define POLL_NS 1000000 // a stream may wait for a word that the host writes

struct submit {
    struct submit *next;
    uint64_t number, address, size_bytes;
    uint32_t latest_flush;
    bool begun;
};

struct slot {
    struct mx_queue queue;
    struct submit *first, *last;
    bool dead;
};

struct group {
    bool fatal;
    uint32_t space, queue_count;
    struct slot slots[QUEUES];
};

struct mx_machine {
    struct mx_machine_options options;
    struct mx_stream_world world;
    pthread_t thread;
    pthread_mutex_t lists; // groups' lists of submissions
    pthread_cond_t wake;
    pthread_mutex_t running; // held while a stream runs, and by who changes an address space or ends a group
    int wanted;              // how many wait for `running`
    bool submitted, stopped;
    struct mx_memory *spaces[SPACES];
    struct group *groups[GROUPS];
    struct mx_fault faults[FAULTS];
    uint32_t fault_count, faults_more;
};

static void running_take(struct mx_machine *m) {
    __atomic_fetch_add(&m->wanted, 1, __ATOMIC_SEQ_CST);
    pthread_mutex_lock(&m->running);
    __atomic_fetch_sub(&m->wanted, 1, __ATOMIC_SEQ_CST);
}

static void done(struct mx_machine *m, uint64_t number, uint32_t code) {
    const struct mx_machine_listener *listener = m->options.listener;
    if (listener != NULL)
        listener->done(listener->context, number, code);
}

// Takes the first submission off; with the lists' lock.
static struct submit *take_off(struct slot *slot) {
    struct submit *submit = slot->first;
    slot->first = submit->next;
    if (slot->first == NULL)
        slot->last = NULL;
    return submit;
}

static void drop_all(struct mx_machine *m, struct slot *slot, uint32_t code) {
    for (;;) {
        pthread_mutex_lock(&m->lists);
        struct submit *submit = slot->first != NULL ? take_off(slot) : NULL;
        pthread_mutex_unlock(&m->lists);
        if (submit == NULL)
            return;
        done(m, submit->number, code);
        free(submit);
    }
}

static void fault_note(struct mx_machine *m, const struct mx_fault *fault) {
    if (m->fault_count < FAULTS)
        m->faults[m->fault_count++] = *fault;
    else
        m->faults_more++;
    fprintf(stderr, "mali-exec: fault (%s): ", mx_fault_name(fault->kind));
    if (fault->code != 0)
        fprintf(stderr,
                "job %" PRIu64 ", kernel %016" PRIx64 " at 0x%" PRIx64 ", pc 0x%" PRIx64 ", address 0x%" PRIx64
                ", workgroup %u %u %u, thread %u: ",
                fault->job, fault->kernel_hash, fault->code, fault->pc, fault->address, fault->group[0],
                fault->group[1], fault->group[2], fault->local_index);
    fprintf(stderr, "%s\n", fault->text);
}

// What the kernel driver does: the group is dead, its fences are signalled; the driver in user space finds the code.
static void group_kill(struct mx_machine *m, uint32_t number, uint32_t queue, const struct mx_fault *fault) {
    struct group *group = m->groups[number];
    uint32_t code = mx_fault_code(fault->kind);
    const struct mx_machine_listener *listener = m->options.listener;
    struct mx_memory *memory = m->spaces[group->space];
    uint64_t word = mx_stream_error_word(&group->slots[queue].queue, memory, queue);
    uint32_t *error = word != 0 ? mx_memory_at(memory, word, 4) : NULL;
    if (error != NULL)
        __atomic_store_n(error, code, __ATOMIC_SEQ_CST);
    pthread_mutex_lock(&m->lists); // nothing is added after what is dropped here
    group->fatal = true;
    pthread_mutex_unlock(&m->lists);
    if (listener != NULL)
        listener->fatal(listener->context, number, queue, code);
    for (uint32_t i = 0; i < group->queue_count; i++)
        drop_all(m, &group->slots[i], code);
}

// One queue as far as it gets. Returns whether it got anywhere.
static bool slot_run(struct mx_machine *m, uint32_t number, uint32_t queue) {
    struct group *group = m->groups[number];
    struct slot *slot = &group->slots[queue];
    bool progress = false;
    while (!group->fatal) {
        struct mx_fault fault = {0};
        pthread_mutex_lock(&m->lists);
        struct submit *submit = slot->first;
        pthread_mutex_unlock(&m->lists);
        if (submit == NULL)
            return progress;
        if (submit->size_bytes > 0) {
            if (!submit->begun)
                mx_stream_begin(&slot->queue, submit->address, submit->size_bytes, submit->latest_flush);
            submit->begun = true;
            enum mx_stream_state state =
                m->spaces[group->space] == NULL
                    ? MX_STREAM_DONE
                    : mx_stream_run(&m->world, &slot->queue, m->spaces[group->space], &progress, &fault);
            if (state == MX_STREAM_BLOCKED)
                return progress;
            if (state == MX_STREAM_FAULT) {
                fault_note(m, &fault);
                group_kill(m, number, queue, &fault);
                return true;
            }
        }
        progress = true;
        pthread_mutex_lock(&m->lists);
        take_off(slot);
        pthread_mutex_unlock(&m->lists);
        done(m, submit->number, 0);
        free(submit);
        if (__atomic_load_n(&m->wanted, __ATOMIC_SEQ_CST) > 0)
            return true;
    }
    return progress;
}

static bool is_stopping(const struct mx_machine *m) {
    return __atomic_load_n(&m->world.stop, __ATOMIC_RELAXED);
}

static bool all_run(struct mx_machine *m, bool *pending) {
    bool progress = false;
    *pending = false;
    for (uint32_t g = 0; g < GROUPS; g++) {
        for (uint32_t q = 0; m->groups[g] != NULL && q < m->groups[g]->queue_count; q++) {
            progress |= slot_run(m, g, q);
            pthread_mutex_lock(&m->lists);
            *pending |= m->groups[g]->slots[q].first != NULL;
            pthread_mutex_unlock(&m->lists);
        }
    }
    return progress;
}

static void wait_for_work(struct mx_machine *m, bool poll) {
    pthread_mutex_lock(&m->lists);
    if (!is_stopping(m) && !m->submitted && poll) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += POLL_NS;
        if (until.tv_nsec >= 1000000000) {
            until.tv_nsec -= 1000000000;
            until.tv_sec++;
        }
        pthread_cond_timedwait(&m->wake, &m->lists, &until);
    }
    while (!is_stopping(m) && !m->submitted && !poll)
        pthread_cond_wait(&m->wake, &m->lists);
    m->submitted = false;
    pthread_mutex_unlock(&m->lists);
}

static void *machine_thread(void *argument) {
    struct mx_machine *m = argument;
    bool pending = false, progress = false;
    while (!is_stopping(m)) {
        if (!progress)
            wait_for_work(m, pending);
        while (__atomic_load_n(&m->wanted, __ATOMIC_SEQ_CST) > 0)
            sched_yield();
        pthread_mutex_lock(&m->running);
        progress = all_run(m, &pending);
        pthread_mutex_unlock(&m->running);
    }
    return NULL;
}

struct mx_machine *mx_machine_new(const struct mx_machine_options *options) {
    struct mx_machine *m = calloc(1, sizeof *m);
    if (m == NULL)
        return NULL;
    m->options = *options;
    pthread_mutex_init(&m->lists, NULL);
    pthread_mutex_init(&m->running, NULL);
    pthread_cond_init(&m->wake, NULL);
    m->world = (struct mx_stream_world){.core = mx_core_new(&options->core),
                                        .instruction_limit = options->stream_limit,
                                        .job = options->job,
                                        .context = options->job_context};
    if (m->world.core != NULL && pthread_create(&m->thread, NULL, machine_thread, m) == 0)
        return m;
    mx_core_free(m->world.core);
    free(m);
    return NULL;
}

bool mx_machine_stop(struct mx_machine *m, uint32_t limit_s) {
    struct timespec until;
    pthread_mutex_lock(&m->lists);
    __atomic_store_n(&m->world.stop, true, __ATOMIC_RELAXED);
    pthread_cond_signal(&m->wake);
    pthread_mutex_unlock(&m->lists);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += limit_s;
    m->stopped = m->stopped || pthread_timedjoin_np(m->thread, NULL, &until) == 0;
    return m->stopped;
}

void mx_machine_free(struct mx_machine *m) {
    if (m == NULL)
        return;
    while (!mx_machine_stop(m, 60)) {
    }
    for (uint32_t i = 0; i < GROUPS; i++)
        if (m->groups[i] != NULL)
            mx_machine_group_gone(m, i);
    for (uint32_t i = 0; i < SPACES; i++)
        mx_memory_free(m->spaces[i]);
    mx_core_free(m->world.core);
    pthread_mutex_destroy(&m->lists);
    pthread_mutex_destroy(&m->running);
    pthread_cond_destroy(&m->wake);
    free(m);
}

bool mx_machine_map(struct mx_machine *m, uint32_t space, const struct mx_region *region) {
    if (space >= SPACES)
        return false;
    running_take(m);
    if (m->spaces[space] == NULL)
        m->spaces[space] = mx_memory_new();
    bool good = m->spaces[space] != NULL && mx_memory_map(m->spaces[space], region);
    mx_core_forget(m->world.core, region->begin, region->end - region->begin);
    pthread_mutex_unlock(&m->running);
    return good;
}

bool mx_machine_unmap(struct mx_machine *m, uint32_t space, uint64_t begin, uint64_t size_bytes) {
    if (space >= SPACES)
        return false;
    running_take(m);
    bool good = m->spaces[space] == NULL || mx_memory_unmap(m->spaces[space], begin, size_bytes);
    mx_core_forget(m->world.core, begin, size_bytes);
    pthread_mutex_unlock(&m->running);
    return good;
}

void mx_machine_space_gone(struct mx_machine *m, uint32_t space) {
    if (space >= SPACES)
        return;
    running_take(m);
    mx_memory_free(m->spaces[space]);
    m->spaces[space] = NULL;
    pthread_mutex_unlock(&m->running);
}

bool mx_machine_group(struct mx_machine *m, uint32_t number, uint32_t space, uint32_t queues) {
    if (number >= GROUPS || space >= SPACES || queues > QUEUES)
        return false;
    struct group *group = calloc(1, sizeof *group);
    if (group == NULL)
        return false;
    *group = (struct group){.space = space, .queue_count = queues};
    running_take(m);
    struct group *old = m->groups[number];
    m->groups[number] = group;
    pthread_mutex_unlock(&m->running);
    free(old);
    return true;
}

void mx_machine_group_gone(struct mx_machine *m, uint32_t number) {
    if (number >= GROUPS)
        return;
    running_take(m);
    struct group *group = m->groups[number];
    m->groups[number] = NULL;
    for (uint32_t i = 0; group != NULL && i < group->queue_count; i++)
        drop_all(m, &group->slots[i], 0);
    pthread_mutex_unlock(&m->running);
    free(group);
}

bool mx_machine_submit(struct mx_machine *m, uint32_t number, uint32_t queue, uint64_t job, uint64_t address,
                       uint64_t size_bytes, uint32_t latest_flush) {
    struct submit *submit = malloc(sizeof *submit);
    if (submit == NULL)
        return false;
    *submit =
        (struct submit){.number = job, .address = address, .size_bytes = size_bytes, .latest_flush = latest_flush};
    pthread_mutex_lock(&m->lists);
    struct group *group = number < GROUPS ? m->groups[number] : NULL;
    bool good = group != NULL && queue < group->queue_count && !group->fatal;
    if (good) {
        struct slot *slot = &group->slots[queue];
        if (slot->last != NULL)
            slot->last->next = submit;
        else
            slot->first = submit;
        slot->last = submit;
        m->submitted = true;
        pthread_cond_signal(&m->wake);
    }
    pthread_mutex_unlock(&m->lists);
    if (!good)
        free(submit);
    return good;
}

void mx_machine_between_jobs(struct mx_machine *m, void (*change)(void *context), void *context) {
    running_take(m);
    change(context);
    pthread_mutex_unlock(&m->running);
}

static json_t *fault_describe(const struct mx_fault *f) {
    char hash[17];
    snprintf(hash, sizeof hash, "%016" PRIx64, f->kernel_hash);
    return json_pack("{s:s, s:i, s:I, s:s, s:I, s:I, s:[i, i, i], s:i, s:s}", "kind", mx_fault_name(f->kind), "code",
                     (int)mx_fault_code(f->kind), "job", (json_int_t)f->job, "kernel", hash, "pc", (json_int_t)f->pc,
                     "address", (json_int_t)f->address, "group", (int)f->group[0], (int)f->group[1], (int)f->group[2],
                     "thread", (int)f->local_index, "text", f->text);
}

bool mx_machine_report(struct mx_machine *m, json_t *report) {
    const struct mx_core_stats *stats = mx_core_stats(m->world.core);
    json_t *faults = json_array();
    for (uint32_t i = 0; i < m->fault_count; i++)
        json_array_append_new(faults, fault_describe(&m->faults[i]));
    json_t *all =
        json_pack("{s:I, s:I, s:I, s:f, s:I, s:I, s:o, s:i}", "jobs", (json_int_t)stats->jobs, "copies",
                  (json_int_t)stats->copies, "warp_instructions", (json_int_t)stats->warp_instructions, "busy_s",
                  (double)stats->busy_ns / 1e9, "streams", (json_int_t)m->world.stats.streams, "stream_instructions",
                  (json_int_t)m->world.stats.instructions, "faults", faults, "faults_more", (int)m->faults_more);
    bool good = all != NULL && json_object_update(report, all) == 0;
    json_decref(all);
    return good;
}
