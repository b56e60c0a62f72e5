// SPDX-License-Identifier: MIT
// The machine: address spaces, groups and their queues, and the thread that runs what is submitted. Any thread may
// call.
#pragma once

#include <jansson.h>

#include "stream.h"

// Called from the machine's thread. A job of a queue is told of in order; a fatal group takes no more work.
struct mx_machine_listener {
    void *context;
    void (*done)(void *context, uint64_t number, uint32_t code);
    void (*fatal)(void *context, uint32_t group, uint32_t queue, uint32_t code);
};

struct mx_machine_options {
    struct mx_core_options core;
    uint64_t stream_limit; // instructions of a stream, beyond which it counts as endless; 0: none
    const struct mx_machine_listener *listener;
    void (*job)(void *context, const struct mx_job *job); // before each; NULL: nobody is told
    void *job_context;
};

struct mx_machine;

struct mx_machine *mx_machine_new(const struct mx_machine_options *options); // NULL: no memory, or no thread
void mx_machine_free(struct mx_machine *machine); // mx_machine_stop without a limit; drops what still waits

// Nothing runs any more when the job that runs now has ended. False: it has not within the limit. For good.
bool mx_machine_stop(struct mx_machine *machine, uint32_t limit_s);

// Address spaces by number; the first mapping makes one. They wait while a job runs. False: no memory, or a number that
// cannot be.
bool mx_machine_map(struct mx_machine *machine, uint32_t space, const struct mx_region *region);
bool mx_machine_unmap(struct mx_machine *machine, uint32_t space, uint64_t begin, uint64_t size_bytes);
void mx_machine_space_gone(struct mx_machine *machine, uint32_t space);

bool mx_machine_group(struct mx_machine *machine, uint32_t group, uint32_t space, uint32_t queues);
void mx_machine_group_gone(struct mx_machine *machine, uint32_t number); // its jobs are told of as done

// size_bytes 0: nothing to execute, done when what is before it in the queue is. False: no such queue, or no memory.
bool mx_machine_submit(struct mx_machine *machine, uint32_t group, uint32_t queue, uint64_t number, uint64_t address,
                       uint64_t size_bytes, uint32_t latest_flush);

// Runs `change` while no job runs.
void mx_machine_between_jobs(struct mx_machine *machine, void (*change)(void *context), void *context);

// Sets report's jobs, copies, warp_instructions, busy_s, streams, stream_instructions, faults. False: no memory.
bool mx_machine_report(struct mx_machine *machine, json_t *report);
