// SPDX-License-Identifier: MIT
#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "handlers.h"

struct mx_programs {
    struct mx_program *first;
};

struct mx_programs *mx_programs_new(void) {
    return calloc(1, sizeof(struct mx_programs));
}

static void program_free(struct mx_program *p) {
    if (p == NULL)
        return;
    free(p->words);
    free(p->steps);
    free(p);
}

void mx_programs_forget(struct mx_programs *programs, uint64_t begin, uint64_t size_bytes) {
    struct mx_program **link = &programs->first;
    while (*link != NULL) {
        struct mx_program *p = *link;
        if (p->code < begin + size_bytes && p->code + 8 * (uint64_t)p->length > begin) {
            *link = p->next;
            program_free(p);
        } else {
            link = &p->next;
        }
    }
}

void mx_programs_free(struct mx_programs *programs) {
    if (programs == NULL)
        return;
    mx_programs_forget(programs, 0, UINT64_MAX);
    free(programs);
}

uint64_t mx_program_hash(const struct mx_program *program) {
    return program->hash;
}

uint32_t mx_program_length(const struct mx_program *program) {
    return program->length;
}

const struct mx_insn *mx_program_insn(const struct mx_program *program, uint32_t index) {
    return &program->steps[index].insn;
}

static bool is_branch(uint64_t word) {
    return (word >> 48 & 0x1ff) == 0x1f;
}

// The length is nowhere: it is up to the first end beyond every branch's target. 0: there is none in what is mapped.
static uint32_t length_find(const uint64_t *words, uint64_t available) {
    uint64_t furthest = 0;
    for (uint64_t i = 0; i < available && i < MX_PROGRAM_LENGTH_MAX; i++) {
        if (is_branch(words[i])) {
            int64_t target = (int64_t)i + 1 + ((int32_t)(words[i] >> 3) >> 5);
            if (target > (int64_t)furthest)
                furthest = (uint64_t)target;
        }
        if ((words[i] >> 59 & 15) == 15 && i >= furthest)
            return (uint32_t)i + 1;
    }
    return 0;
}

// FNV-1a over the words' bytes.
static uint64_t hash_words(const uint64_t *words, uint32_t count) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    const uint8_t *bytes = (const uint8_t *)words;
    for (size_t i = 0; i < 8 * (size_t)count; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

// A branch to outside of the program leads to the step after its last.
static void branch_bound(struct mx_step *s, uint32_t index, uint32_t length) {
    int64_t target = (int64_t)index + 1 + s->offset;
    if (s->control == MX_BRANCH && (target < 0 || target > length))
        s->offset = (int32_t)(length - index - 1);
}

static void program_decode(struct mx_program *p) {
    p->pool.count = MX_POOL_FIRST;
    for (uint32_t i = 0; i <= p->length; i++) {
        struct mx_step *s = &p->steps[i];
        if (i == p->length || !mx_decode(p->words[i], s, &p->pool))
            *s = (struct mx_step){
                .run = mx_run_unknown, .control = MX_STOP, .insn = {.word = i < p->length ? p->words[i] : 0}};
        s->insn.index = i;
        branch_bound(s, i, p->length);
    }
}

static struct mx_program *program_new(uint64_t code, const uint64_t *words, uint32_t length) {
    struct mx_program *p = calloc(1, sizeof *p);
    if (p == NULL)
        return NULL;
    p->code = code;
    p->length = length;
    p->words = malloc(8 * (size_t)length);
    p->steps = aligned_alloc(64, (sizeof *p->steps * (length + 1) + 63) / 64 * 64);
    if (p->words == NULL || p->steps == NULL) {
        program_free(p);
        return NULL;
    }
    memcpy(p->words, words, 8 * (size_t)length);
    p->hash = hash_words(words, length);
    program_decode(p);
    return p;
}

static const struct mx_program *fault_set(struct mx_fault *fault, const struct mx_job *job, enum mx_fault_kind kind,
                                          const char *what) {
    *fault = (struct mx_fault){.kind = kind, .job = job->number, .code = job->code, .address = job->code};
    snprintf(fault->text, sizeof fault->text, "kernel at 0x%llx: %s", (unsigned long long)job->code, what);
    return NULL;
}

const struct mx_program *mx_programs_get(struct mx_programs *programs, const struct mx_job *job,
                                         struct mx_fault *fault) {
    const struct mx_region *region = mx_memory_find(job->memory, job->code);
    if (region == NULL || job->code % 8 != 0)
        return fault_set(fault, job, MX_FAULT_TRANSLATION, "nothing is mapped there");
    if (!region->executable)
        return fault_set(fault, job, MX_FAULT_PERMISSION, "the memory is not executable");
    const uint64_t *words = (const void *)(region->host + (job->code - region->begin));
    uint64_t available = (region->end - job->code) / 8;
    for (struct mx_program *p = programs->first; p != NULL; p = p->next)
        if (p->code == job->code && p->length <= available && memcmp(p->words, words, 8 * (size_t)p->length) == 0)
            return p;
    uint32_t length = length_find(words, available);
    if (length == 0)
        return fault_set(fault, job, MX_FAULT_INSTRUCTION, "its end is not found");
    struct mx_program *p = program_new(job->code, words, length);
    if (p == NULL)
        return fault_set(fault, job, MX_FAULT_MEMORY, "no memory to decode it");
    p->next = programs->first;
    programs->first = p;
    return p;
}

static uint32_t entry_value(const struct mx_pool_entry *entry, const struct mx_job *job, unsigned word) {
    if (entry->kind == MX_SOURCE_CONSTANT)
        return word == 0 ? mx_small_constants[entry->index] : 0;
    return entry->index + word < job->fau_words ? job->fau[entry->index + word] : 0;
}

void mx_program_fill_pool(const struct mx_program *program, const struct mx_job *job, mx_u32 *pool) {
    mx_u32 zero = {0};
    pool[MX_POOL_ZERO] = pool[MX_POOL_ZERO + 1] = zero;
    pool[MX_POOL_RESOURCES] = zero + (uint32_t)job->resources;
    pool[MX_POOL_RESOURCES + 1] = zero + (uint32_t)(job->resources >> 32);
    for (uint32_t i = MX_POOL_FIRST; i < program->pool.count; i += program->pool.entry[i].words) {
        const struct mx_pool_entry *entry = &program->pool.entry[i];
        pool[i] = zero + entry_value(entry, job, 0);
        if (entry->words == 2) {
            pool[i + 1] = zero + entry_value(entry, job, 1);
            mx_operand_apply64(&entry->operand, &pool[i], &pool[i + 1]);
        } else {
            pool[i] = mx_operand_apply(&entry->operand, pool[i]);
        }
    }
}
