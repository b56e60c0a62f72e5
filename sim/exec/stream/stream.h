// SPDX-License-Identifier: MIT
// Command streams (CSF of Valhall v10): registers, instructions, and the compute jobs in them. What each word means:
// the facts on the stock driver's streams, csf-exec.md. One thread.
#pragma once

#include "../core.h"

#define MX_STREAM_REGISTERS 96
#define MX_STREAM_DEPTH 9 // the kernel's ring, and eight calls

struct mx_frame {
    uint64_t next, end; // GPU addresses
};

// One hardware queue. Its registers persist from stream to stream.
struct mx_queue {
    uint32_t registers[MX_STREAM_REGISTERS];
    struct mx_frame frames[MX_STREAM_DEPTH];
    uint32_t depth;        // frames in use; 0: idle
    uint64_t instructions; // of the stream that runs
    uint64_t error_word;   // GPU address of the error word of the sync object that it wrote last; 0: none
};

struct mx_stream_stats {
    uint64_t streams, instructions;
};

// What all queues share.
struct mx_stream_world {
    struct mx_core *core;
    struct mx_stream_stats stats;
    uint64_t instruction_limit; // of one stream; beyond it: MX_FAULT_ENDLESS
    uint64_t jobs;
    bool stop; // set by any thread: streams go no further than the job that runs, as if they waited
    // Told of every job before it runs; NULL: nobody.
    void (*job)(void *context, const struct mx_job *job);
    void *context;
};

enum mx_stream_state { MX_STREAM_DONE, MX_STREAM_BLOCKED, MX_STREAM_FAULT };

void mx_stream_begin(struct mx_queue *queue, uint64_t address, uint64_t size_bytes, uint32_t latest_flush);

// GPU address of the error word of the queue's own sync object, where the driver looks for what went wrong; 0: not
// known. index: the queue's number in its group.
uint64_t mx_stream_error_word(const struct mx_queue *queue, const struct mx_memory *memory, uint32_t index);

// Until the stream ends, waits for another queue or the host, or faults (*fault; the stream is then over).
// *progress is set when at least one instruction was executed.
enum mx_stream_state mx_stream_run(struct mx_stream_world *world, struct mx_queue *queue,
                                   const struct mx_memory *memory, bool *progress, struct mx_fault *fault);
