// SPDX-License-Identifier: MIT
#include "stream.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "descriptor.h"

enum opcode {
    NOP = 0,
    MOVE48 = 1,
    MOVE32 = 2,
    WAIT = 3,
    RUN_COMPUTE = 4,
    ADD_IMM32 = 16,
    ADD_IMM64 = 17,
    UMIN32 = 18,
    LOAD_MULTIPLE = 20,
    STORE_MULTIPLE = 21,
    BRANCH = 22,
    SET_SB_ENTRY = 23,
    SET_EXCEPTION_HANDLER = 25,
    CALL = 32,
    JUMP = 33,
    REQ_RESOURCE = 34,
    FLUSH_CACHE2 = 36,
    SYNC_ADD32 = 37,
    SYNC_SET32 = 38,
    SYNC_WAIT32 = 39,
    STORE_STATE = 40,
    RUN_COMPUTE_INDIRECT = 44,
    ERROR_BARRIER = 47,
    HEAP_SET = 48,
    HEAP_OPERATION = 49,
    SYNC_ADD64 = 51,
    SYNC_SET64 = 52,
    SYNC_WAIT64 = 53,
};

#define CONTEXT 90 // register pair

enum outcome { NEXT, WENT, BLOCKED, FAULTED };

struct context {
    struct mx_stream_world *world;
    struct mx_queue *queue;
    const struct mx_memory *memory;
    struct mx_fault *fault;
    uint64_t address, word; // of the instruction
};

static uint32_t bits(const struct context *c, unsigned first, unsigned count) {
    return (uint32_t)(c->word >> first & ((UINT64_C(1) << count) - 1));
}

static uint64_t pair(const struct mx_queue *queue, unsigned r) {
    return (uint64_t)queue->registers[r + 1] << 32 | queue->registers[r];
}

static void pair_set(struct mx_queue *queue, unsigned r, uint64_t value) {
    queue->registers[r] = (uint32_t)value;
    queue->registers[r + 1] = (uint32_t)(value >> 32);
}

static enum outcome fail(const struct context *c, enum mx_fault_kind kind, uint64_t address, const char *what) {
    *c->fault = (struct mx_fault){.kind = kind, .pc = c->address, .address = address};
    snprintf(c->fault->text, sizeof c->fault->text, "command stream at 0x%" PRIx64 ": %016" PRIx64 ": %s", c->address,
             c->word, what);
    return FAULTED;
}

static void *at(const struct context *c, uint64_t address, uint64_t size_bytes) {
    void *host = mx_memory_at(c->memory, address, size_bytes);
    if (host == NULL)
        fail(c, MX_FAULT_TRANSLATION, address, "nothing is mapped there");
    return host;
}

// Bits of an instruction that mean something; others are a sign that we misread it.
static uint64_t known_bits(uint8_t opcode) {
#define FIELD(first, count) (((UINT64_C(1) << (count)) - 1) << (first))
    switch ((enum opcode)opcode) {
    case NOP:
    case MOVE48:
        return FIELD(0, 56);
    case MOVE32:
        return FIELD(0, 32) | FIELD(48, 8);
    case WAIT:
        return FIELD(16, 16) | FIELD(32, 1);
    case RUN_COMPUTE:
    case RUN_COMPUTE_INDIRECT:
        return FIELD(0, 16) | FIELD(32, 1) | FIELD(40, 8);
    case ADD_IMM32:
    case ADD_IMM64:
    case LOAD_MULTIPLE:
    case STORE_MULTIPLE:
        return FIELD(0, 32) | FIELD(40, 16);
    case UMIN32:
        return FIELD(32, 24);
    case BRANCH:
        return FIELD(0, 16) | FIELD(28, 3) | FIELD(40, 8);
    case SET_SB_ENTRY:
        return FIELD(0, 8);
    case SET_EXCEPTION_HANDLER:
        return FIELD(0, 8) | FIELD(32, 16);
    case CALL:
    case JUMP:
        return FIELD(32, 16);
    case REQ_RESOURCE:
        return FIELD(0, 4);
    case FLUSH_CACHE2:
        return FIELD(0, 12) | FIELD(16, 16) | FIELD(40, 12);
    case SYNC_ADD32:
    case SYNC_SET32:
    case SYNC_ADD64:
    case SYNC_SET64:
        return FIELD(0, 3) | FIELD(16, 16) | FIELD(32, 20);
    case SYNC_WAIT32:
    case SYNC_WAIT64:
        return FIELD(0, 1) | FIELD(28, 4) | FIELD(32, 16);
    case STORE_STATE:
        return FIELD(0, 16) | FIELD(16, 16) | FIELD(32, 2) | FIELD(40, 12);
    case HEAP_SET:
        return FIELD(40, 8);
    case HEAP_OPERATION:
        return FIELD(16, 16) | FIELD(32, 2) | FIELD(48, 4);
    case ERROR_BARRIER:
        return 0;
    }
    return 0;
#undef FIELD
}

// ---- instructions

static enum outcome move_words(const struct context *c, bool load) {
    struct mx_queue *queue = c->queue;
    uint32_t mask = bits(c, 16, 16), first = bits(c, 48, 8);
    uint64_t address = pair(queue, bits(c, 40, 8)) + (uint64_t)(int64_t)(int16_t)bits(c, 0, 16);
    if (mask == 0)
        return NEXT;
    uint32_t count = 32 - (uint32_t)__builtin_clz(mask);
    if (first + count > MX_STREAM_REGISTERS)
        return fail(c, MX_FAULT_STREAM, 0, "registers that are not there");
    uint32_t *words = at(c, address, 4 * (uint64_t)count);
    if (words == NULL)
        return FAULTED;
    for (uint32_t i = 0; i < count; i++) {
        if (!(mask >> i & 1))
            continue;
        if (load)
            queue->registers[first + i] = words[i];
        else
            words[i] = queue->registers[first + i];
    }
    return NEXT;
}

static bool condition_holds(uint32_t condition, int32_t value) {
    switch (condition) {
    case 0:
        return value <= 0;
    case 1:
        return value > 0;
    case 2:
        return value == 0;
    case 3:
        return value != 0;
    case 4:
        return value < 0;
    case 5:
        return value >= 0;
    default:
        return true;
    }
}

static enum outcome branch(const struct context *c) {
    uint32_t condition = bits(c, 28, 3);
    if (condition > 6)
        return fail(c, MX_FAULT_STREAM, 0, "a condition that is not known");
    if (!condition_holds(condition, (int32_t)c->queue->registers[bits(c, 40, 8)]))
        return NEXT;
    c->queue->frames[c->queue->depth - 1].next = c->address + 8 + 8 * (uint64_t)(int64_t)(int16_t)bits(c, 0, 16);
    return WENT;
}

static enum outcome call(const struct context *c, bool returns) {
    struct mx_queue *queue = c->queue;
    uint64_t target = pair(queue, bits(c, 40, 8));
    uint32_t length = queue->registers[bits(c, 32, 8)];
    if (length % 8 != 0 || target % 8 != 0)
        return fail(c, MX_FAULT_STREAM, target, "a length or address that is no multiple of 8");
    if (returns) {
        queue->frames[queue->depth - 1].next = c->address + 8;
        if (queue->depth == MX_STREAM_DEPTH)
            return fail(c, MX_FAULT_STREAM, target, "calls are nested too deep");
        queue->depth++;
    }
    queue->frames[queue->depth - 1] = (struct mx_frame){target, target + length};
    return WENT;
}

static enum outcome sync_write(const struct context *c, bool wide, bool add) {
    uint64_t address = pair(c->queue, bits(c, 40, 8));
    unsigned r = bits(c, 32, 8);
    void *object = at(c, address, wide ? 16 : 8);
    if (object == NULL)
        return FAULTED;
    c->queue->error_word = address + (wide ? 8 : 4);
    if (wide && add)
        __atomic_fetch_add((uint64_t *)object, pair(c->queue, r), __ATOMIC_SEQ_CST);
    else if (wide)
        __atomic_store_n((uint64_t *)object, pair(c->queue, r), __ATOMIC_SEQ_CST);
    else if (add)
        __atomic_fetch_add((uint32_t *)object, c->queue->registers[r], __ATOMIC_SEQ_CST);
    else
        __atomic_store_n((uint32_t *)object, c->queue->registers[r], __ATOMIC_SEQ_CST);
    return NEXT;
}

static enum outcome sync_wait(const struct context *c, bool wide) {
    uint32_t condition = bits(c, 28, 4);
    unsigned r = bits(c, 32, 8);
    const void *object = at(c, pair(c->queue, bits(c, 40, 8)), wide ? 16 : 8);
    if (object == NULL)
        return FAULTED;
    if (condition > 1)
        return fail(c, MX_FAULT_STREAM, 0, "a condition that a wait does not have");
    uint64_t value = wide ? __atomic_load_n((const uint64_t *)object, __ATOMIC_SEQ_CST)
                          : __atomic_load_n((const uint32_t *)object, __ATOMIC_SEQ_CST);
    uint64_t reference = wide ? pair(c->queue, r) : c->queue->registers[r];
    return (condition == 1 ? value > reference : value <= reference) ? NEXT : BLOCKED;
}

static enum outcome store_state(const struct context *c) {
    uint64_t address = pair(c->queue, bits(c, 40, 8)) + (uint64_t)(int64_t)(int16_t)bits(c, 0, 16);
    uint64_t *word = at(c, address, 8);
    if (word == NULL)
        return FAULTED;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    switch (bits(c, 32, 2)) {
    case 0:
        *word = ns * 24 / 1000; // the RK3588's system counter: 24 MHz
        break;
    case 1:
        *word = ns;
        break;
    default:
        *word = 0;
    }
    return NEXT;
}

static enum outcome run_compute(const struct context *c) {
    struct mx_job job = {.memory = c->memory, .number = ++c->world->jobs};
    const char *wrong = mx_descriptor_read(&job, c->queue->registers, bits(c, 40, 8));
    if (wrong != NULL)
        return fail(c, MX_FAULT_DESCRIPTOR, 0, wrong);
    if (c->world->job != NULL)
        c->world->job(c->world->context, &job);
    return mx_core_run(c->world->core, &job, c->fault) ? NEXT : FAULTED;
}

static bool is_word(unsigned r) {
    return r < MX_STREAM_REGISTERS;
}

static bool is_pair(unsigned r) {
    return r + 1 < MX_STREAM_REGISTERS;
}

// Those that the operands name. What LOAD_MULTIPLE and STORE_MULTIPLE move is looked at there.
static bool registers_exist(uint8_t opcode, unsigned d, unsigned a, unsigned s) {
    switch ((enum opcode)opcode) {
    case MOVE48:
        return is_pair(d);
    case MOVE32:
        return is_word(d);
    case ADD_IMM32:
        return is_word(d) && is_word(a);
    case ADD_IMM64:
        return is_pair(d) && is_pair(a);
    case UMIN32:
        return is_word(d) && is_word(a) && is_word(s);
    case BRANCH:
        return is_word(a);
    case CALL:
    case JUMP:
    case SYNC_ADD32:
    case SYNC_SET32:
    case SYNC_WAIT32:
        return is_pair(a) && is_word(s);
    case SYNC_ADD64:
    case SYNC_SET64:
    case SYNC_WAIT64:
        return is_pair(a) && is_pair(s);
    case LOAD_MULTIPLE:
    case STORE_MULTIPLE:
    case STORE_STATE:
        return is_pair(a);
    default:
        return true;
    }
}

static enum outcome execute(const struct context *c) {
    struct mx_queue *queue = c->queue;
    uint8_t opcode = (uint8_t)(c->word >> 56);
    unsigned d = bits(c, 48, 8), a = bits(c, 40, 8), s = bits(c, 32, 8);
    if (c->word & UINT64_C(0x00ffffffffffffff) & ~known_bits(opcode))
        return fail(c, MX_FAULT_STREAM, 0, "not a known instruction, or with unknown bits");
    if (!registers_exist(opcode, d, a, s))
        return fail(c, MX_FAULT_STREAM, 0, "a register that is not there");
    switch ((enum opcode)opcode) {
    case MOVE48:
        pair_set(queue, d, c->word & UINT64_C(0xffffffffffff));
        return NEXT;
    case MOVE32:
        queue->registers[d] = (uint32_t)c->word;
        return NEXT;
    case RUN_COMPUTE:
    case RUN_COMPUTE_INDIRECT:
        return run_compute(c);
    case ADD_IMM32:
        queue->registers[d] = queue->registers[a] + (uint32_t)c->word;
        return NEXT;
    case ADD_IMM64:
        pair_set(queue, d, pair(queue, a) + (uint64_t)(int64_t)(int32_t)c->word);
        return NEXT;
    case UMIN32:
        queue->registers[d] = queue->registers[s] < queue->registers[a] ? queue->registers[s] : queue->registers[a];
        return NEXT;
    case LOAD_MULTIPLE:
    case STORE_MULTIPLE:
        return move_words(c, opcode == LOAD_MULTIPLE);
    case BRANCH:
        return branch(c);
    case CALL:
    case JUMP:
        return call(c, opcode == CALL);
    case SYNC_ADD32:
    case SYNC_SET32:
        return sync_write(c, false, opcode == SYNC_ADD32);
    case SYNC_ADD64:
    case SYNC_SET64:
        return sync_write(c, true, opcode == SYNC_ADD64);
    case SYNC_WAIT32:
    case SYNC_WAIT64:
        return sync_wait(c, opcode == SYNC_WAIT64);
    case STORE_STATE:
        return store_state(c);
    // Every job, load and store is done before the next instruction, memory is one, and the tiler does nothing here.
    case NOP:
    case WAIT:
    case SET_SB_ENTRY:
    case SET_EXCEPTION_HANDLER:
    case REQ_RESOURCE:
    case FLUSH_CACHE2:
    case ERROR_BARRIER:
    case HEAP_SET:
    case HEAP_OPERATION:
        return NEXT;
    }
    return fail(c, MX_FAULT_STREAM, 0, "not a known instruction");
}

// The driver keeps a pointer to its context in d90: first of all the address of one 16-byte sync object a queue. A
// queue that does not is not of that driver: then the object that it wrote last.
uint64_t mx_stream_error_word(const struct mx_queue *queue, const struct mx_memory *memory, uint32_t index) {
    const uint64_t *context = mx_memory_at(memory, pair(queue, CONTEXT), 8);
    uint64_t own = context != NULL ? *context + 16 * (uint64_t)index : 0;
    bool good = context != NULL && own % 16 == 0 && mx_memory_at(memory, own, 16) != NULL;
    return good ? own + 8 : queue->error_word;
}

void mx_stream_begin(struct mx_queue *queue, uint64_t address, uint64_t size_bytes, uint32_t latest_flush) {
    queue->depth = 1;
    queue->frames[0] = (struct mx_frame){address, address + size_bytes};
    queue->instructions = 0;
    // What the kernel's ring leaves in its registers.
    pair_set(queue, 92, address);
    queue->registers[94] = (uint32_t)size_bytes;
    queue->registers[95] = latest_flush;
}

enum mx_stream_state mx_stream_run(struct mx_stream_world *world, struct mx_queue *queue,
                                   const struct mx_memory *memory, bool *progress, struct mx_fault *fault) {
    struct context c = {.world = world, .queue = queue, .memory = memory, .fault = fault};
    while (queue->depth > 0) {
        if (__atomic_load_n(&world->stop, __ATOMIC_RELAXED))
            return MX_STREAM_BLOCKED;
        struct mx_frame *frame = &queue->frames[queue->depth - 1];
        if (frame->next == frame->end) {
            queue->depth--;
            continue;
        }
        c.address = frame->next;
        const uint64_t *word = at(&c, c.address, 8);
        c.word = word != NULL ? *word : 0;
        enum outcome outcome = word != NULL ? execute(&c) : FAULTED;
        if (outcome == BLOCKED)
            return MX_STREAM_BLOCKED;
        world->stats.instructions++;
        *progress = true;
        if (outcome != FAULTED && world->instruction_limit > 0 && ++queue->instructions > world->instruction_limit)
            outcome = fail(&c, MX_FAULT_ENDLESS, 0, "more instructions than one stream may have");
        if (outcome == FAULTED) {
            queue->depth = 0;
            return MX_STREAM_FAULT;
        }
        if (outcome == NEXT)
            frame->next = c.address + 8;
    }
    world->stats.streams++;
    return MX_STREAM_DONE;
}
