// SPDX-License-Identifier: MIT
// The counters without a core: calls as it would make them, and what has to come out, by hand.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "count.h"
#include "traffic.h"

enum { FMA, WIDE, LOAD, STORE, INSTRUCTIONS };

struct mx_program {
    struct mx_insn insns[INSTRUCTIONS];
};

uint64_t mx_program_hash(const struct mx_program *program) {
    return program->insns[0].word;
}

uint32_t mx_program_length(const struct mx_program *program) {
    (void)program;
    return INSTRUCTIONS;
}

const struct mx_insn *mx_program_insn(const struct mx_program *program, uint32_t index) {
    return &program->insns[index];
}

const char *mx_op_name(uint16_t op) {
    return op == MX_OP_FMA_F32 ? "FMA.f32" : op == MX_OP_IADD_U64 ? "IADD.u64" : op == MX_OP_LOAD ? "LOAD" : "STORE";
}

static int passed, failed;
static const char *running;

static void check_equal(int64_t value, int64_t wanted, int line, const char *what) {
    if (value == wanted) {
        passed++;
        return;
    }
    failed++;
    fprintf(stderr, "%s: line %d: %s is %" PRId64 ", not %" PRId64 "\n", running, line, what, value, wanted);
}

#define EQUAL(value, wanted) check_equal((int64_t)(value), (wanted), __LINE__, #value)

#define BUFFER UINT64_C(0x100000)
#define STACK UINT64_C(0x40000000)

// One kernel, one warp, one workgroup at a time.
struct fake {
    struct mx_count *count;
    const struct mx_observer *on;
    struct mx_program program;
    struct mx_job job;
    struct mx_workgroup group;
    struct mx_warp *warp;
    json_t *report, *kernel;
};

static void job_begin(struct fake *f) {
    f->on->job_begin(f->on->context, &f->job, &f->program, 1);
}

static void group_begin(struct fake *f, uint32_t linear) {
    f->group.linear = linear;
    f->group.core = linear % MX_MODELLED_CORES;
    f->on->group_begin(f->on->context, &f->group);
}

static void job_end(struct fake *f) {
    f->on->job_end(f->on->context, &f->job, true);
}

static void execute(struct fake *f, int insn) {
    f->on->before(f->on->context, &f->group, f->warp, &f->program.insns[insn]);
}

// Lane l at `address` + l `stride`.
static void message(struct fake *f, enum mx_access access, enum mx_space space, uint32_t bytes, uint64_t address,
                    uint64_t stride) {
    int insn = access == MX_LOAD ? LOAD : STORE;
    struct mx_message m = {.access = access, .space = space, .lanes = 0xffff, .bytes = bytes};
    for (uint32_t l = 0; l < MX_LANES; l++)
        m.address[l] = address + l * stride;
    execute(f, insn);
    f->on->message(f->on->context, &f->group, f->warp, &f->program.insns[insn], &m);
}

static void load(struct fake *f, uint64_t address, uint64_t stride) {
    message(f, MX_LOAD, MX_SPACE_BUFFER, 4, address, stride);
}

static void report(struct fake *f) {
    f->report = json_object();
    EQUAL(mx_count_report(f->count, f->report), true);
    f->kernel = json_array_get(json_object_get(f->report, "kernels"), 0);
}

static int64_t field(const json_t *object, const char *name) {
    const json_t *value = json_object_get(object, name);
    return value == NULL ? -1 : (int64_t)json_integer_value(value);
}

static int64_t kernel_field(const struct fake *f, const char *name) {
    return field(f->kernel, name);
}

static void begin_one(struct fake *f) {
    job_begin(f);
    group_begin(f, 0);
}

static void end_one(struct fake *f) {
    job_end(f);
    report(f);
}

static void test_slots(struct fake *f) {
    begin_one(f);
    execute(f, FMA);
    f->warp->active = 0x000f;
    execute(f, FMA);
    execute(f, WIDE);
    end_one(f);
    const json_t *slots = json_object_get(f->kernel, "slots");
    EQUAL(field(slots, "fma"), 2);
    EQUAL(field(slots, "cvt"), 2);
    EQUAL(field(slots, "ls"), 0);
    EQUAL(kernel_field(f, "warp_instructions"), 3);
    EQUAL(kernel_field(f, "lanes_active"), 16 + 4 + 4);
    EQUAL(kernel_field(f, "groups"), 1);
    EQUAL(kernel_field(f, "warps"), 1);
    EQUAL(field(json_object_get(f->report, "operations"), "FMA.f32"), 2);
    EQUAL(json_real_value(json_object_get(f->kernel, "occupancy")) * 1000, 500);
}

static void test_name(struct fake *f) {
    begin_one(f);
    end_one(f);
    EQUAL(json_is_null(json_object_get(f->kernel, "name")), true);
}

static void test_uniform(struct fake *f) {
    begin_one(f);
    message(f, MX_LOAD, MX_SPACE_BUFFER, 16, BUFFER, 0);
    message(f, MX_LOAD, MX_SPACE_BUFFER, 16, BUFFER + 16, 0);
    end_one(f);
    EQUAL(kernel_field(f, "lines"), 2);
    EQUAL(kernel_field(f, "l1_hits"), 1);
    EQUAL(kernel_field(f, "beats"), 8); // 16 bytes for 16 lanes are four pieces of 64
    EQUAL(kernel_field(f, "dram_bytes"), 64);
    EQUAL(field(json_object_get(f->kernel, "messages_by_lines"), "1"), 2);
    EQUAL(field(json_object_get(f->kernel, "messages_by_kind"), "load buffer 128"), 2);
}

static void test_contiguous(struct fake *f) {
    begin_one(f);
    load(f, BUFFER, 4);                                         // one line
    load(f, BUFFER + 4, 4);                                     // the same and the next
    message(f, MX_LOAD, MX_SPACE_BUFFER, 16, BUFFER + 128, 16); // four more
    end_one(f);
    EQUAL(kernel_field(f, "lines"), 7);
    EQUAL(kernel_field(f, "l1_hits"), 1);
    EQUAL(kernel_field(f, "dram_read_bytes"), 6 * 64);
    EQUAL(kernel_field(f, "messages"), 3);
    EQUAL(kernel_field(f, "waits"), 3);
    EQUAL(kernel_field(f, "waits_missed"), 3);
}

static void test_scattered(struct fake *f) {
    begin_one(f);
    load(f, BUFFER, 4096);
    load(f, BUFFER + 62, 4096); // each lane's bytes lie in two lines
    end_one(f);
    EQUAL(field(json_object_get(f->kernel, "messages_by_lines"), "16"), 1);
    EQUAL(field(json_object_get(f->kernel, "messages_by_lines"), "32"), 1);
    EQUAL(kernel_field(f, "lines"), 48);
    EQUAL(kernel_field(f, "l1_hits"), 16);
}

// Twice as much as the L1 holds, read twice: the second time comes from the L2.
static void test_eviction(struct fake *f) {
    begin_one(f);
    for (int pass = 0; pass < 2; pass++)
        for (uint64_t line = 0; line < 2 * MX_L1_BYTES / 64; line++)
            load(f, BUFFER + 64 * line, 4);
    end_one(f);
    EQUAL(kernel_field(f, "lines"), 1024);
    EQUAL(kernel_field(f, "l1_hits"), 0);
    EQUAL(kernel_field(f, "l2_requests"), 1024);
    EQUAL(kernel_field(f, "l2_hits"), 512);
    EQUAL(kernel_field(f, "dram_read_bytes"), 512 * 64);
    EQUAL(kernel_field(f, "dram_written_bytes"), 0);
}

// A line written twice goes to DRAM once, at the end of the job; one that was only written is never read.
static void test_write_back(struct fake *f) {
    begin_one(f);
    message(f, MX_STORE, MX_SPACE_BUFFER, 4, BUFFER, 4);
    message(f, MX_STORE, MX_SPACE_BUFFER, 4, BUFFER, 4);
    load(f, BUFFER, 4);
    end_one(f);
    EQUAL(kernel_field(f, "lines"), 3);
    EQUAL(kernel_field(f, "l1_hits"), 2);
    EQUAL(kernel_field(f, "l2_requests"), 1);
    EQUAL(kernel_field(f, "dram_read_bytes"), 0);
    EQUAL(kernel_field(f, "dram_written_bytes"), 64);
    EQUAL(kernel_field(f, "waits"), 1);
    EQUAL(kernel_field(f, "waits_missed"), 0);
}

// The L2 keeps its lines from one job to the next, the L1s do not.
static void test_jobs(struct fake *f) {
    for (int job = 0; job < 2; job++) {
        begin_one(f);
        load(f, BUFFER, 4);
        job_end(f);
    }
    report(f);
    EQUAL(kernel_field(f, "dispatches"), 2);
    EQUAL(kernel_field(f, "l1_hits"), 0);
    EQUAL(kernel_field(f, "l2_hits"), 1);
    EQUAL(kernel_field(f, "dram_read_bytes"), 64);
}

// Core 0 reads lines 0 to 19999 twice, then core 1 has its turn and does the same: side by side, each line comes from
// DRAM once a pass, as the L2 holds fewer, and core 1 finds it there.
static void test_cores(struct fake *f) {
    job_begin(f);
    for (uint32_t core = 0; core < 2; core++) {
        group_begin(f, core);
        for (int pass = 0; pass < 2; pass++)
            for (uint64_t line = 0; line < 20000; line++)
                load(f, BUFFER + 64 * line, 4);
    }
    end_one(f);
    EQUAL(kernel_field(f, "l2_requests"), 80000);
    EQUAL(field(json_object_get(f->report, "count"), "unordered"), 0);
    EQUAL(kernel_field(f, "l2_hits") >= 40000, true);
    EQUAL(kernel_field(f, "dram_read_bytes") <= 40000 * 64, true);
}

// A spilled register of a warp: 4 lines when lanes interleave by 16 bytes, 16 when they do not. The other three words
// of the 16 bytes lie in the same lines.
static void test_stack(struct fake *f) {
    begin_one(f);
    for (uint32_t word = 0; word < 4; word++)
        message(f, MX_STORE, MX_SPACE_STACK, 4, STACK + 4 * word, 128);
    message(f, MX_LOAD, MX_SPACE_STACK, 16, STACK + 16, 128);
    end_one(f);
    EQUAL(kernel_field(f, "stack_lines"), 20);
    EQUAL(kernel_field(f, "stack_lines_apart"), 80);
    EQUAL(kernel_field(f, "l1_hits"), 12);
    EQUAL(kernel_field(f, "spill_bytes"), 4 * 64 + 256);
}

static void test_stacks_apart(struct fake *f) {
    mx_count_free(f->count);
    f->count = mx_count_new(&(struct mx_count_options){.stacks_apart = true});
    f->on = mx_count_observer(f->count);
    begin_one(f);
    message(f, MX_STORE, MX_SPACE_STACK, 4, STACK, 128);
    end_one(f);
    EQUAL(kernel_field(f, "lines"), 16);
    EQUAL(kernel_field(f, "stack_lines"), 16);
}

// The cores that are executed here share their stacks' addresses; the modelled ones do not.
static void test_own_memory(struct fake *f) {
    job_begin(f);
    for (uint32_t core = 0; core < 2; core++) {
        group_begin(f, core);
        message(f, MX_STORE, MX_SPACE_SHARED, 4, STACK, 4);
    }
    end_one(f);
    EQUAL(kernel_field(f, "dram_written_bytes"), 128);
    EQUAL(kernel_field(f, "shared_bytes"), 128);
}

static void test_empty(struct fake *f) {
    f->job.group_count[0] = 0;
    job_begin(f);
    end_one(f);
    EQUAL(kernel_field(f, "dispatches"), 0);
    EQUAL(kernel_field(f, "groups"), 0);
}

static const struct test {
    const char *name;
    void (*run)(struct fake *f);
} tests[] = {
    {"slots by unit, lanes", test_slots},   {"a kernel without a name", test_name},
    {"a uniform load", test_uniform},       {"contiguous loads", test_contiguous},
    {"scattered loads", test_scattered},    {"what the L1 cannot hold", test_eviction},
    {"write-back", test_write_back},        {"two jobs", test_jobs},
    {"two cores side by side", test_cores}, {"a stack that interleaves", test_stack},
    {"stacks apart", test_stacks_apart},    {"workgroup memory of two cores", test_own_memory},
    {"an empty grid", test_empty},
};

static struct mx_insn insn(uint32_t index, uint16_t op, uint8_t unit, uint8_t written_count) {
    return (struct mx_insn){.word = 0x1234, .index = index, .op = op, .unit = unit, .written_count = written_count};
}

static bool fake_new(struct fake *f) {
    *f = (struct fake){
        .count = mx_count_new(&(struct mx_count_options){0}),
        .program.insns = {insn(FMA, MX_OP_FMA_F32, MX_UNIT_FMA, 1), insn(WIDE, MX_OP_IADD_U64, MX_UNIT_CVT, 2),
                          insn(LOAD, MX_OP_LOAD, MX_UNIT_LS, 4), insn(STORE, MX_OP_STORE, MX_UNIT_LS, 0)},
        .job = {.local_size = {16, 1, 1}, .group_count = {2, 1, 1}, .stack_base = STACK, .stack_bytes = 128},
        .warp = aligned_alloc(64, sizeof(struct mx_warp))};
    if (f->count == NULL || f->warp == NULL)
        return false;
    *f->warp = (struct mx_warp){.live = 0xffff, .active = 0xffff};
    f->group = (struct mx_workgroup){
        .job = &f->job, .program = &f->program, .warp_count = 1, .warps = f->warp, .stack_base = STACK};
    f->on = mx_count_observer(f->count);
    return true;
}

int main(void) {
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
        struct fake f;
        running = tests[i].name;
        if (fake_new(&f))
            tests[i].run(&f);
        else
            EQUAL(false, true);
        json_decref(f.report);
        mx_count_free(f.count);
        free(f.warp);
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
