// SPDX-License-Identifier: MIT
// Decoded kernels: made once, kept by the address of their code, and compared with memory at the start of every job.
#pragma once

#include "../insn.h"
#include "../job.h"
#include "step.h"

#define MX_PROGRAM_LENGTH_MAX (1u << 20)

struct mx_program {
    uint64_t code; // GPU address
    uint64_t hash;
    uint32_t length; // instructions
    uint64_t *words;
    struct mx_step *steps; // steps[length] is a step that faults
    struct mx_pool_plan pool;
    struct mx_program *next;
};

struct mx_programs; // a cache
struct mx_programs *mx_programs_new(void);
void mx_programs_free(struct mx_programs *programs);
void mx_programs_forget(struct mx_programs *programs, uint64_t begin, uint64_t size_bytes);

// The program of a job, from the cache when its words are still the same. NULL with *fault set: not mapped, not
// executable, no end, no memory.
const struct mx_program *mx_programs_get(struct mx_programs *programs, const struct mx_job *job,
                                         struct mx_fault *fault);

// Constants and FAU words of the job, with the modifiers that the program wants, for all lanes.
void mx_program_fill_pool(const struct mx_program *program, const struct mx_job *job, mx_u32 *pool);
