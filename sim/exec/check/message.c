// SPDX-License-Identifier: MIT
// What one load, store or atomic does, lane by lane: within bounds, written before, unordered with others.
#include <string.h>

#include "state.h"

#define BYTES_MAX 16

// A message being looked at.
struct traffic {
    const struct mx_moment *moment;
    const struct mx_message *message;
    uint16_t range[MX_LANES]; // range.h
    uint32_t lanes;           // in bounds
    uint32_t same, conflict;  // lanes with a race
};

static void pointers_of(const struct mx_moment *moment, const struct mx_message *message, uint16_t range[MX_LANES]) {
    const struct mx_source *address = &moment->insn->sources[0];
    uint16_t special = moment->known->stack_sources & 1    ? MX_RANGE_STACK
                       : moment->known->shared_sources & 1 ? MX_RANGE_SHARED
                                                           : MX_RANGE_NONE;
    for (uint32_t bits = message->lanes; bits != 0; bits &= bits - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(bits);
        range[lane] = special;
        if (special == MX_RANGE_NONE && message->space != MX_SPACE_BUFFER && address->kind == MX_SOURCE_REGISTER)
            range[lane] = moment->shadow->pointer[address->index & 63][lane];
        if (range[lane] == MX_RANGE_NONE)
            range[lane] = mx_range_find(moment->group, message->address[lane]);
    }
}

static void bounds_check(struct traffic *traffic) {
    const struct mx_moment *moment = traffic->moment;
    const struct mx_message *message = traffic->message;
    uint32_t beyond[3] = {0}; // by kind of range
    static const char *const text[3] = {"runs past the end of the buffer", "outside the thread's stack",
                                        "outside the workgroup's memory"};
    if (message->out_of_bounds != 0)
        mx_moment_report(moment, MX_FINDING_BOUNDS, message->out_of_bounds, message->address, "outside the buffer");
    for (uint32_t bits = message->lanes; bits != 0; bits &= bits - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(bits), range = traffic->range[lane];
        uint32_t thread = MX_LANES * moment->warp->index + lane;
        if (mx_range_leaves(&moment->worker->ranges, moment->group, (uint16_t)range, thread, message->address[lane],
                            message->bytes))
            beyond[range < MX_RANGE_BUFFER_FIRST ? range : 0] |= UINT32_C(1) << lane;
    }
    for (uint32_t i = 0; i < 3; i++)
        if (beyond[i] != 0)
            mx_moment_report(moment, MX_FINDING_BOUNDS, beyond[i], message->address, text[i]);
    traffic->lanes = message->lanes & ~(beyond[0] | beyond[1] | beyond[2]);
}

// The undefined bits behind a lane's address; NULL: none are kept, it is a buffer's.
static uint8_t *area_at(const struct traffic *traffic, uint32_t lane) {
    const struct mx_moment *moment = traffic->moment;
    bool is_stack = traffic->range[lane] == MX_RANGE_STACK;
    if (!is_stack && traffic->range[lane] != MX_RANGE_SHARED)
        return NULL;
    const struct mx_area *area = is_stack ? &moment->worker->stack : &moment->worker->shared;
    uint64_t base = is_stack ? moment->group->stack_base : moment->group->shared_base;
    uint64_t offset = traffic->message->address[lane] - base;
    return offset < area->size_bytes && traffic->message->bytes <= area->size_bytes - offset ? area->undefined + offset
                                                                                             : NULL;
}

static uint8_t origin_of_range(uint16_t range) {
    return range == MX_RANGE_STACK ? MX_ORIGIN_STACK : range == MX_RANGE_SHARED ? MX_ORIGIN_SHARED : MX_ORIGIN_BUFFER;
}

// Where the simulated memory lies on the host; NULL: nowhere.
static const uint8_t *host_at(const struct mx_moment *moment, uint64_t address, uint32_t bytes) {
    const struct mx_region *region = moment->worker->region;
    if (region == NULL || address < region->begin || address >= region->end)
        region = moment->worker->region = mx_memory_find(moment->group->job->memory, address);
    if (region == NULL || bytes > region->end - address)
        return NULL;
    return region->host + (address - region->begin);
}

static bool buffer_load(const struct traffic *traffic, uint32_t lane, uint8_t undefined[BYTES_MAX]) {
    const struct mx_moment *moment = traffic->moment;
    uint32_t bytes = traffic->message->bytes;
    if (moment->check->touched == NULL)
        return false;
    const uint8_t *host = host_at(moment, traffic->message->address[lane], bytes);
    if (host == NULL || !mx_touched_is_hole(moment->check->touched, host))
        return false;
    memset(undefined, 0xff, bytes);
    return true;
}

// A lane's undefined bytes. False: there are none.
static bool lane_load(const struct traffic *traffic, uint32_t lane, uint8_t undefined[BYTES_MAX]) {
    const uint8_t *area = area_at(traffic, lane);
    if (area == NULL)
        return buffer_load(traffic, lane, undefined);
    uint8_t any = 0;
    for (uint32_t i = 0; i < traffic->message->bytes; i++)
        any |= undefined[i] = area[i];
    return any != 0;
}

// Where bytes that are narrower than a register land: the load lane (bits 36-38), as {first byte, bytes extended to}.
static void landing(uint64_t word, uint32_t bytes, uint32_t *first, uint32_t *extent) {
    uint32_t lane = (uint32_t)(word >> 36) & 7;
    *first = 0;
    *extent = bytes;
    if (bytes == 1 && lane < 4) {
        *first = lane;
    } else if (bytes == 1) {
        *first = lane == 5 ? 2 : 0;
        *extent = lane == 7 ? 8 : lane == 6 ? 4 : 2;
    } else if (bytes == 2 && lane < 2) {
        *first = 2 * lane;
    } else if (bytes == 2 || bytes == 4) {
        *extent = lane == 3 || (bytes == 4 && lane == 1) ? 8 : 4;
    }
}

// Loaded bytes in the registers' own order: what is not written keeps what it had.
static void registers_load(const struct traffic *traffic, uint32_t lane, const uint8_t undefined[BYTES_MAX]) {
    const struct mx_moment *moment = traffic->moment;
    struct mx_pending *pending = &moment->worker->pending;
    uint32_t bytes = traffic->message->bytes, words[4] = {0}, first, extent;
    uint8_t image[BYTES_MAX];
    for (uint32_t i = 0; i < moment->insn->written_count && i < 4; i++)
        words[i] = moment->shadow->undefined[(moment->insn->written + i) & 63][lane];
    memcpy(image, words, sizeof image);
    landing(moment->insn->word, bytes, &first, &extent);
    bool sign = !(moment->insn->word >> 39 & 1) && undefined[bytes - 1] & 0x80;
    for (uint32_t i = 0; i < extent && first + i < BYTES_MAX; i++)
        image[first + i] = i < bytes ? undefined[i] : sign ? 0xff : 0;
    memcpy(words, image, sizeof words);
    for (uint32_t i = 0; i < moment->insn->written_count && i < 4; i++) {
        pending->undefined[i][lane] = words[i];
        pending->tainted |= words[i] != 0;
    }
}

static void load_check(const struct traffic *traffic) {
    const struct mx_moment *moment = traffic->moment;
    struct mx_pending *pending = &moment->worker->pending;
    static const uint8_t defined[BYTES_MAX];
    uint8_t undefined[MX_LANES][BYTES_MAX];
    uint32_t lanes = 0;
    bool is_bad = false;
    uint64_t last = UINT64_MAX;
    for (uint32_t bits = traffic->lanes; bits != 0; bits &= bits - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(bits);
        if (is_bad || traffic->message->address[lane] != last) // many lanes often load one thing
            is_bad = lane_load(traffic, lane, undefined[lane]);
        last = traffic->message->address[lane];
        lanes |= (uint32_t)is_bad << lane;
    }
    // The registers' rest matters only where the load leaves one.
    if (lanes == 0 && !(moment->known->writes & moment->shadow->tainted))
        return;
    memset(pending->undefined, 0, sizeof pending->undefined);
    for (uint32_t bits = moment->warp->active; bits != 0; bits &= bits - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(bits);
        is_bad = lanes >> lane & 1;
        pending->origin[lane] = is_bad ? origin_of_range(traffic->range[lane]) : MX_ORIGIN_REGISTER;
        registers_load(traffic, lane, is_bad ? undefined[lane] : defined);
    }
}

// Stack and workgroup memory remember what is stored there; what goes to a buffer leaves the checker's sight, so it has
// to be defined.
static void data_check(const struct traffic *traffic) {
    static const char *const text[2] = {"stored data come from a register that nobody wrote",
                                        "stored data come from memory that nobody wrote"};
    const struct mx_moment *moment = traffic->moment;
    const struct mx_source *data = &moment->insn->sources[moment->known->data_source];
    uint32_t leaving = 0;
    if (data->kind != MX_SOURCE_REGISTER)
        return;
    for (uint32_t bits = traffic->lanes; bits != 0; bits &= bits - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(bits);
        bool is_kept = traffic->range[lane] == MX_RANGE_STACK || traffic->range[lane] == MX_RANGE_SHARED;
        if (!is_kept || traffic->message->access == MX_ATOMIC)
            leaving |= UINT32_C(1) << lane;
    }
    uint32_t bytes = traffic->message->bytes;
    if (traffic->message->access == MX_ATOMIC)
        bytes = 4 * data->words; // new and comparand
    leaving = mx_taint_lanes(moment->shadow, data->index, bytes, leaving);
    if (leaving == 0)
        return;
    uint64_t registers = ((UINT64_C(1) << data->words) - 1) << data->index;
    mx_taint_report(moment, registers, leaving, traffic->message->address, text);
}

// What a lane stores, or its undefined bits.
static void data_of(const struct traffic *traffic, const mx_u32 *registers, uint32_t lane, uint8_t data[BYTES_MAX]) {
    const struct mx_source *source = &traffic->moment->insn->sources[traffic->moment->known->data_source];
    for (uint32_t i = 0; i < source->words && i < 4; i++) {
        uint32_t word = registers[(source->index + i) & 63][lane];
        memcpy(data + 4 * i, &word, sizeof word);
    }
}

static void area_store(const struct traffic *traffic) {
    const struct mx_moment *moment = traffic->moment;
    const struct mx_source *data = &moment->insn->sources[moment->known->data_source];
    for (uint32_t bits = traffic->lanes; bits != 0; bits &= bits - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(bits);
        uint8_t *area = area_at(traffic, lane), undefined[BYTES_MAX] = {0};
        if (area == NULL)
            continue;
        if (data->kind == MX_SOURCE_REGISTER)
            data_of(traffic, moment->shadow->undefined, lane, undefined);
        memcpy(area, undefined, traffic->message->bytes);
    }
}

static void pages_store(const struct traffic *traffic) {
    const struct mx_moment *moment = traffic->moment;
    if (moment->check->touched == NULL)
        return;
    for (uint32_t bits = traffic->lanes; bits != 0; bits &= bits - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(bits);
        if (traffic->range[lane] == MX_RANGE_STACK || traffic->range[lane] == MX_RANGE_SHARED)
            continue;
        const uint8_t *host = host_at(moment, traffic->message->address[lane], traffic->message->bytes);
        if (host != NULL)
            mx_touched_written(moment->check->touched, host);
    }
}

// Lanes of one store that overlap: one of them wins, nobody knows which.
static void lanes_collide(struct traffic *traffic) {
    const struct mx_message *message = traffic->message;
    uint64_t last = 0;
    bool ascending = true;
    for (uint32_t bits = traffic->lanes; bits != 0; bits &= bits - 1) {
        uint64_t address = message->address[__builtin_ctz(bits)];
        ascending &= address >= last;
        last = address + message->bytes;
    }
    for (uint32_t bits = ascending ? 0 : traffic->lanes; bits != 0; bits &= bits - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(bits);
        uint8_t own[BYTES_MAX] = {0}, others[BYTES_MAX] = {0};
        data_of(traffic, traffic->moment->warp->registers, lane, own);
        for (uint32_t rest = bits & (bits - 1); rest != 0; rest &= rest - 1) {
            uint32_t other = (uint32_t)__builtin_ctz(rest);
            uint64_t ahead = message->address[other] - message->address[lane];
            uint64_t behind = message->address[lane] - message->address[other];
            if (ahead >= message->bytes && behind >= message->bytes)
                continue;
            data_of(traffic, traffic->moment->warp->registers, other, others);
            bool differ = ahead < message->bytes ? memcmp(own + ahead, others, message->bytes - ahead) != 0
                                                 : memcmp(own, others + behind, message->bytes - behind) != 0;
            traffic->conflict |= differ ? UINT32_C(1) << other : 0;
        }
    }
}

static void races_check(struct traffic *traffic) {
    const struct mx_moment *moment = traffic->moment;
    const struct mx_message *message = traffic->message;
    struct mx_check_worker *worker = moment->worker;
    struct mx_race_map *const maps[2] = {moment->check->races, worker->shared_races};
    struct mx_race_cursor cursors[2] = {{0}};
    uint64_t last = UINT64_MAX;
    for (uint32_t bits = traffic->lanes; bits != 0; bits &= bits - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(bits), shared = traffic->range[lane] == MX_RANGE_SHARED;
        uint8_t data[BYTES_MAX];
        const uint8_t *host = NULL;
        if (traffic->range[lane] == MX_RANGE_STACK || (message->access == MX_LOAD && message->address[lane] == last))
            continue;
        last = message->address[lane];
        if (message->access == MX_STORE) {
            data_of(traffic, moment->warp->registers, lane, data);
            host = host_at(moment, last, message->bytes);
        }
        struct mx_race_actor actor = {.group = shared ? worker->group_serial : moment->group->linear,
                                      .epoch = worker->epoch,
                                      .warp = moment->warp->index};
        enum mx_race_verdict verdict =
            mx_race_access(maps[shared], &cursors[shared], &actor, message->access, last, message->bytes, data, host);
        traffic->same |= (uint32_t)(verdict == MX_RACE_SAME) << lane;
        traffic->conflict |= (uint32_t)(verdict == MX_RACE_CONFLICT) << lane;
    }
    mx_race_release(maps[0], &cursors[0]);
    mx_race_release(maps[1], &cursors[1]);
}

static void races_report(const struct traffic *traffic) {
    const uint64_t *address = traffic->message->address;
    uint32_t shared = 0;
    for (uint32_t bits = traffic->conflict; bits != 0; bits &= bits - 1)
        shared |= (uint32_t)(traffic->range[__builtin_ctz(bits)] == MX_RANGE_SHARED) << __builtin_ctz(bits);
    if (shared != 0)
        mx_moment_report(traffic->moment, MX_FINDING_RACE_SHARED, shared, address,
                         "another warp, or lane, accesses the same workgroup memory, and no barrier orders them");
    if (traffic->conflict & ~shared)
        mx_moment_report(traffic->moment, MX_FINDING_RACE_GLOBAL, traffic->conflict & ~shared, address,
                         "another workgroup, warp or lane accesses the same bytes, and nothing orders them");
    if (traffic->same & ~traffic->conflict)
        mx_moment_report(traffic->moment, MX_FINDING_RACE_SAME, traffic->same & ~traffic->conflict, address,
                         "unordered with another access, but the value is the one that was there");
}

void mx_message_check(const struct mx_moment *moment, const struct mx_message *message) {
    struct traffic traffic = {.moment = moment, .message = message};
    bool has_data = message->access != MX_LOAD && moment->known->data_source >= 0;
    if (message->bytes == 0 || message->bytes > BYTES_MAX)
        return;
    pointers_of(moment, message, traffic.range);
    bounds_check(&traffic);
    if (has_data)
        data_check(&traffic);
    if (message->access == MX_STORE && has_data)
        lanes_collide(&traffic);
    races_check(&traffic);
    races_report(&traffic);
    if (message->access != MX_STORE)
        load_check(&traffic);
    else if (has_data)
        area_store(&traffic);
    if (message->access != MX_LOAD)
        pages_store(&traffic);
}

void mx_message_pointer(const struct mx_moment *moment, const struct mx_message *message) {
    struct mx_pending *pending = &moment->worker->pending;
    memset(pending->pointer, 0, sizeof pending->pointer);
    for (uint32_t bits = message->lanes | message->out_of_bounds; bits != 0; bits &= bits - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(bits);
        pending->pointer[lane] = mx_range_of(&moment->worker->ranges, moment->group->job, message->handle[lane]);
    }
    pending->has_pointer = true;
}
