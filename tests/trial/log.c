/* SPDX-License-Identifier: MIT
 *
 * The record of a run: objects, allocations, submissions, injected failures and faults of the program, as JSON.
 *
 * Written when an instance or device is destroyed, when a failure is injected or a fault seen (the program may abort
 * next) and when the process exits.
 */
#include "trial.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_EVENTS 64 /* injections and faults kept in full; all are counted */

/* Calls whose running totals each submission records: what a steady state must not make. */
static const enum trial_call steady_calls[] = {
    TRIAL_CALL_vkAllocateMemory,
    TRIAL_CALL_vkMapMemory,
    TRIAL_CALL_vkCreateBuffer,
    TRIAL_CALL_vkCreateShaderModule,
    TRIAL_CALL_vkCreateComputePipelines,
    TRIAL_CALL_vkCreateDescriptorPool,
    TRIAL_CALL_vkAllocateDescriptorSets,
    TRIAL_CALL_vkCreateCommandPool,
    TRIAL_CALL_vkAllocateCommandBuffers,
    TRIAL_CALL_vkCreateSemaphore,
    TRIAL_CALL_vkCreateFence,
};
#define STEADY_COUNT (sizeof steady_calls / sizeof *steady_calls)

struct submit_record {
    uint64_t index, at_ns, steady[STEADY_COUNT];
    struct trial_work work;
    bool dropped;
};

struct allocation_record {
    uint64_t bytes, after_submit;
    uint32_t type;
    bool imported;
};

static const char *const kind_names[TRIAL_KIND_COUNT] = {
    "instance",
    "device",
    "memory",
    "buffer",
    "shader_module",
    "pipeline_layout",
    "descriptor_set_layout",
    "descriptor_pool",
    "descriptor_update_template",
    "pipeline",
    "pipeline_cache",
    "command_pool",
    "command_buffer",
    "semaphore",
    "fence",
    "query_pool",
};

static struct { int64_t live, peak, created; } kinds[TRIAL_KIND_COUNT];
static struct { uint64_t live_bytes, peak_bytes, largest_bytes, refused, largest_refused_bytes; } memory;
static struct {
    uint64_t total;
    enum trial_call call;
    VkResult result;
} injections[MAX_EVENTS];
static char *faults[MAX_EVENTS];
static uint64_t injection_count, fault_count;
static struct submit_record *submits;
static size_t submit_count, submit_capacity;
static struct allocation_record *allocations;
static size_t allocation_count, allocation_capacity;
static uint64_t start_ns;

uint64_t trial_log_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

void trial_log_start(void) {
    trial_table_lock();
    start_ns = start_ns != 0 ? start_ns : trial_log_now_ns();
    trial_table_unlock();
}

/* Room for one more item; the run without its record proves nothing, so running out of memory ends it. */
static void *grow(void *items, size_t count, size_t *capacity, size_t item_bytes) {
    if (count < *capacity) {
        return items;
    }
    *capacity = *capacity != 0 ? 2 * *capacity : 64;
    items = realloc(items, *capacity * item_bytes);
    if (items == NULL) {
        fprintf(stderr, "trial: out of memory for the log\n");
        abort();
    }
    return items;
}

void trial_log_count(enum trial_kind kind, int64_t change) {
    trial_table_lock();
    kinds[kind].live += change;
    kinds[kind].created += change > 0 ? change : 0;
    kinds[kind].peak = kinds[kind].live > kinds[kind].peak ? kinds[kind].live : kinds[kind].peak;
    trial_table_unlock();
}

void trial_log_submit(uint64_t index, const struct trial_work *work, bool dropped) {
    trial_table_lock();
    submits = grow(submits, submit_count, &submit_capacity, sizeof *submits);
    struct submit_record *record = &submits[submit_count++];
    *record = (struct submit_record){
        .index = index, .at_ns = trial_log_now_ns() - start_ns, .work = *work, .dropped = dropped};
    for (size_t i = 0; i < STEADY_COUNT; i++) {
        record->steady[i] = trial_fault_calls(steady_calls[i]);
    }
    trial_table_unlock();
}

void trial_log_allocation(VkDeviceSize bytes, uint32_t type, bool imported) {
    trial_table_lock();
    allocations = grow(allocations, allocation_count, &allocation_capacity, sizeof *allocations);
    allocations[allocation_count++] =
        (struct allocation_record){.bytes = bytes, .after_submit = submit_count, .type = type, .imported = imported};
    memory.live_bytes += bytes;
    memory.peak_bytes = memory.live_bytes > memory.peak_bytes ? memory.live_bytes : memory.peak_bytes;
    memory.largest_bytes = bytes > memory.largest_bytes ? bytes : memory.largest_bytes;
    trial_table_unlock();
    trial_log_count(TRIAL_KIND_MEMORY, 1);
}

void trial_log_free(VkDeviceSize bytes) {
    trial_table_lock();
    memory.live_bytes -= bytes;
    trial_table_unlock();
    trial_log_count(TRIAL_KIND_MEMORY, -1);
}

void trial_log_refusal(VkDeviceSize bytes) {
    trial_table_lock();
    memory.refused++;
    memory.largest_refused_bytes = bytes > memory.largest_refused_bytes ? bytes : memory.largest_refused_bytes;
    trial_table_unlock();
}

void trial_log_injection(enum trial_call call, uint64_t total, VkResult result) {
    if (injection_count < MAX_EVENTS) {
        injections[injection_count].total = total;
        injections[injection_count].call = call;
        injections[injection_count].result = result;
    }
    injection_count++;
}

void trial_log_fault(const char *format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    trial_table_lock();
    if (fault_count < MAX_EVENTS) {
        fprintf(stderr, "TRIAL FAULT: %s\n", text);
        faults[fault_count] = strdup(text);
    }
    fault_count++;
    trial_table_unlock();
    trial_log_write();
}

/* ---- JSON. The texts are the layer's own: no quotes or backslashes to escape, except in a device's name. ---- */

static void write_calls(FILE *file) {
    fprintf(file, "  \"calls\": %" PRIu64 ",\n  \"calls_by_name\": {", trial_fault_total());
    const char *separator = "";
    for (int i = 0; i < TRIAL_CALL_COUNT; i++) {
        if (trial_fault_calls((enum trial_call)i) != 0) {
            fprintf(file, "%s\"%s\": %" PRIu64, separator, trial_fault_name((enum trial_call)i),
                    trial_fault_calls((enum trial_call)i));
            separator = ", ";
        }
    }
    fprintf(file, "},\n");
}

static void write_events(FILE *file) {
    fprintf(file, "  \"injected\": %" PRIu64 ",\n  \"injections\": [", injection_count);
    for (uint64_t i = 0; i < injection_count && i < MAX_EVENTS; i++) {
        fprintf(file, "%s{\"call\": %" PRIu64 ", \"name\": \"%s\", \"result\": %d}", i != 0 ? ", " : "",
                injections[i].total, trial_fault_name(injections[i].call), (int)injections[i].result);
    }
    fprintf(file, "],\n  \"faulted\": %" PRIu64 ",\n  \"faults\": [", fault_count);
    for (uint64_t i = 0; i < fault_count && i < MAX_EVENTS; i++) {
        fprintf(file, "%s\"%s\"", i != 0 ? ", " : "", faults[i] != NULL ? faults[i] : "");
    }
    fprintf(file, "],\n");
}

static void write_objects(FILE *file) {
    fprintf(file, "  \"objects\": {");
    for (int i = 0; i < TRIAL_KIND_COUNT; i++) {
        fprintf(file, "%s\n    \"%s\": {\"live\": %" PRId64 ", \"peak\": %" PRId64 ", \"created\": %" PRId64 "}",
                i != 0 ? "," : "", kind_names[i], kinds[i].live, kinds[i].peak, kinds[i].created);
    }
    fprintf(file, "\n  },\n");
}

static void write_memory(FILE *file) {
    fprintf(file,
            "  \"memory\": {\"live_bytes\": %" PRIu64 ", \"peak_bytes\": %" PRIu64 ", \"largest_bytes\": %" PRIu64
            ", \"refused\": %" PRIu64 ", \"largest_refused_bytes\": %" PRIu64 "},\n  \"allocations\": [",
            memory.live_bytes, memory.peak_bytes, memory.largest_bytes, memory.refused, memory.largest_refused_bytes);
    for (size_t i = 0; i < allocation_count; i++) {
        const struct allocation_record *a = &allocations[i];
        fprintf(file, "%s\n    {\"bytes\": %" PRIu64 ", \"type\": %u, \"imported\": %s, \"after_submit\": %" PRIu64 "}",
                i != 0 ? "," : "", a->bytes, a->type, a->imported ? "true" : "false", a->after_submit);
    }
    fprintf(file, "],\n");
}

static void write_submit(FILE *file, const struct submit_record *record) {
    const struct trial_work *work = &record->work;
    fprintf(file,
            "{\"index\": %" PRIu64 ", \"at_ns\": %" PRIu64 ", \"dropped\": %s, \"command_buffers\": %" PRIu64
            ", \"dispatches\": %" PRIu64 ", \"indirect_dispatches\": %" PRIu64 ", \"groups\": %" PRIu64
            ", \"largest_groups\": %" PRIu64 ", \"transfers\": %" PRIu64 ", \"transfer_bytes\": %" PRIu64
            ", \"barriers\": %" PRIu64 ", \"host_barriers\": %" PRIu64 ", \"so_far\": {",
            record->index, record->at_ns, record->dropped ? "true" : "false", work->command_buffers, work->dispatches,
            work->indirect_dispatches, work->groups, work->largest_groups, work->transfers, work->transfer_bytes,
            work->barriers, work->host_barriers);
    for (size_t i = 0; i < STEADY_COUNT; i++) {
        fprintf(file, "%s\"%s\": %" PRIu64, i != 0 ? ", " : "", trial_fault_name(steady_calls[i]), record->steady[i]);
    }
    fprintf(file, "}}");
}

static void write_all(FILE *file) {
    fprintf(file, "{\n  \"version\": 1,\n");
    write_calls(file);
    write_events(file);
    write_objects(file);
    write_memory(file);
    fprintf(file, "  \"submits\": [");
    for (size_t i = 0; i < submit_count; i++) {
        fprintf(file, "%s\n    ", i != 0 ? "," : "");
        write_submit(file, &submits[i]);
    }
    fprintf(file, "]\n}\n");
}

void trial_log_write(void) {
    if (trial_config.log_file == NULL) {
        return;
    }
    trial_table_lock();
    char path[4096];
    int length = snprintf(path, sizeof path, "%s.new", trial_config.log_file);
    FILE *file = length > 0 && (size_t)length < sizeof path ? fopen(path, "w") : NULL;
    bool good = file != NULL;
    if (good) {
        write_all(file);
        good = !ferror(file);
        good = fclose(file) == 0 && good;
        good = good && rename(path, trial_config.log_file) == 0;
    }
    if (!good) {
        fprintf(stderr, "trial: cannot write TRIAL_LOG %s\n", trial_config.log_file);
    }
    trial_table_unlock();
}

__attribute__((destructor)) static void at_exit(void) {
    trial_log_write();
}
