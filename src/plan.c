// SPDX-License-Identifier: MIT
#include "plan.h"

#include <stdlib.h>
#include <string.h>

#include "log.h"

// Slices for the kernels' uvec4 accesses and for the strictest binding alignment that Vulkan allows a device.
#define SLICE_ALIGNMENT 256

struct rf_plan *rf_plan_create(void) {
    return calloc(1, sizeof(struct rf_plan));
}

void rf_plan_destroy(struct rf_device *device, struct rf_plan *plan) {
    if (plan == NULL)
        return;
    rf_memory_destroy(device, &plan->panels.memory);
    rf_memory_destroy(device, &plan->columns.memory);
    rf_memory_destroy(device, &plan->staging.memory);
    rf_memory_destroy(device, &plan->bounce);
    free(plan->outputs);
    free(plan->steps);
    free(plan->downloads);
    free(plan->results);
    free(plan->written);
    free(plan);
}

// Room for `count` + 1 elements of `size` bytes in a growing array.
static bool reserve(void **array, size_t *capacity, size_t count, size_t size) {
    if (count < *capacity)
        return true;
    size_t wanted = *capacity == 0 ? 64 : 2 * *capacity;
    void *grown = realloc(*array, wanted * size);
    if (grown == NULL)
        return false;
    *array = grown;
    *capacity = wanted;
    return true;
}

bool rf_plan_step(struct rf_device *device, const struct rf_step *step) {
    struct rf_plan *plan = device->plan;
    if (!reserve((void **)&plan->steps, &plan->step_capacity, plan->step_count, sizeof *plan->steps))
        return false;
    plan->steps[plan->step_count++] = *step;
    return true;
}

static void deliver(const struct rf_download *download) {
    const char *from = download->from;
    for (uint64_t m = 0; m < download->matrices; m++)
        for (uint64_t r = 0; r < download->rows; r++, from += download->row_bytes)
            memcpy(download->to + m * download->to_matrix + r * download->to_row, from, download->row_bytes);
}

static bool collect_results(struct rf_device *device) {
    struct rf_plan *plan = device->plan;
    for (size_t i = 0; i < plan->result_count; i++) {
        VkResult result = rf_memory_invalidate(device, plan->results[i].memory, plan->results[i].begin,
                                               plan->results[i].end - plan->results[i].begin);
        if (result != VK_SUCCESS) {
            rf_device_fail(device, "invalidating results", result);
            return false;
        }
    }
    for (size_t i = 0; i < plan->download_count; i++)
        deliver(&plan->downloads[i]);
    return true;
}

// Steps that bring staged results from device memory to where the host can read them.
static bool fetch_outputs(struct rf_device *device) {
    struct rf_plan *plan = device->plan;
    for (size_t i = 0; i < plan->output_count; i++) {
        struct rf_slice from = plan->outputs[i], to = from;
        to.buffer = plan->staging.memory.buffer;
        struct rf_step step = {.bindings = {from, to}, .barrier = i == 0};
        if (!rf_plan_step(device, &step))
            return false;
    }
    return true;
}

bool rf_plan_flush(struct rf_device *device) {
    struct rf_plan *plan = device->plan;
    bool good =
        fetch_outputs(device) && rf_submit_run(device, plan->steps, plan->step_count) && collect_results(device);
    rf_plan_reset(device);
    return good;
}

void rf_plan_reset(struct rf_device *device) {
    struct rf_plan *plan = device->plan;
    plan->step_count = plan->kept_count = plan->download_count = plan->result_count = plan->written_count = 0;
    plan->output_count = 0;
    plan->panels.used = plan->columns.used = plan->staging.used = 0;
}

static enum rf_memory_kind arena_kind(const struct rf_plan *plan, const struct rf_arena *arena) {
    return arena == &plan->staging ? RF_MEMORY_HOST : RF_MEMORY_LOCAL;
}

// Replaces an arena that nothing uses by one of at least `bytes`, with room to spare where memory allows.
static bool grow_arena(struct rf_device *device, struct rf_arena *arena, uint64_t bytes) {
    enum rf_memory_kind kind = arena_kind(device->plan, arena);
    uint64_t old = arena->memory.bytes;
    rf_memory_destroy(device, &arena->memory);
    uint64_t generous = bytes > 2 * old ? bytes + bytes / 4 : 2 * old;
    generous = (generous + SLICE_ALIGNMENT - 1) / SLICE_ALIGNMENT * SLICE_ALIGNMENT;
    VkResult result = rf_memory_create(device, kind, generous, NULL, &arena->memory);
    if (result != VK_SUCCESS)
        result = rf_memory_create(device, kind, bytes, NULL, &arena->memory);
    if (result != VK_SUCCESS)
        rf_log(RF_LOG_WARN, "%s has no %llu MiB for scratch memory (%s)", device->caps.name,
               (unsigned long long)(bytes >> 20), rf_vk_result_name(result));
    if (result == VK_SUCCESS && arena == &device->plan->staging && device->caps.discrete) {
        rf_memory_destroy(device, &device->plan->bounce);
        result = rf_memory_create(device, RF_MEMORY_LOCAL, arena->memory.bytes, NULL, &device->plan->bounce);
    }
    return result == VK_SUCCESS;
}

uint64_t rf_plan_slice_bytes(uint64_t bytes) {
    return (bytes + SLICE_ALIGNMENT - 1) / SLICE_ALIGNMENT * SLICE_ALIGNMENT;
}

bool rf_plan_room(struct rf_device *device, uint64_t panel_bytes, uint64_t column_bytes, uint64_t staging_bytes,
                  bool *flushed) {
    struct rf_plan *plan = device->plan;
    struct rf_arena *arenas[] = {&plan->panels, &plan->columns, &plan->staging};
    uint64_t bytes[] = {panel_bytes, column_bytes, staging_bytes};
    bool fits = true;
    for (int i = 0; i < 3; i++)
        fits = fits && arenas[i]->used + bytes[i] <= arenas[i]->memory.bytes;
    *flushed = !fits;
    if (fits)
        return true;
    if (!rf_plan_flush(device))
        return false;
    for (int i = 0; i < 3; i++)
        if (bytes[i] > arenas[i]->memory.bytes && !grow_arena(device, arenas[i], bytes[i]))
            return false;
    return true;
}

struct rf_slice rf_plan_take(struct rf_arena *arena, uint64_t bytes) {
    struct rf_slice slice = {arena->memory.buffer, arena->used, bytes};
    arena->used += rf_plan_slice_bytes(bytes);
    return slice;
}

uint64_t rf_matrix_span(const struct rf_matrix *matrix) {
    const struct rf_format_info *format = rf_format_info(matrix->format);
    uint64_t span = (uint64_t)matrix->ne[0] / format->block_elems * format->block_bytes;
    if (format->is_float)
        span = (uint64_t)(matrix->ne[0] - 1) * matrix->nb[0] + format->block_bytes;
    for (int i = 1; i < 4; i++)
        span += (uint64_t)(matrix->ne[i] - 1) * matrix->nb[i];
    return span;
}

bool rf_plan_in_place(const struct rf_device *device, const struct rf_matrix *matrix, bool constant) {
    const struct rf_buffer *owner = matrix->owner;
    if (owner == NULL || owner->device != device)
        return false;
    return owner->memory.buffer != VK_NULL_HANDLE ||
           (constant && device->mode == RF_MEMORY_MIRRORED && !owner->twin_refused);
}

bool rf_plan_pending(const struct rf_device *device, const struct rf_matrix *matrix) {
    const struct rf_plan *plan = device->plan;
    const char *begin = matrix->data, *end = begin + rf_matrix_span(matrix);
    for (size_t i = 0; i < plan->written_count; i += 2)
        if (begin < plan->written[i + 1] && plan->written[i] < end)
            return true;
    return false;
}

static bool note_written(struct rf_plan *plan, const struct rf_matrix *matrix) {
    if (!reserve((void **)&plan->written, &plan->written_capacity, plan->written_count + 1, sizeof *plan->written))
        return false;
    plan->written[plan->written_count++] = matrix->data;
    plan->written[plan->written_count++] = (const char *)matrix->data + rf_matrix_span(matrix);
    return true;
}

// A binding over a matrix inside a memory, widened downwards to the alignment that bindings need.
static struct rf_operand bind(const struct rf_device *device, const struct rf_memory *memory, uint64_t offset,
                              const struct rf_matrix *matrix) {
    uint64_t begin = offset / device->caps.offset_alignment * device->caps.offset_alignment;
    // Whole words, since two-byte elements are read through them on some devices; buffers are whole pages.
    uint64_t end = (offset + rf_matrix_span(matrix) + 3) / 4 * 4;
    struct rf_operand operand = {.slice = {memory->buffer, begin, end - begin}, .first_bytes = offset - begin};
    for (int i = 0; i < 4; i++)
        operand.nb[i] = matrix->nb[i];
    return operand;
}

static bool flush_range(struct rf_device *device, const struct rf_memory *memory, uint64_t offset, uint64_t bytes) {
    VkResult result = rf_memory_flush(device, memory, offset, bytes);
    if (result != VK_SUCCESS)
        rf_device_fail(device, "flushing host writes", result);
    return result == VK_SUCCESS;
}

bool rf_plan_upload(struct rf_device *device, const void *data, uint64_t bytes, struct rf_slice *slice) {
    struct rf_arena *staging = &device->plan->staging;
    *slice = rf_plan_take(staging, bytes);
    memcpy((char *)staging->memory.host + slice->offset, data, bytes);
    return flush_range(device, &staging->memory, slice->offset, bytes);
}

// Packs a matrix's elements, rows and matrices tightly into `to`.
static void pack(const struct rf_matrix *matrix, char *to, uint64_t row_bytes) {
    const struct rf_format_info *format = rf_format_info(matrix->format);
    bool whole_rows = !format->is_float || matrix->nb[0] == format->block_bytes;
    for (int64_t m = 0; m < matrix->ne[2]; m++)
        for (int64_t r = 0; r < matrix->ne[1]; r++, to += row_bytes) {
            const char *row = (const char *)matrix->data + (uint64_t)m * matrix->nb[2] + (uint64_t)r * matrix->nb[1];
            if (whole_rows) {
                memcpy(to, row, row_bytes);
                continue;
            }
            for (int64_t k = 0; k < matrix->ne[0]; k++)
                memcpy(to + (uint64_t)k * format->block_bytes, row + (uint64_t)k * matrix->nb[0], format->block_bytes);
        }
}

// Kernels on discrete devices read and write their own memory; a bus is for long copies.
static bool bounce_input(struct rf_device *device, struct rf_slice *slice) {
    if (device->plan->bounce.buffer == VK_NULL_HANDLE)
        return true;
    struct rf_slice from = *slice;
    slice->buffer = device->plan->bounce.buffer;
    struct rf_step step = {.bindings = {from, *slice}};
    return rf_plan_step(device, &step);
}

// Bytes of a row, and of ne[1] x ne[2] of them, without gaps.
static uint64_t packed_row_bytes(const struct rf_matrix *matrix) {
    const struct rf_format_info *format = rf_format_info(matrix->format);
    return (uint64_t)matrix->ne[0] / format->block_elems * format->block_bytes;
}

static uint64_t packed_bytes(const struct rf_matrix *matrix) {
    return packed_row_bytes(matrix) * (uint64_t)(matrix->ne[1] * matrix->ne[2]);
}

uint64_t rf_plan_staging_bytes(const struct rf_device *device, const struct rf_matrix *matrix, bool constant) {
    return rf_plan_in_place(device, matrix, constant) ? 0 : rf_plan_slice_bytes(packed_bytes(matrix) + 4);
}

static bool stage_input(struct rf_device *device, const struct rf_matrix *matrix, struct rf_operand *operand) {
    const struct rf_format_info *format = rf_format_info(matrix->format);
    uint64_t row_bytes = packed_row_bytes(matrix), bytes = packed_bytes(matrix);
    struct rf_arena *staging = &device->plan->staging;
    struct rf_slice slice = rf_plan_take(staging, (bytes + 3) / 4 * 4);
    pack(matrix, (char *)staging->memory.host + slice.offset, row_bytes);
    if (!flush_range(device, &staging->memory, slice.offset, bytes) || !bounce_input(device, &slice))
        return false;
    *operand = (struct rf_operand){.slice = slice,
                                   .nb = {format->block_bytes, row_bytes, row_bytes * (uint64_t)matrix->ne[1], bytes},
                                   .pending = slice.buffer != staging->memory.buffer};
    return true;
}

// Copies a constant buffer to its twin through the staging arena.
static bool fill_twin(struct rf_device *device, struct rf_buffer *owner) {
    for (uint64_t done = 0; done < owner->bytes;) {
        uint64_t bytes = owner->bytes - done < RF_STAGING_LIMIT / 4 ? owner->bytes - done : RF_STAGING_LIMIT / 4;
        struct rf_slice from;
        bool flushed;
        if (!rf_plan_room(device, 0, 0, rf_plan_slice_bytes(bytes), &flushed) ||
            !rf_plan_upload(device, (const char *)owner->host + done, bytes, &from))
            return false;
        struct rf_step step = {.bindings = {from, {owner->twin.buffer, done, bytes}}};
        if (!rf_plan_step(device, &step))
            return false;
        done += bytes;
    }
    return rf_plan_flush(device);
}

// A twin with the host's contents; without room for one (a quarter of the heap is left to everything else) the buffer
// is staged from then on.
static bool ensure_twin(struct rf_device *device, struct rf_buffer *owner) {
    if (owner->twin.buffer == VK_NULL_HANDLE) {
        uint64_t taken = atomic_load(&device->allocated_bytes) + owner->bytes;
        VkResult result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
        if (taken <= device->caps.heap_bytes / 4 * 3)
            result = rf_memory_create(device, RF_MEMORY_LOCAL, owner->bytes, NULL, &owner->twin);
        owner->twin_refused = result != VK_SUCCESS;
        rf_log(owner->twin_refused ? RF_LOG_WARN : RF_LOG_INFO,
               owner->twin_refused ? "%s has no room for a copy of %zu MiB of weights; they are copied piece by piece"
                                   : "%s: %zu MiB of weights have a copy in device memory",
               device->caps.name, owner->bytes >> 20);
    }
    if (owner->twin_refused || atomic_load(&owner->current))
        return true;
    if (!fill_twin(device, owner))
        return false;
    atomic_store(&owner->current, true);
    return true;
}

static bool flush_owner(struct rf_device *device, const struct rf_matrix *matrix, bool constant) {
    struct rf_buffer *owner = matrix->owner;
    if (!constant)
        return flush_range(device, &owner->memory, rf_buffer_offset(owner, matrix->data), rf_matrix_span(matrix));
    // Weights do not change between uses: one flush of all of them serves until the next write.
    if (atomic_exchange(&owner->current, true))
        return true;
    return flush_range(device, &owner->memory, 0, owner->memory.bytes);
}

bool rf_plan_prepare(struct rf_device *device, const struct rf_matrix *matrix, bool constant) {
    struct rf_buffer *owner = matrix->owner;
    bool ours = owner != NULL && owner->device == device;
    if (ours && owner->memory.buffer != VK_NULL_HANDLE)
        return true;
    if (rf_plan_pending(device, matrix) && !rf_plan_flush(device))
        return false;
    return !rf_plan_in_place(device, matrix, constant) || ensure_twin(device, owner);
}

bool rf_plan_input(struct rf_device *device, const struct rf_matrix *matrix, bool constant,
                   struct rf_operand *operand) {
    struct rf_buffer *owner = matrix->owner;
    if (!rf_plan_in_place(device, matrix, constant))
        return stage_input(device, matrix, operand);
    uint64_t offset = rf_buffer_offset(owner, matrix->data);
    if (owner->memory.buffer == VK_NULL_HANDLE) {
        *operand = bind(device, &owner->twin, offset, matrix);
        return true;
    }
    // A range that a pending step writes is the device's: flushing the host's stale lines would destroy it.
    bool pending = rf_plan_pending(device, matrix);
    if (!pending && !flush_owner(device, matrix, constant))
        return false;
    *operand = bind(device, &owner->memory, offset, matrix);
    operand->pending = pending;
    return true;
}

static bool note_result(struct rf_plan *plan, const struct rf_memory *memory, uint64_t begin, uint64_t bytes) {
    if (memory->coherent)
        return true;
    if (!reserve((void **)&plan->results, &plan->result_capacity, plan->result_count, sizeof *plan->results))
        return false;
    plan->results[plan->result_count].memory = memory;
    plan->results[plan->result_count].begin = begin;
    plan->results[plan->result_count++].end = begin + bytes;
    return true;
}

bool rf_plan_stage_result(struct rf_device *device, const struct rf_matrix *matrix, uint64_t bytes,
                          struct rf_slice *slice) {
    struct rf_plan *plan = device->plan;
    *slice = rf_plan_take(&plan->staging, bytes);
    if (!note_result(plan, &plan->staging.memory, slice->offset, bytes) || !note_written(plan, matrix))
        return false;
    if (plan->bounce.buffer == VK_NULL_HANDLE)
        return true;
    slice->buffer = plan->bounce.buffer;
    if (!reserve((void **)&plan->outputs, &plan->output_capacity, plan->output_count, sizeof *plan->outputs))
        return false;
    plan->outputs[plan->output_count++] = *slice;
    return true;
}

static bool note_download(struct rf_plan *plan, const struct rf_download *download) {
    if (!reserve((void **)&plan->downloads, &plan->download_capacity, plan->download_count, sizeof *plan->downloads))
        return false;
    plan->downloads[plan->download_count++] = *download;
    return true;
}

bool rf_plan_deliver(struct rf_device *device, const struct rf_slice *slice, uint64_t offset, void *to,
                     uint64_t bytes) {
    struct rf_download download = {.from = (const char *)device->plan->staging.memory.host + slice->offset + offset,
                                   .to = to,
                                   .row_bytes = bytes,
                                   .rows = 1,
                                   .matrices = 1};
    return note_download(device->plan, &download);
}

static bool stage_output(struct rf_device *device, const struct rf_matrix *matrix, struct rf_operand *operand) {
    struct rf_plan *plan = device->plan;
    uint64_t row_bytes = packed_row_bytes(matrix), bytes = packed_bytes(matrix);
    struct rf_slice slice;
    if (!rf_plan_stage_result(device, matrix, bytes, &slice))
        return false;
    struct rf_download download = {.from = (const char *)plan->staging.memory.host + slice.offset,
                                   .to = (char *)(uintptr_t)matrix->data,
                                   .row_bytes = row_bytes,
                                   .rows = (uint64_t)matrix->ne[1],
                                   .matrices = (uint64_t)matrix->ne[2],
                                   .to_row = matrix->nb[1],
                                   .to_matrix = matrix->nb[2]};
    *operand = (struct rf_operand){.slice = slice,
                                   .nb = {sizeof(float), row_bytes, row_bytes * (uint64_t)matrix->ne[1], bytes}};
    return note_download(plan, &download);
}

bool rf_plan_output(struct rf_device *device, const struct rf_matrix *matrix, struct rf_operand *operand) {
    struct rf_buffer *owner = matrix->owner;
    if (owner == NULL || owner->device != device || owner->memory.buffer == VK_NULL_HANDLE)
        return stage_output(device, matrix, operand);
    uint64_t offset = rf_buffer_offset(owner, matrix->data), span = rf_matrix_span(matrix);
    // The host's dirty lines over the result must be gone before the device writes, or their write-back would destroy
    // it; a range that is already the device's has none.
    if (!rf_plan_pending(device, matrix) && !flush_range(device, &owner->memory, offset, span))
        return false;
    *operand = bind(device, &owner->memory, offset, matrix);
    return note_result(device->plan, &owner->memory, offset, span) && note_written(device->plan, matrix);
}
