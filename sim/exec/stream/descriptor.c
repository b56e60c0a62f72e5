// SPDX-License-Identifier: MIT
#include "descriptor.h"

#include <string.h>

enum { SHADER_TYPE = 8, STAGE_COMPUTE = 1 };

static uint64_t pair(const uint32_t *registers, unsigned r) {
    return (uint64_t)registers[r + 1] << 32 | registers[r];
}

static const char *program_read(struct mx_job *job, uint64_t address) {
    uint32_t words[8];
    const void *host = mx_memory_at(job->memory, address, 32);
    if (host == NULL)
        return "the shader program descriptor is not mapped";
    memcpy(words, host, 32);
    if ((words[0] & 15) != SHADER_TYPE || (words[0] >> 4 & 15) != STAGE_COMPUTE)
        return "the shader program descriptor is not a compute shader's";
    job->program_word = words[0];
    job->preload = words[1] & 0xffff;
    job->code = (uint64_t)words[3] << 32 | words[2];
    return NULL;
}

static const char *storage_read(struct mx_job *job, uint64_t address) {
    uint32_t words[8];
    const void *host = mx_memory_at(job->memory, address, 32);
    if (host == NULL)
        return "the local storage descriptor is not mapped";
    memcpy(words, host, 32);
    uint32_t scale = words[1] >> 8 & 31;
    uint64_t stack = (pair(words, 2) & UINT64_C(0xffffffffffff)) << 8;
    // Code 0 is both no stack and the smallest one, of 16 bytes; only the latter has a base.
    if (stack != 0) {
        job->stack_bytes = UINT64_C(16) << (words[0] & 31);
        job->stack_base = stack;
    }
    if (scale > 0) {
        job->shared_bytes = UINT64_C(1) << (scale - 1);
        job->shared_instances = 1u << (words[1] & 31);
        job->shared_base = pair(words, 4);
    }
    return NULL;
}

static const char *fau_read(struct mx_job *job, uint64_t value) {
    uint32_t count = (uint32_t)(value >> 56);
    job->fau_words = 2 * count;
    if (count == 0)
        return NULL;
    if (job->fau_words > MX_FAU_WORDS_MAX)
        return "more FAU words than there can be";
    const void *host = mx_memory_at(job->memory, value & UINT64_C(0xffffffffffff), 8 * (uint64_t)count);
    if (host == NULL)
        return "the FAU words are not mapped";
    memcpy(job->fau, host, 8 * (size_t)count);
    return NULL;
}

const char *mx_descriptor_read(struct mx_job *job, const uint32_t *r, uint32_t selects) {
    unsigned resources = selects & 3, program = selects >> 2 & 3, storage = selects >> 4 & 3, fau = selects >> 6 & 3;
    uint64_t table = pair(r, 2 * resources);
    job->resources = table & ~UINT64_C(63);
    job->resource_count = table & 63;
    for (unsigned i = 0; i < 3; i++) {
        job->local_size[i] = (r[33] >> 10 * i & 1023) + 1;
        job->offset[i] = r[34 + i];
        job->group_count[i] = r[37 + i];
    }
    const char *wrong = program_read(job, pair(r, 16 + 2 * program));
    if (wrong == NULL)
        wrong = storage_read(job, pair(r, 24 + 2 * storage));
    return wrong != NULL ? wrong : fau_read(job, pair(r, 8 + 2 * fau));
}
