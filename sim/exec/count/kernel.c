// SPDX-License-Identifier: MIT
#include "kernel.h"

#include <stdlib.h>

void mx_kernel_free(struct mx_kernel *kernel) {
    if (kernel == NULL)
        return;
    free(kernel->insns);
    free(kernel->executed);
    free(kernel);
}

static struct mx_kernel *kernel_new(const struct mx_program *program) {
    struct mx_kernel *kernel = calloc(1, sizeof *kernel);
    if (kernel == NULL)
        return NULL;
    kernel->hash = mx_program_hash(program);
    kernel->length = mx_program_length(program);
    kernel->insns = calloc(kernel->length, sizeof *kernel->insns);
    kernel->executed = calloc(kernel->length, sizeof *kernel->executed);
    if (kernel->insns == NULL || kernel->executed == NULL) {
        mx_kernel_free(kernel);
        return NULL;
    }
    for (uint32_t i = 0; i < kernel->length; i++)
        kernel->insns[i] = *mx_program_insn(program, i);
    return kernel;
}

struct mx_kernel *mx_kernel_get(struct mx_kernel **list, const struct mx_program *program) {
    uint64_t hash = mx_program_hash(program);
    struct mx_kernel **link = list;
    while (*link != NULL && (*link)->hash != hash)
        link = &(*link)->next;
    if (*link == NULL)
        *link = kernel_new(program);
    return *link;
}

// Threads that a core holds: whole workgroups, as far as registers go, and the instances of workgroup memory.
static uint32_t resident(const struct mx_job *job, uint32_t registers, uint32_t threads) {
    uint32_t whole = (threads + MX_LANES - 1) / MX_LANES * MX_LANES;
    uint32_t groups = (registers <= 32 ? 2048 : 1024) / whole;
    if (job->shared_bytes > 0 && groups > job->shared_instances)
        groups = job->shared_instances;
    return (groups > 0 ? groups : 1) * threads;
}

void mx_kernel_dispatch(struct mx_kernel *kernel, const struct mx_job *job) {
    kernel->registers = job->program_word >> 30 == 2 ? 32 : 64;
    kernel->threads = job->local_size[0] * job->local_size[1] * job->local_size[2];
    kernel->resident_threads = resident(job, kernel->registers, kernel->threads);
    kernel->stack_bytes = job->stack_bytes;
    kernel->shared_bytes = job->shared_bytes;
    kernel->dispatches += job->group_count[0] > 0 && job->group_count[1] > 0 && job->group_count[2] > 0;
}

uint32_t mx_kernel_slots(const struct mx_insn *insn) {
    if (insn->unit == MX_UNIT_NONE)
        return 0;
    return insn->unit != MX_UNIT_LS && insn->written_count == 2 ? 2 : 1;
}
