// SPDX-License-Identifier: MIT
#include <stdio.h>
#include <time.h>

#include "handlers.h"
#include "worker.h"

#define EACH for (unsigned l = 0; l < MX_LANES; l++)
#define ACTIVE(mask)                                                                                                   \
    for (uint32_t rest_ = (mask), l; rest_ != 0 && (l = (uint32_t)__builtin_ctz(rest_), true); rest_ &= rest_ - 1)
#define OUT_OF_BOUNDS (UINT64_C(1) << 63) // a pointer that LEA_PKA made so
#define TABLE_OF_TABLES 62                // names the memory of a resource table itself

// ---- from an address to host memory

static const struct mx_region *region_of(struct mx_worker *w, uint64_t address, unsigned bytes) {
    struct mx_region *kept = &w->regions[(address >> 16 ^ address >> 28) % MX_REGION_CACHE];
    if (address >= kept->begin && address + bytes <= kept->end)
        return kept;
    const struct mx_region *found = mx_memory_find(w->job->memory, address);
    if (found == NULL || address + bytes > found->end)
        return NULL;
    *kept = *found;
    return kept;
}

// Of what an address has to be a multiple of, less one.
static uint64_t alignment_mask(unsigned bytes) {
    unsigned align = bytes & -bytes;
    return (align > 4 ? 4 : align) - 1;
}

static uint8_t *host_of(struct mx_worker *w, const struct mx_step *s, uint64_t address, unsigned bytes, bool store,
                        unsigned lane) {
    if (address & alignment_mask(bytes)) {
        mx_worker_fail(w, s, MX_FAULT_TRANSLATION, lane, address, "the access is not aligned");
        return NULL;
    }
    const struct mx_region *region = region_of(w, address, bytes);
    if (region == NULL) {
        mx_worker_fail(w, s, MX_FAULT_TRANSLATION, lane, address, "nothing is mapped there");
        return NULL;
    }
    if (store && region->read_only) {
        mx_worker_fail(w, s, MX_FAULT_PERMISSION, lane, address, "the memory is read-only to the GPU");
        return NULL;
    }
    return region->host + (address - region->begin);
}

static enum mx_space space_of(const struct mx_worker *w, uint64_t address) {
    const struct mx_job *job = w->job;
    uint64_t stack_end = w->group->stack_base + job->stack_bytes * MX_LANES * MX_WARPS_MAX;
    if (job->stack_bytes > 0 && address >= w->group->stack_base && address < stack_end)
        return MX_SPACE_STACK;
    if (job->shared_bytes > 0 && address >= w->group->shared_base &&
        address < w->group->shared_base + job->shared_bytes)
        return MX_SPACE_SHARED;
    return MX_SPACE_POINTER;
}

static void tell(struct mx_worker *w, const struct mx_step *s, struct mx_message *message) {
    if (w->observer == NULL || w->observer->message == NULL)
        return;
    w->observer->message(w->observer->context, w->group, w->warp, &s->insn, message);
}

// ---- registers

// Puts a loaded value of up to 16 bytes into the staging registers of a lane.
static void stage(struct mx_worker *w, const struct mx_step *s, unsigned lane, const uint8_t *from) {
    uint32_t *file = (uint32_t *)w->registers;
    uint32_t *first = &file[s->staging * MX_LANES + lane];
    if (s->bytes >= 4 && s->bytes % 4 == 0) {
        for (unsigned i = 0; i < s->bytes / 4u; i++)
            memcpy(&first[i * MX_LANES], from + 4 * i, 4);
        return;
    }
    uint64_t value = 0;
    memcpy(&value, from, s->bytes);
    unsigned width = 8u * s->bytes;
    uint64_t extended = s->saturate || !(value >> (width - 1) & 1) ? value : value | ~UINT64_C(0) << width;
    if (s->bytes == 1 && s->lane < 4) {
        *first = (*first & ~(0xffu << 8 * s->lane)) | (uint32_t)value << 8 * s->lane;
    } else if (s->bytes == 1 && s->lane < 6) {
        unsigned at = 16u * (s->lane - 4u);
        *first = (*first & ~(0xffffu << at)) | ((uint32_t)extended & 0xffff) << at;
    } else if (s->bytes == 2 && s->lane < 2) {
        *first = (*first & ~(0xffffu << 16 * s->lane)) | (uint32_t)value << 16 * s->lane;
    } else {
        for (unsigned i = 0; i < s->staging_count && i < 2; i++)
            first[i * MX_LANES] = (uint32_t)(extended >> 32 * i);
    }
}

static void unstage(const struct mx_worker *w, const struct mx_step *s, unsigned lane, uint8_t *to) {
    const uint32_t *file = (const uint32_t *)w->registers;
    uint32_t words[4];
    for (unsigned i = 0; i < (s->bytes + 3u) / 4; i++)
        words[i] = file[(s->staging + i) * MX_LANES + lane];
    memcpy(to, words, s->bytes);
}

static bool same_everywhere(mx_u32 value, uint32_t first) {
    mx_u32 differs = value ^ first;
    uint32_t any = 0;
    EACH any |= differs[l];
    return any == 0;
}

static void stage_uniform(struct mx_worker *w, const struct mx_step *s, const uint8_t *from) {
    for (unsigned i = 0; i < s->bytes / 4u; i++) {
        uint32_t word;
        memcpy(&word, from + 4 * i, 4);
        w->registers[s->staging + i] = mx_splat(word);
    }
}

// All lanes load words: once where the address is the same for all, else a lane at a time. Returns whether it is done.
static bool load_fast(struct mx_worker *w, const struct mx_step *s, mx_u32 low, mx_u32 high) {
    if (w->active != MX_FULL || s->bytes % 4 != 0 || w->observer != NULL || !same_everywhere(high, high[0]))
        return false;
    uint64_t base = ((uint64_t)high[0] << 32) + (uint64_t)(int64_t)s->offset;
    if (same_everywhere(low, low[0])) {
        uint64_t address = base + low[0];
        const struct mx_region *region = region_of(w, address, s->bytes);
        if (region == NULL || address & 3)
            return false;
        stage_uniform(w, s, region->host + (address - region->begin));
        return true;
    }
    uint32_t least = low[0], most = low[0], odd = 0;
    EACH {
        least = low[l] < least ? low[l] : least;
        most = low[l] > most ? low[l] : most;
        odd |= low[l];
    }
    const struct mx_region *region = region_of(w, base + least, most - least + s->bytes);
    if (region == NULL || (odd | (uint32_t)base) & 3 || base >> 60 != 0)
        return false;
    uintptr_t host = (uintptr_t)region->host + (uintptr_t)(base - region->begin);
    uint32_t *file = (uint32_t *)&w->registers[s->staging];
    for (unsigned i = 0; i < s->bytes / 4u; i++)
        EACH memcpy(&file[i * MX_LANES + l], (const void *)(host + low[l] + 4 * i), 4);
    return true;
}

// ---- the instructions

static struct mx_message message_of(const struct mx_worker *w, const struct mx_step *s, enum mx_access access) {
    return (struct mx_message){.access = access, .bytes = s->bytes, .lanes = w->active};
}

static void zero_staging(struct mx_worker *w, const struct mx_step *s, uint32_t lanes) {
    static const uint8_t zeros[16];
    ACTIVE(lanes) stage(w, s, l, zeros);
}

// Addresses of a LOAD, STORE or atomic. Lanes with a pointer out of bounds are taken off.
static void addresses_of(struct mx_worker *w, const struct mx_step *s, struct mx_message *m) {
    mx_u32 low = mx_raw(w, s, 0), high = mx_high(w, s, 0);
    ACTIVE(w->active) {
        m->address[l] = ((uint64_t)high[l] << 32 | low[l]) + (uint64_t)(int64_t)s->offset;
        if (m->address[l] & OUT_OF_BOUNDS)
            m->out_of_bounds |= 1u << l;
    }
    m->lanes &= ~m->out_of_bounds;
    if (m->lanes != 0)
        m->space = space_of(w, m->address[__builtin_ctz(m->lanes)]);
}

// Where all lanes of the message lie in one region, aligned: host memory of GPU address 0, to which an address is
// added. NULL: each lane is to be looked at by itself.
static uint8_t *span_of(struct mx_worker *w, const struct mx_step *s, const struct mx_message *m, bool store) {
    uint64_t least = UINT64_MAX, most = 0, odd = 0;
    ACTIVE(m->lanes) {
        least = m->address[l] < least ? m->address[l] : least;
        most = m->address[l] > most ? m->address[l] : most;
        odd |= m->address[l];
    }
    if (least > most || odd & alignment_mask(s->bytes))
        return NULL;
    const struct mx_region *region = region_of(w, least, 1);
    if (region == NULL || most + s->bytes > region->end || (store && region->read_only))
        return NULL;
    return (uint8_t *)((uintptr_t)region->host - (uintptr_t)region->begin);
}

static void lanes_load(struct mx_worker *w, const struct mx_step *s, const struct mx_message *m) {
    const uint8_t *span = span_of(w, s, m, false);
    ACTIVE(m->lanes) {
        const uint8_t *host = span != NULL ? (uint8_t *)((uintptr_t)span + m->address[l])
                                           : host_of(w, s, m->address[l], s->bytes, false, l);
        if (host == NULL)
            return;
        stage(w, s, l, host);
    }
}

void mx_run_load(struct mx_worker *w, const struct mx_step *s) {
    if (load_fast(w, s, mx_raw(w, s, 0), mx_high(w, s, 0)))
        return;
    struct mx_message m = message_of(w, s, MX_LOAD);
    addresses_of(w, s, &m);
    tell(w, s, &m);
    zero_staging(w, s, m.out_of_bounds);
    lanes_load(w, s, &m);
}

void mx_run_store(struct mx_worker *w, const struct mx_step *s) {
    struct mx_message m = message_of(w, s, MX_STORE);
    addresses_of(w, s, &m);
    tell(w, s, &m);
    uint8_t *span = span_of(w, s, &m, true);
    ACTIVE(m.lanes) {
        uint8_t *host =
            span != NULL ? (uint8_t *)((uintptr_t)span + m.address[l]) : host_of(w, s, m.address[l], s->bytes, true, l);
        if (host == NULL)
            return;
        unstage(w, s, l, host);
    }
}

// ---- buffers by handle

static const struct mx_buffer *buffer_fault(struct mx_worker *w, const struct mx_step *s, uint32_t handle,
                                            unsigned lane, const char *what) {
    mx_worker_fail(w, s, MX_FAULT_DESCRIPTOR, lane, handle, what);
    return NULL;
}

static bool table_entry(struct mx_worker *w, uint32_t table, uint64_t *address, uint64_t *size) {
    uint64_t words[2];
    if (table >= w->job->resource_count)
        return false;
    const void *entry = mx_memory_at(w->job->memory, w->job->resources + 16 * table, 16);
    if (entry == NULL)
        return false;
    memcpy(words, entry, 16);
    *address = words[0] & ((UINT64_C(1) << 56) - 1);
    *size = words[1];
    return true;
}

// What a handle names; a null descriptor, or one beyond the table, has size 0.
static const struct mx_buffer *buffer_of(struct mx_worker *w, const struct mx_step *s, uint32_t handle, unsigned lane) {
    struct mx_buffer *kept = &w->buffers[(handle ^ handle >> 20) % MX_BUFFER_CACHE];
    if (kept->known && kept->handle == handle)
        return kept;
    uint32_t table = handle >> 24, entry = handle & 0xffffff, words[8];
    uint64_t address = 0, size = 0;
    if (table == TABLE_OF_TABLES) {
        if (!table_entry(w, entry, &address, &size))
            return buffer_fault(w, s, handle, lane, "the handle names a resource table that is not there");
        *kept = (struct mx_buffer){handle, true, address, size};
        return kept;
    }
    if (!table_entry(w, table, &address, &size))
        return buffer_fault(w, s, handle, lane, "the handle names a resource table that is not there");
    *kept = (struct mx_buffer){handle, true, 0, 0};
    if (32 * (uint64_t)entry + 32 > size)
        return kept;
    const void *descriptor = mx_memory_at(w->job->memory, address + 32 * (uint64_t)entry, 32);
    if (descriptor == NULL)
        return buffer_fault(w, s, handle, lane, "its descriptor is not mapped");
    memcpy(words, descriptor, 32);
    if ((words[0] & 15) == 9) {
        kept->address = (uint64_t)words[3] << 32 | words[2];
        kept->size = words[1];
    } else if (words[0] != 0) {
        return buffer_fault(w, s, handle, lane, "its descriptor is not a buffer's");
    }
    return kept;
}

// Addresses of a buffer access; lanes beyond the buffer's size are taken off. False: a fault.
static bool buffer_addresses(struct mx_worker *w, const struct mx_step *s, struct mx_message *m) {
    mx_u32 offset = mx_raw(w, s, 0), handle = mx_raw(w, s, 1);
    m->space = MX_SPACE_BUFFER;
    ACTIVE(w->active) {
        const struct mx_buffer *buffer = buffer_of(w, s, handle[l], l);
        if (buffer == NULL)
            return false;
        m->handle[l] = handle[l];
        m->address[l] = buffer->address + offset[l];
        if ((uint64_t)offset[l] + m->bytes > buffer->size || buffer->address & OUT_OF_BOUNDS)
            m->out_of_bounds |= 1u << l;
    }
    m->lanes &= ~m->out_of_bounds;
    return true;
}

static bool ld_pka_fast(struct mx_worker *w, const struct mx_step *s) {
    mx_u32 offset = mx_raw(w, s, 0), handle = mx_raw(w, s, 1);
    if (w->active != MX_FULL || s->bytes % 4 != 0 || w->observer != NULL || !same_everywhere(handle, handle[0]))
        return false;
    const struct mx_buffer *buffer = buffer_of(w, s, handle[0], 0);
    if (buffer == NULL || buffer->address >> 60 != 0)
        return false;
    uint32_t most = 0, odd = (uint32_t)buffer->address;
    EACH {
        most = offset[l] > most ? offset[l] : most;
        odd |= offset[l];
    }
    if ((uint64_t)most + s->bytes > buffer->size || odd & 3)
        return false;
    const struct mx_region *region = region_of(w, buffer->address, 1);
    if (region == NULL || buffer->address + most + s->bytes > region->end)
        return false;
    const uint8_t *host = region->host + (buffer->address - region->begin);
    if (same_everywhere(offset, offset[0])) {
        stage_uniform(w, s, host + offset[0]);
        return true;
    }
    uint32_t *file = (uint32_t *)&w->registers[s->staging];
    for (unsigned i = 0; i < s->bytes / 4u; i++)
        EACH memcpy(&file[i * MX_LANES + l], host + offset[l] + 4 * i, 4);
    return true;
}

void mx_run_ld_pka(struct mx_worker *w, const struct mx_step *s) {
    if (ld_pka_fast(w, s) || w->fault.kind != MX_FAULT_NONE)
        return;
    struct mx_message m = message_of(w, s, MX_LOAD);
    if (!buffer_addresses(w, s, &m))
        return;
    tell(w, s, &m);
    zero_staging(w, s, m.out_of_bounds);
    lanes_load(w, s, &m);
}

// The address alone; where it starts beyond the buffer every later access through it is dropped.
void mx_run_lea_pka(struct mx_worker *w, const struct mx_step *s) {
    struct mx_message m = message_of(w, s, MX_LOAD);
    m.bytes = 1;
    if (!buffer_addresses(w, s, &m))
        return;
    if (w->observer != NULL && w->observer->address != NULL)
        w->observer->address(w->observer->context, w->group, w->warp, &s->insn, &m);
    uint32_t *file = (uint32_t *)w->registers;
    ACTIVE(w->active) {
        uint64_t address = m.address[l] | (m.out_of_bounds >> l & 1 ? OUT_OF_BOUNDS : 0);
        file[s->written * MX_LANES + l] = (uint32_t)address;
        file[(s->written + 1) * MX_LANES + l] = (uint32_t)(address >> 32);
    }
}

void mx_run_clock(struct mx_worker *w, const struct mx_step *s) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec; // the chip's clock is at 1 GHz
    mx_write(w, s->written, mx_splat((uint32_t)ns));
    mx_write(w, s->written + 1, mx_splat((uint32_t)(ns >> 32)));
}

// ---- atomics

enum atomic { ADD = 2, SMIN = 8, SMAX, UMIN, UMAX, AND, OR, XOR, EXCHANGE };

static uint64_t combined(unsigned operation, unsigned bytes, uint64_t old, uint64_t operand) {
    int64_t a = bytes == 4 ? (int32_t)old : (int64_t)old, b = bytes == 4 ? (int32_t)operand : (int64_t)operand;
    switch (operation) {
    case ADD:
        return old + operand;
    case SMIN:
        return a < b ? old : operand;
    case SMAX:
        return a > b ? old : operand;
    case UMIN:
        return old < operand ? old : operand;
    case UMAX:
        return old > operand ? old : operand;
    case AND:
        return old & operand;
    case OR:
        return old | operand;
    case XOR:
        return old ^ operand;
    default:
        return operand;
    }
}

// Returns what was there. operation: known to be one.
static uint64_t atomic_do(uint8_t *host, unsigned bytes, unsigned operation, uint64_t operand,
                          const uint64_t *expected) {
    if (bytes == 4) {
        uint32_t *at = (uint32_t *)host, old = __atomic_load_n(at, __ATOMIC_RELAXED), next;
        do
            next =
                expected && old != (uint32_t)*expected ? old : (uint32_t)combined(operation, 4, old, (uint32_t)operand);
        while (!__atomic_compare_exchange_n(at, &old, next, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
        return old;
    }
    uint64_t *at = (uint64_t *)host, old = __atomic_load_n(at, __ATOMIC_RELAXED), next;
    do
        next = expected && old != *expected ? old : combined(operation, 8, old, operand);
    while (!__atomic_compare_exchange_n(at, &old, next, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return old;
}

static uint64_t staged(const struct mx_worker *w, unsigned first, unsigned lane, unsigned bytes) {
    const uint32_t *file = (const uint32_t *)w->registers;
    uint64_t value = file[first * MX_LANES + lane];
    return bytes == 8 ? value | (uint64_t)file[(first + 1) * MX_LANES + lane] << 32 : value;
}

// ATOM1_RETURN's operations as general ones: valhall-isa.md.
static void atom1(const struct mx_step *s, unsigned *operation, uint64_t *operand) {
    static const uint8_t operations[5] = {ADD, ADD, UMAX, SMAX, OR};
    *operand = s->variant == 1 ? UINT64_MAX : 1;
    *operation = s->variant < 5 ? operations[s->variant] : 0;
}

void mx_run_atom(struct mx_worker *w, const struct mx_step *s) {
    struct mx_message m = message_of(w, s, MX_ATOMIC);
    uint32_t *file = (uint32_t *)w->registers;
    bool one = s->insn.op == MX_OP_ATOM1_RETURN;
    addresses_of(w, s, &m);
    tell(w, s, &m);
    ACTIVE(w->active) {
        unsigned operation = s->variant;
        uint64_t operand = 0, expected = 0, old = 0;
        if (one)
            atom1(s, &operation, &operand);
        else
            operand = staged(w, s->staging, l, s->bytes);
        if (operation != ADD && (operation < SMIN || operation > EXCHANGE)) {
            mx_worker_fail(w, s, MX_FAULT_INSTRUCTION, l, m.address[l], "the atomic operation is not known");
            return;
        }
        if (s->condition && !one)
            expected = staged(w, s->staging + s->bytes / 4u, l, s->bytes);
        if (m.lanes >> l & 1) {
            uint8_t *host = host_of(w, s, m.address[l], s->bytes, true, l);
            if (host == NULL)
                return;
            old = atomic_do(host, s->bytes, operation, operand, s->condition && !one ? &expected : NULL);
        }
        for (unsigned i = 0; i < s->insn.written_count && i < s->bytes / 4u; i++)
            file[(s->written + i) * MX_LANES + l] = (uint32_t)(old >> 32 * i);
    }
}
