// SPDX-License-Identifier: MIT
#include "report.h"

#include <inttypes.h>
#include <stdio.h>

static json_t *number(uint64_t value) {
    return json_integer((json_int_t)value);
}

static json_t *slots_of(const struct mx_kernel *kernel, uint64_t *instructions) {
    uint64_t slots[MX_UNIT_LS + 1] = {0};
    *instructions = 0;
    for (uint32_t i = 0; i < kernel->length; i++) {
        const struct mx_insn *insn = &kernel->insns[i];
        *instructions += kernel->executed[i];
        slots[insn->unit] += kernel->executed[i] * mx_kernel_slots(insn);
    }
    return json_pack("{s:o, s:o, s:o, s:o}", "fma", number(slots[MX_UNIT_FMA]), "cvt", number(slots[MX_UNIT_CVT]),
                     "sfu", number(slots[MX_UNIT_SFU]), "ls", number(slots[MX_UNIT_LS]));
}

// Those that occurred, as "load buffer 128": access, space, bits a lane.
static json_t *messages_of(const struct mx_kernel *kernel, uint64_t *total) {
    static const char *const accesses[MX_ACCESSES] = {"load", "store", "atomic"};
    static const char *const spaces[MX_SPACES] = {"pointer", "buffer", "stack", "shared"};
    json_t *all = json_object();
    for (int a = 0; a < MX_ACCESSES; a++)
        for (int s = 0; s < MX_SPACES; s++)
            for (int w = 0; w < MX_WIDTHS; w++) {
                char key[32];
                snprintf(key, sizeof key, "%s %s %d", accesses[a], spaces[s], 8 << w);
                *total += kernel->messages[a][s][w];
                if (kernel->messages[a][s][w] > 0)
                    json_object_set_new(all, key, number(kernel->messages[a][s][w]));
            }
    if (kernel->addresses > 0)
        json_object_set_new(all, "address", number(kernel->addresses));
    if (kernel->touched[0] > 0)
        json_object_set_new(all, "out of bounds", number(kernel->touched[0]));
    *total += kernel->addresses + kernel->touched[0];
    return all;
}

static json_t *touched_of(const struct mx_kernel *kernel) {
    json_t *all = json_object();
    for (int n = 1; n <= MX_LINES_MAX; n++) {
        char key[8];
        snprintf(key, sizeof key, "%d", n);
        if (kernel->touched[n] > 0)
            json_object_set_new(all, key, number(kernel->touched[n]));
    }
    return all;
}

static void caches_describe(const struct mx_kernel *kernel, json_t *all) {
    const struct mx_traffic_counts *t = &kernel->traffic;
    json_t *fields =
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "lines", number(t->l1), "l1_hits", number(t->l1_hits),
                  "l2_requests", number(t->l2), "l2_hits", number(t->l2_hits), "dram_read_bytes",
                  number(t->dram_read * MX_LINE_BYTES), "dram_written_bytes", number(t->dram_written * MX_LINE_BYTES),
                  "dram_bytes", number((t->dram_read + t->dram_written) * MX_LINE_BYTES));
    json_object_update(all, fields);
    json_decref(fields);
}

static void memory_describe(const struct mx_kernel *kernel, json_t *all) {
    uint64_t messages = 0;
    json_object_set_new(all, "messages_by_kind", messages_of(kernel, &messages));
    json_object_set_new(all, "messages", number(messages));
    json_object_set_new(all, "messages_by_lines", touched_of(kernel));
    json_object_set_new(all, "beats", number(kernel->beats));
    json_object_set_new(all, "waits", number(kernel->waits));
    json_object_set_new(all, "waits_missed", number(kernel->waits_missed));
    json_object_set_new(all, "stack_lines", number(kernel->lines[MX_SPACE_STACK]));
    json_object_set_new(all, "stack_lines_apart", number(kernel->stack_lines_apart));
    json_object_set_new(all, "shared_lines", number(kernel->lines[MX_SPACE_SHARED]));
    json_object_set_new(all, "spill_bytes", number(kernel->bytes[MX_SPACE_STACK]));
    json_object_set_new(all, "shared_bytes", number(kernel->bytes[MX_SPACE_SHARED]));
    caches_describe(kernel, all);
}

static json_t *kernel_describe(const struct mx_kernel *kernel, json_t *names) {
    char hash[17];
    uint64_t instructions;
    snprintf(hash, sizeof hash, "%016" PRIx64, kernel->hash);
    json_t *slots = slots_of(kernel, &instructions), *name = names != NULL ? json_object_get(names, hash) : NULL;
    json_t *all = json_pack(
        "{s:s, s:O?, s:i, s:I, s:I, s:I, s:I, s:o, s:I, s:i, s:i, s:f, s:I, s:I}", "hash", hash, "name", name,
        "instructions", (int)kernel->length, "dispatches", (json_int_t)kernel->dispatches, "groups",
        (json_int_t)kernel->groups, "warps", (json_int_t)kernel->warps, "warp_instructions", (json_int_t)instructions,
        "slots", slots, "lanes_active", (json_int_t)kernel->lanes, "registers", (int)kernel->registers, "group_threads",
        (int)kernel->threads, "occupancy", kernel->resident_threads / 2048.0, "stack_bytes",
        (json_int_t)kernel->stack_bytes, "shared_bytes_a_group", (json_int_t)kernel->shared_bytes);
    if (all != NULL)
        memory_describe(kernel, all);
    return all;
}

static json_t *operations_of(const struct mx_kernel *kernels) {
    uint64_t executed[MX_OP_COUNT] = {0};
    json_t *all = json_object();
    for (const struct mx_kernel *kernel = kernels; kernel != NULL; kernel = kernel->next)
        for (uint32_t i = 0; i < kernel->length; i++)
            if (kernel->insns[i].op < MX_OP_COUNT)
                executed[kernel->insns[i].op] += kernel->executed[i];
    for (uint16_t op = 0; op < MX_OP_COUNT; op++)
        if (executed[op] > 0)
            json_object_set_new(all, mx_op_name(op), number(executed[op]));
    return all;
}

bool mx_report_fill(const struct mx_report_about *about, json_t *report) {
    json_t *kernels = json_array();
    for (const struct mx_kernel *kernel = about->kernels; kernel != NULL; kernel = kernel->next)
        if (json_array_append_new(kernels, kernel_describe(kernel, about->names)) != 0) {
            json_decref(kernels);
            return false;
        }
    json_t *all =
        json_pack("{s:o, s:o, s:{s:I, s:I}, s:{s:i, s:i, s:i, s:i, s:b, s:I, s:b}}", "kernels", kernels, "operations",
                  operations_of(about->kernels), "copied", "jobs", (json_int_t)about->copied.jobs, "bytes",
                  (json_int_t)about->copied.bytes, "count", "l1_bytes", MX_L1_BYTES, "l1_ways", MX_L1_WAYS, "l2_bytes",
                  MX_L2_BYTES, "l2_ways", MX_L2_WAYS, "stacks_apart", about->stacks_apart, "unordered",
                  (json_int_t)about->unordered, "complete", about->complete);
    bool good = all != NULL && json_object_update(report, all) == 0;
    json_decref(all);
    return good;
}
