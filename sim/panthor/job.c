// SPDX-License-Identifier: MIT
#include "job.h"

#include <stddef.h>
#include <stdlib.h>

#include "exec.h"
#include "knobs.h"
#include "lock.h"
#include "log.h"

#define CODE_BUS_FAULT 0x48u // of the kernel's exception codes

static struct ps_line *lines;
static bool dirty; // something ended
static bool hangs; // a job does
static uint64_t hang_due_ns;

struct ps_job *ps_job_new(void) {
    struct ps_job *job = calloc(1, sizeof *job);
    if (job != NULL && (job->done = ps_fence_new()) == NULL) {
        free(job);
        return NULL;
    }
    return job;
}

void ps_job_free(struct ps_job *job) {
    if (job == NULL)
        return;
    ps_fence_drop(job->wait);
    ps_fence_drop(job->done);
    free(job->context);
    free(job);
}

bool ps_line_open(struct ps_line *line, uint32_t group, uint32_t queue_count) {
    struct ps_job **first = calloc(queue_count, sizeof *first);
    if (first == NULL)
        return false;
    *line = (struct ps_line){.next = lines, .group = group, .queue_count = queue_count, .first = first};
    lines = line;
    return true;
}

bool ps_line_is_dead(const struct ps_line *line) {
    return line->timed_out || line->fatal_queues != 0;
}

// The first job of a queue is over.
static void pop(struct ps_line *line, uint32_t queue) {
    struct ps_job *job = line->first[queue];
    line->first[queue] = job->next;
    if (job->run != NULL)
        job->run(job->context, true);
    ps_fence_signal(job->done);
    ps_job_free(job);
}

void ps_line_close(struct ps_line *line) {
    for (uint32_t i = 0; i < line->queue_count; i++)
        while (line->first[i] != NULL) {
            hangs &= line->first[i]->state != PS_JOB_HUNG;
            pop(line, i);
        }
    struct ps_line **at = &lines;
    while (*at != line)
        at = &(*at)->next;
    *at = line->next;
    free(line->first);
    line->first = NULL;
    ps_lock_wake();
}

void ps_job_push(struct ps_line *line, struct ps_job *job) {
    struct ps_job **at = &line->first[job->queue];
    while (*at != NULL)
        at = &(*at)->next;
    *at = job;
}

static void line_die(struct ps_line *line, uint32_t queue) {
    line->fatal_queues |= UINT32_C(1) << queue;
}

// ---- beginning and ending

static void job_ended(struct ps_line *line, struct ps_job *job, uint32_t code) {
    job->state = PS_JOB_ENDED;
    dirty = true;
    if (code == 0)
        return;
    line_die(line, job->queue);
    ps_log(PS_LOG_EVENTS, "a job of group %u, queue %u faults: 0x%x", line->group, job->queue, code);
}

static void hang(struct ps_job *job) {
    uint64_t timeout_ns = ps_knobs()->job_timeout_ms * 1000000;
    hangs = true;
    hang_due_ns = timeout_ns > 0 ? ps_lock_now_ns() + timeout_ns : UINT64_MAX;
    job->state = PS_JOB_HUNG;
}

// The first job of its queue, which need not wait any more: everything before it is over.
static void start_first(struct ps_line *line, struct ps_job *job) {
    if (job->run != NULL)
        job->run(job->context, false);
    job->run = NULL;
    job->state = PS_JOB_ENDED;
    if (job->fate == PS_JOB_HANGS)
        hang(job);
    else if (job->fate == PS_JOB_FAULTS || (ps_exec_is_lost() && job->stream_bytes > 0))
        line_die(line, job->queue);
}

// Returns whether it has begun. mali-exec keeps the order in a queue, so that jobs behind others can go there, too.
static bool start(struct ps_line *line, struct ps_job *job) {
    bool executed = ps_exec_on() && line->group != 0 && job->fate == PS_JOB_RUNS;
    if (!ps_line_is_dead(line) && !ps_fence_done(job->wait))
        return false;
    if (executed && !ps_line_is_dead(line)) {
        job->number = ps_exec_submit(line->group, job->queue, job->stream, job->stream_bytes, job->latest_flush);
        job->state = PS_JOB_SENT;
        if (job->number == 0)
            job_ended(line, job, CODE_BUS_FAULT);
        return true;
    }
    if (line->first[job->queue] != job)
        return false;
    if (ps_line_is_dead(line))
        job->state = PS_JOB_ENDED;
    else
        start_first(line, job);
    return true;
}

// Returns whether something changed.
static bool queue_settle(struct ps_line *line, uint32_t queue) {
    bool changed = false;
    while (line->first[queue] != NULL) {
        struct ps_job *job = line->first[queue];
        if (job->state == PS_JOB_HUNG && ps_line_is_dead(line)) {
            hangs = false;
            job->state = PS_JOB_ENDED;
        }
        if (job->state != PS_JOB_ENDED && (job->state != PS_JOB_WAITS || !start(line, job)))
            break;
        changed = true;
        if (job->state == PS_JOB_ENDED)
            pop(line, queue);
    }
    for (struct ps_job *job = line->first[queue]; job != NULL; job = job->next)
        if (job->state == PS_JOB_WAITS && !start(line, job))
            break;
    return changed;
}

static void hang_settle(void) {
    if (!hangs || ps_lock_now_ns() < hang_due_ns)
        return;
    for (struct ps_line *line = lines; line != NULL; line = line->next)
        for (uint32_t i = 0; i < line->queue_count; i++)
            if (line->first[i] != NULL && line->first[i]->state == PS_JOB_HUNG)
                line->timed_out = true;
    hangs = false;
}

void ps_job_settle(void) {
    bool changed, woken = dirty;
    hang_settle();
    do {
        changed = dirty = false;
        for (struct ps_line *line = lines; line != NULL; line = line->next)
            for (uint32_t i = 0; i < line->queue_count; i++)
                changed |= queue_settle(line, i);
        woken |= changed;
    } while (changed || dirty);
    if (woken)
        ps_lock_wake();
}

uint64_t ps_job_due_ns(void) {
    return hangs ? hang_due_ns : UINT64_MAX;
}

// ---- what mali-exec says

void ps_job_ended(uint64_t number, uint32_t code) {
    for (struct ps_line *line = lines; line != NULL; line = line->next)
        for (uint32_t i = 0; i < line->queue_count; i++)
            for (struct ps_job *job = line->first[i]; job != NULL && job->state >= PS_JOB_SENT; job = job->next)
                if (job->state == PS_JOB_SENT && job->number == number) {
                    job_ended(line, job, code);
                    return;
                }
}

void ps_job_all_lost(void) {
    for (struct ps_line *line = lines; line != NULL; line = line->next)
        for (uint32_t i = 0; i < line->queue_count; i++)
            for (struct ps_job *job = line->first[i]; job != NULL; job = job->next)
                if (job->state == PS_JOB_SENT)
                    job_ended(line, job, CODE_BUS_FAULT);
}
