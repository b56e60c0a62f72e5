// SPDX-License-Identifier: MIT
// Jobs in their queues: each waits for its fence and for what is before it in its queue, runs (in mali-exec, or not at
// all), and signals. Scheduling groups have queues, and so has each address space, for its asynchronous bindings. The
// lock is held around every call.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fence.h"

enum ps_job_fate { PS_JOB_RUNS, PS_JOB_FAULTS, PS_JOB_HANGS };

struct ps_job {
    struct ps_job *next;
    struct ps_fence *wait; // what it waits for
    struct ps_fence *done; // signalled when it has ended
    enum ps_job_fate fate;
    uint32_t queue; // its number in the group
    uint32_t latest_flush;
    uint64_t stream, stream_bytes; // 0 bytes: a mere synchronisation
    // Of an address space's queue: called when the job's turn has come, or, with `dropped`, when it will not come. It
    // calls nothing of this file. NULL: nothing is to be done.
    void (*run)(void *context, bool dropped);
    void *context; // freed afterwards
    enum { PS_JOB_WAITS, PS_JOB_SENT, PS_JOB_HUNG, PS_JOB_ENDED } state;
    uint64_t number; // mali-exec's
};

struct ps_job *ps_job_new(void);      // with its `done` open; NULL: no memory
void ps_job_free(struct ps_job *job); // one that was not pushed; NULL is none

// A queue, or several that die together.
struct ps_line {
    struct ps_line *next; // of all lines
    uint32_t group;       // its handle; 0: no group, but an address space
    uint32_t queue_count;
    struct ps_job **first; // by queue
    uint32_t fatal_queues; // bits
    bool timed_out;
};

// False: no memory.
bool ps_line_open(struct ps_line *line, uint32_t group, uint32_t queue_count);
void ps_line_close(struct ps_line *line); // what is in it ends at once
bool ps_line_is_dead(const struct ps_line *line);

void ps_job_push(struct ps_line *line, struct ps_job *job); // the line owns it now; ps_job_settle starts it

// mali-exec has ended a job, or is gone (all jobs end). Takes effect at the next ps_job_settle.
void ps_job_ended(uint64_t number, uint32_t code);
void ps_job_all_lost(void);

// Starts what can start, ends what has ended; wakes those who wait for it.
void ps_job_settle(void);

// When ps_job_settle is to be called at the latest, without another reason: CLOCK_MONOTONIC; UINT64_MAX: never.
uint64_t ps_job_due_ns(void);
