// SPDX-License-Identifier: MIT
// Whole jobs: programs that change, jobs in files, the driver's copies, observers.
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core_test.h"
#include "job_file.h"

static void store_constant(uint32_t value) {
    bench.words = 0;
    emit(i_add_immediate(4, ZERO, value));
    emit_store(4);
    emit_end();
}

// Code that was overwritten is decoded anew, whether the core is told or not.
static void code_changes(void) {
    struct mx_core *core = mx_core_new(&bench.options);
    struct mx_fault fault;
    for (uint32_t i = 0; i < 3; i++) {
        store_constant(100 + i);
        CHECK(mx_core_run(core, &bench.job, &fault));
        CHECK_EQUAL(bench.data[9], 100 + i);
        if (i == 1)
            mx_core_forget(core, CODE, 8);
    }
    mx_core_free(core);
}

// ---- files

static void path_make(char path[32]) {
    strcpy(path, "/tmp/mx-job-XXXXXX");
    int file = mkstemp(path);
    CHECK(file >= 0);
    close(file);
}

static void saved_and_loaded(void) {
    char path[32];
    store_constant(55);
    bench.data[5000] = 1234;
    path_make(path);
    CHECK(mx_job_save(&bench.job, path));
    struct mx_job_file *file = mx_job_load(path);
    CHECK(file != NULL);
    if (file != NULL) {
        struct mx_core *core = mx_core_new(&bench.options);
        struct mx_fault fault;
        CHECK(mx_core_run(core, &file->job, &fault));
        mx_core_free(core);
        const uint32_t *data = mx_memory_at(file->memory, DATA, DATA_BYTES);
        CHECK(data != NULL && data[5000] == 1234 && data[15] == 55 && data[16] == 0);
        CHECK(mx_memory_find(file->memory, CODE)->executable && mx_memory_find(file->memory, READ_ONLY)->read_only);
        CHECK(mx_memory_find(file->memory, NOWHERE) == NULL);
    }
    CHECK_EQUAL(bench.data[15], 0);
    mx_job_unload(file);
    remove(path);
}

static void files_that_are_none(void) {
    char path[32];
    path_make(path);
    CHECK(mx_job_load(path) == NULL); // empty
    store_constant(55);
    CHECK(mx_job_save(&bench.job, path));
    struct stat whole;
    CHECK(stat(path, &whole) == 0 && whole.st_size > 4096);
    for (off_t size = 1; size < whole.st_size; size += 97) {
        CHECK(truncate(path, size) == 0);
        CHECK(mx_job_load(path) == NULL);
        CHECK(mx_job_save(&bench.job, path));
    }
    remove(path);
    CHECK(mx_job_load(path) == NULL);
    CHECK(!mx_job_save(&bench.job, "/nonexistent/folder/job"));
}

// ---- the driver's copies

// Mesa 26.1.6: two bytes a thread.
static const uint64_t copy_words[] = {
    UINT64_C(0x0091c000000000ca), UINT64_C(0x00b4c00115c04080), UINT64_C(0x00a8c0000000407c),
    UINT64_C(0x00b4c0011dc0c440), UINT64_C(0x00f0c10480c08800), UINT64_C(0x501fc03000000941),
    UINT64_C(0x0091c20000000084), UINT64_C(0x0091c30000000085), UINT64_C(0x0091c100000000c0),
    UINT64_C(0x01abc20000070042), UINT64_C(0x0060828208000042), UINT64_C(0x0091c40000000086),
    UINT64_C(0x0091c50000000087), UINT64_C(0x09abc00000074044), UINT64_C(0x5061420248000040),
    UINT64_C(0x7800c00000000000)};

static void copy_job(uint32_t bytes) {
    uint32_t fau[10] = {0, 0, 0, 0, (uint32_t)DATA + 100, 0, (uint32_t)DATA + 30002, 0, bytes, 0};
    memcpy(bench.code, copy_words, sizeof copy_words);
    memcpy(bench.job.fau, fau, sizeof fau);
    bench.job.fau_words = 10;
    bench.job.preload = 0x1000;
    bench.job.local_size[0] = 512;
    bench.job.group_count[0] = (bytes + 1023) / 1024;
    for (uint32_t i = 0; i < DATA_BYTES; i++)
        ((uint8_t *)bench.data)[i] = (uint8_t)(i * 31 + (i >> 8));
}

static void copies(void) {
    static uint32_t done[DATA_BYTES / 4];
    copy_job(20002);
    CHECK(bench_run());
    CHECK_EQUAL(bench.stats.copies, 1);
    CHECK_EQUAL(bench.stats.warp_instructions, 0);
    memcpy(done, bench.data, sizeof done);
    copy_job(20002);
    bench.options.no_shortcuts = true;
    CHECK(bench_run());
    CHECK_EQUAL(bench.stats.copies, 0);
    CHECK(bench.stats.warp_instructions > 1000);
    CHECK(memcmp(done, bench.data, sizeof done) == 0);
    CHECK(memcmp((uint8_t *)done + 100, (uint8_t *)done + 30002, 20002) == 0);
}

// What is not as the driver does it is executed; so is what faults, which tells where.
static void copies_that_are_none(void) {
    copy_job(2000);
    bench.job.fau[0] = 1;
    CHECK(bench_run());
    CHECK_EQUAL(bench.stats.copies, 0);
    copy_job(2000);
    bench.job.fau[6] = (uint32_t)READ_ONLY;
    CHECK(!bench_run());
    CHECK(bench.fault.kind == MX_FAULT_PERMISSION && bench.fault.address == READ_ONLY);
    copy_job(2000);
    bench.job.fau[4] = (uint32_t)(DATA + DATA_BYTES - 1000);
    CHECK(!bench_run());
    CHECK(bench.fault.kind == MX_FAULT_TRANSLATION && bench.fault.address == DATA + DATA_BYTES);
}

// ---- observers

struct seen {
    uint32_t begins, ends, groups, group_ends, before, after, messages, addresses, barriers, copies;
    uint64_t hash;
    bool finished;
};

static void on_job_begin(void *context, const struct mx_job *job, const struct mx_program *program, uint32_t workers) {
    struct seen *seen = context;
    (void)job;
    seen->begins += workers == 1;
    seen->hash = mx_program_hash(program);
}
static void on_group_begin(void *context, const struct mx_workgroup *group) {
    ((struct seen *)context)->groups += group->warp_count == 2;
}
static void on_before(void *context, const struct mx_workgroup *group, const struct mx_warp *warp,
                      const struct mx_insn *insn) {
    struct seen *seen = context;
    (void)group;
    seen->before += insn->op == MX_OP_STORE && warp->registers[4][0] == 55;
}
static void on_after(void *context, const struct mx_workgroup *group, const struct mx_warp *warp,
                     const struct mx_insn *insn) {
    struct seen *seen = context;
    (void)group;
    seen->after += insn->written_count == 1 && insn->written == 4 && warp->registers[4][0] == 55;
}
static void on_message(void *context, const struct mx_workgroup *group, const struct mx_warp *warp,
                       const struct mx_insn *insn, const struct mx_message *message) {
    struct seen *seen = context;
    (void)warp, (void)insn;
    seen->messages += message->access == MX_STORE && message->bytes == 4 &&
                      message->address[0] == DATA + 4 * 24 * group->id[0] + 64 * warp->index;
}
static void on_barrier(void *context, const struct mx_workgroup *group) {
    (void)group;
    ((struct seen *)context)->barriers++;
}
static void on_group_end(void *context, const struct mx_workgroup *group) {
    (void)group;
    ((struct seen *)context)->group_ends++;
}
static void on_copy(void *context, const struct mx_job *job, uint64_t source, uint64_t destination, uint64_t bytes) {
    (void)job;
    ((struct seen *)context)->copies += source == DATA + 100 && destination == DATA + 30002 && bytes == 2000;
}
static void on_job_end(void *context, const struct mx_job *job, bool finished) {
    struct seen *seen = context;
    (void)job;
    seen->ends++;
    seen->finished = finished;
}

static void observed(void) {
    struct seen seen = {0};
    struct mx_observer observer = {.context = &seen,
                                   .job_begin = on_job_begin,
                                   .group_begin = on_group_begin,
                                   .before = on_before,
                                   .after = on_after,
                                   .message = on_message,
                                   .barrier = on_barrier,
                                   .group_end = on_group_end,
                                   .copy = on_copy,
                                   .job_end = on_job_end};
    emit(i_add_immediate(4, ZERO, 55));
    emit_store(4);
    emit(i_barrier());
    emit_end();
    bench.job.local_size[0] = 24;
    bench.job.group_count[0] = 3;
    bench.options.observer = &observer;
    for (unsigned interleaved = 0; interleaved < 2; interleaved++) {
        memset(&seen, 0, sizeof seen);
        bench.options.interleave = interleaved;
        CHECK(bench_run());
        CHECK(seen.begins == 1 && seen.ends == 1 && seen.finished && seen.hash != 0);
        CHECK(seen.groups == 3 && seen.group_ends == 3 && seen.barriers == 3);
        CHECK(seen.before == 6 && seen.after == 6 && seen.messages == 6);
    }
    copy_job(2000);
    CHECK(bench_run());
    CHECK(seen.copies == 1);
}

const struct test job_tests[] = {{"job: code that changes", code_changes},
                                 {"job: in a file", saved_and_loaded},
                                 {"job: files that are none", files_that_are_none},
                                 {"job: the driver's copies", copies},
                                 {"job: copies that are none", copies_that_are_none},
                                 {"job: observers", observed},
                                 {NULL, NULL}};
