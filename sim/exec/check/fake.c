// SPDX-License-Identifier: MIT
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_test.h"

#define NAMES_MAX 256

static const char *names[NAMES_MAX];
static uint16_t name_count;

const char *mx_op_name(uint16_t op) {
    return names[op];
}

uint64_t mx_program_hash(const struct mx_program *program) {
    uint64_t hash = program->count;
    for (uint32_t i = 0; i < program->count; i++)
        hash = hash * 31 + program->insns[i].word * 7 + program->insns[i].op;
    return hash;
}

uint32_t mx_program_length(const struct mx_program *program) {
    return program->count;
}

const struct mx_insn *mx_program_insn(const struct mx_program *program, uint32_t index) {
    return &program->insns[index];
}

int mx_insn_print(const struct mx_insn *insn, char *text, size_t size) {
    return snprintf(text, size, "%s", names[insn->op]);
}

// All of the memory that a job of the tests can name.
static struct mx_region region;

const struct mx_region *mx_memory_find(const struct mx_memory *memory, uint64_t address) {
    (void)memory;
    return address >= region.begin && address < region.end ? &region : NULL;
}

void *mx_memory_at(const struct mx_memory *memory, uint64_t address, uint64_t size_bytes) {
    const struct mx_region *found = mx_memory_find(memory, address);
    return found != NULL && size_bytes <= found->end - address ? found->host + (address - found->begin) : NULL;
}

struct mx_source fake_register(uint8_t index, uint8_t words) {
    return (struct mx_source){.kind = MX_SOURCE_REGISTER, .index = index, .words = words};
}

struct mx_source fake_zero(void) {
    return (struct mx_source){.kind = MX_SOURCE_CONSTANT, .words = 1};
}

struct mx_source fake_pointer(void) {
    return (struct mx_source){.kind = MX_SOURCE_SPECIAL, .words = 2};
}

uint32_t fake_insn(struct fake *fake, const char *name, uint64_t word, uint8_t written, uint8_t written_count,
                   const struct mx_source sources[4]) {
    uint32_t index = fake->program.count++;
    struct mx_insn *insn = &fake->program.insns[index];
    uint16_t op = 0;
    while (op < name_count && strcmp(names[op], name) != 0)
        op++;
    names[op] = name;
    name_count = op == name_count ? op + 1 : name_count;
    *insn =
        (struct mx_insn){.word = word, .index = index, .op = op, .written = written, .written_count = written_count};
    memcpy(insn->sources, sources, sizeof insn->sources);
    while (insn->source_count < 4 && sources[insn->source_count].words > 0)
        insn->source_count++;
    return index;
}

// A resource table whose table 1 has one descriptor: of the 64 bytes at FAKE_BUFFER.
static void tables_fill(struct fake *fake) {
    uint64_t descriptors = FAKE_TABLE + 64, size = 32;
    uint32_t descriptor[8] = {0x19, 64, FAKE_BUFFER};
    memcpy(fake->memory + (FAKE_TABLE - FAKE_BUFFER) + 16, &descriptors, sizeof descriptors);
    memcpy(fake->memory + (FAKE_TABLE - FAKE_BUFFER) + 24, &size, sizeof size);
    memcpy(fake->memory + (descriptors - FAKE_BUFFER), descriptor, sizeof descriptor);
}

void fake_job(struct fake *fake) {
    region = (struct mx_region){.begin = FAKE_BUFFER, .end = FAKE_BUFFER + FAKE_BUFFER_BYTES, .host = fake->memory};
    tables_fill(fake);
    fake->job = (struct mx_job){.resources = FAKE_TABLE,
                                .resource_count = 2,
                                .stack_base = FAKE_STACK,
                                .stack_bytes = 64,
                                .shared_base = FAKE_SHARED,
                                .shared_bytes = 1024,
                                .preload = 0x1000,
                                .number = fake->job.number + 1};
    fake->observer->job_begin(fake->observer->context, &fake->job, &fake->program, 1);
}

void fake_group(struct fake *fake, uint32_t number) {
    if (number > 0)
        fake->observer->group_end(fake->observer->context, &fake->group);
    fake->group = (struct mx_workgroup){.job = &fake->job,
                                        .program = &fake->program,
                                        .id = {number, 0, 0},
                                        .linear = number,
                                        .warp_count = FAKE_WARPS,
                                        .warps = fake->warps,
                                        .stack_base = FAKE_STACK,
                                        .shared_base = FAKE_SHARED};
    for (uint32_t i = 0; i < FAKE_WARPS; i++) {
        memset(&fake->warps[i], 0, sizeof fake->warps[i]);
        fake->warps[i].index = i;
        fake->warps[i].live = fake->warps[i].active = 0xffff;
    }
    fake->observer->group_begin(fake->observer->context, &fake->group);
}

void fake_end(struct fake *fake) {
    fake->observer->job_end(fake->observer->context, &fake->job, true);
}

static void write_result(struct mx_warp *warp, const struct mx_insn *insn, uint32_t value) {
    for (uint32_t i = 0; i < insn->written_count; i++)
        for (uint32_t lane = 0; lane < MX_LANES; lane++)
            if (warp->active >> lane & 1)
                warp->registers[insn->written + i][lane] = value;
}

void fake_run(struct fake *fake, uint32_t warp, uint32_t insn, uint32_t value) {
    const struct mx_observer *observer = fake->observer;
    struct mx_warp *state = &fake->warps[warp];
    const struct mx_insn *decoded = &fake->program.insns[insn];
    observer->before(observer->context, &fake->group, state, decoded);
    write_result(state, decoded, value);
    observer->after(observer->context, &fake->group, state, decoded);
}

void fake_message(struct fake *fake, uint32_t warp, uint32_t insn, const struct mx_message *message, uint64_t address,
                  uint64_t stride) {
    const struct mx_observer *observer = fake->observer;
    struct mx_warp *state = &fake->warps[warp];
    const struct mx_insn *decoded = &fake->program.insns[insn];
    struct mx_message full = *message;
    full.lanes = message->lanes != 0 || message->out_of_bounds != 0 ? message->lanes : state->active;
    full.bytes = message->bytes != 0 ? message->bytes : 4;
    for (uint32_t lane = 0; lane < MX_LANES; lane++)
        full.address[lane] = address + lane * stride;
    observer->before(observer->context, &fake->group, state, decoded);
    observer->message(observer->context, &fake->group, state, decoded, &full);
    observer->after(observer->context, &fake->group, state, decoded);
}

void fake_address(struct fake *fake, uint32_t warp, uint32_t insn) {
    const struct mx_observer *observer = fake->observer;
    struct mx_warp *state = &fake->warps[warp];
    const struct mx_insn *decoded = &fake->program.insns[insn];
    struct mx_message message = {.space = MX_SPACE_BUFFER, .lanes = state->active};
    for (uint32_t lane = 0; lane < MX_LANES; lane++)
        message.handle[lane] = 0x01000000;
    observer->before(observer->context, &fake->group, state, decoded);
    observer->address(observer->context, &fake->group, state, decoded, &message);
    write_result(state, decoded, 0);
    observer->after(observer->context, &fake->group, state, decoded);
}

// The findings of that kind in a report; *occurrences of the first.
static int count(struct fake *fake, const char *kind, int *occurrences) {
    json_t *report = json_object(), *finding;
    size_t i;
    int found = 0;
    CHECK(mx_check_report(fake->check, report));
    json_array_foreach(json_object_get(report, "findings"), i, finding) {
        if (kind != NULL && strcmp(json_string_value(json_object_get(finding, "kind")), kind) != 0)
            continue;
        if (found++ == 0)
            *occurrences = (int)json_integer_value(json_object_get(finding, "count"));
    }
    json_decref(report);
    return found;
}

int fake_findings(struct fake *fake, const char *kind) {
    int occurrences = 0;
    return count(fake, kind, &occurrences);
}

int fake_occurrences(struct fake *fake, const char *kind) {
    int occurrences = 0;
    count(fake, kind, &occurrences);
    return occurrences;
}
