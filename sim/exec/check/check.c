// SPDX-License-Identifier: MIT
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "state.h"

#define RACE_BYTES_DEFAULT (UINT64_C(1) << 30)

void mx_moment_report(const struct mx_moment *moment, enum mx_finding_kind kind, uint32_t lanes,
                      const uint64_t *address, const char *text) {
    struct mx_finding finding = {.kind = kind,
                                 .group = moment->group,
                                 .warp = moment->warp,
                                 .insn = moment->insn,
                                 .lanes = lanes,
                                 .address = address,
                                 .text = text};
    mx_findings_add(moment->check->findings, &finding);
}

static void worker_free(struct mx_check_worker *worker) {
    if (worker == NULL)
        return;
    mx_race_free(worker->shared_races);
    free(worker->shadows);
    free(worker->stack.undefined);
    free(worker->shared.undefined);
    free(worker);
}

static struct mx_check_worker *worker_new(void) {
    struct mx_check_worker *worker = aligned_alloc(64, (sizeof *worker + 63) / 64 * 64);
    if (worker == NULL)
        return NULL;
    memset(worker, 0, sizeof *worker);
    worker->shadows = aligned_alloc(64, MX_WARPS_MAX * sizeof *worker->shadows);
    worker->shared_races = mx_race_new(true, UINT64_MAX);
    if (worker->shadows == NULL || worker->shared_races == NULL) {
        worker_free(worker);
        return NULL;
    }
    return worker;
}

static bool workers_make(struct mx_check *check, uint32_t count) {
    if (count <= check->worker_count)
        return true;
    struct mx_check_worker **grown = realloc(check->workers, count * sizeof *grown);
    if (grown == NULL)
        return false;
    check->workers = grown;
    while (check->worker_count < count) {
        struct mx_check_worker *worker = worker_new();
        if (worker == NULL)
            return false;
        check->workers[check->worker_count++] = worker;
    }
    return true;
}

static void job_begin(void *context, const struct mx_job *job, const struct mx_program *program, uint32_t workers) {
    struct mx_check *check = context;
    (void)job;
    check->kernel = workers_make(check, workers) ? mx_check_kernel_of(&check->kernels, program) : NULL;
    check->unseen_jobs += check->kernel == NULL;
    for (uint32_t i = 0; i < check->worker_count; i++) {
        check->workers[i]->ranges.count = 0;
        check->workers[i]->region = NULL;
        check->workers[i]->group = NULL; // a job that faults leaves its workgroups open
    }
}

static void job_end(void *context, const struct mx_job *job, bool finished) {
    struct mx_check *check = context;
    (void)job;
    (void)finished;
    mx_race_clear(check->races);
    if (check->touched != NULL)
        mx_touched_job_end(check->touched);
}

// Nothing in it is written any more.
static bool area_forget(struct mx_area *area, uint64_t size_bytes) {
    if (size_bytes > area->capacity_bytes) {
        uint8_t *grown = realloc(area->undefined, size_bytes);
        if (grown == NULL)
            return false;
        area->undefined = grown;
        area->capacity_bytes = size_bytes;
    }
    area->size_bytes = size_bytes;
    if (size_bytes > 0)
        memset(area->undefined, 0xff, size_bytes);
    return true;
}

static void shadow_begin(struct mx_shadow *shadow, const struct mx_check_kernel *kernel, uint64_t preloaded,
                         uint32_t live) {
    shadow->tainted = live != 0 ? kernel->registers & ~preloaded : 0;
    shadow->pointers = 0;
    for (uint64_t left = kernel->registers; left != 0; left &= left - 1) {
        uint32_t r = (uint32_t)__builtin_ctzll(left);
        for (uint32_t lane = 0; lane < MX_LANES; lane++) {
            bool undefined = shadow->tainted >> r & 1 && live >> lane & 1;
            shadow->undefined[r][lane] = undefined ? UINT32_MAX : 0;
        }
        memset(shadow->origin[r], MX_ORIGIN_REGISTER, sizeof shadow->origin[r]);
        memset(shadow->pointer[r], 0, sizeof shadow->pointer[r]);
    }
}

static void group_begin(void *context, const struct mx_workgroup *group) {
    struct mx_check *check = context;
    if (check->kernel == NULL)
        return;
    struct mx_check_worker *worker = check->workers[group->worker];
    const struct mx_job *job = group->job;
    uint64_t stack_bytes = check->kernel->uses_stack ? job->stack_bytes * MX_LANES * group->warp_count : 0;
    uint64_t shared_bytes = check->kernel->uses_shared ? job->shared_bytes : 0;
    if (worker->group != NULL || group->warp_count > MX_WARPS_MAX || !area_forget(&worker->stack, stack_bytes) ||
        !area_forget(&worker->shared, shared_bytes)) {
        worker->unseen_groups++;
        return;
    }
    worker->group = group;
    worker->epoch = 0;
    worker->group_serial++;
    for (uint32_t i = 0; i < group->warp_count; i++)
        shadow_begin(&worker->shadows[i], check->kernel, (uint64_t)job->preload << 48, group->warps[i].live);
}

static void group_end(void *context, const struct mx_workgroup *group) {
    struct mx_check *check = context;
    if (check->kernel != NULL && check->workers[group->worker]->group == group)
        check->workers[group->worker]->group = NULL;
}

// False: this workgroup is not looked at.
static bool moment_make(struct mx_moment *moment, struct mx_check *check, const struct mx_workgroup *group,
                        const struct mx_warp *warp, const struct mx_insn *insn) {
    const struct mx_check_kernel *kernel = check->kernel;
    if (kernel == NULL || insn->index >= kernel->length || check->workers[group->worker]->group != group)
        return false;
    *moment = (struct mx_moment){.check = check,
                                 .worker = check->workers[group->worker],
                                 .group = group,
                                 .warp = warp,
                                 .insn = insn,
                                 .known = &kernel->insns[insn->index],
                                 .shadow = &check->workers[group->worker]->shadows[warp->index]};
    return true;
}

static void before(void *context, const struct mx_workgroup *group, const struct mx_warp *warp,
                   const struct mx_insn *insn) {
    struct mx_moment moment;
    if (!moment_make(&moment, context, group, warp, insn))
        return;
    moment.worker->pending.tainted = moment.worker->pending.has_pointer = false;
    mx_taint_before(&moment);
    if (moment.known->op.result_bits != 0)
        mx_nan_before(&moment);
}

static void after(void *context, const struct mx_workgroup *group, const struct mx_warp *warp,
                  const struct mx_insn *insn) {
    struct mx_moment moment;
    if (!moment_make(&moment, context, group, warp, insn))
        return;
    mx_taint_after(&moment);
    if (moment.known->op.result_bits != 0)
        mx_nan_after(&moment);
}

static void message(void *context, const struct mx_workgroup *group, const struct mx_warp *warp,
                    const struct mx_insn *insn, const struct mx_message *message) {
    struct mx_moment moment;
    if (moment_make(&moment, context, group, warp, insn))
        mx_message_check(&moment, message);
}

static void address(void *context, const struct mx_workgroup *group, const struct mx_warp *warp,
                    const struct mx_insn *insn, const struct mx_message *message) {
    struct mx_moment moment;
    if (moment_make(&moment, context, group, warp, insn))
        mx_message_pointer(&moment, message);
}

static void barrier(void *context, const struct mx_workgroup *group) {
    struct mx_check *check = context;
    if (check->kernel != NULL && check->workers[group->worker]->group == group)
        check->workers[group->worker]->epoch++;
}

struct mx_check *mx_check_new(const struct mx_check_options *options) {
    struct mx_check *check = calloc(1, sizeof *check);
    if (check == NULL)
        return NULL;
    check->observer = (struct mx_observer){.context = check,
                                           .job_begin = job_begin,
                                           .group_begin = group_begin,
                                           .before = before,
                                           .after = after,
                                           .message = message,
                                           .address = address,
                                           .barrier = barrier,
                                           .group_end = group_end,
                                           .job_end = job_end};
    check->findings = mx_findings_new();
    check->races = mx_race_new(false, options->race_bytes > 0 ? options->race_bytes : RACE_BYTES_DEFAULT);
    if (options->memory_fd >= 0)
        check->touched = mx_touched_new(options->memory_fd, options->memory_base, options->memory_bytes);
    if (check->findings == NULL || check->races == NULL || (options->memory_fd >= 0 && check->touched == NULL)) {
        mx_check_free(check);
        return NULL;
    }
    return check;
}

void mx_check_free(struct mx_check *check) {
    if (check == NULL)
        return;
    for (uint32_t i = 0; i < check->worker_count; i++)
        worker_free(check->workers[i]);
    free(check->workers);
    mx_check_kernels_free(check->kernels);
    mx_touched_free(check->touched);
    mx_race_free(check->races);
    mx_findings_free(check->findings);
    free(check);
}

const struct mx_observer *mx_check_observer(struct mx_check *check) {
    return &check->observer;
}

uint64_t mx_check_errors(struct mx_check *check) {
    return mx_findings_errors(check->findings);
}

bool mx_check_report(struct mx_check *check, json_t *report) {
    uint64_t unseen_groups = 0;
    for (uint32_t i = 0; i < check->worker_count; i++)
        unseen_groups += check->workers[i]->unseen_groups;
    json_t *totals = json_pack("{s:I, s:I, s:I, s:I, s:I}", "errors", (json_int_t)mx_findings_errors(check->findings),
                               "lost_occurrences", (json_int_t)mx_findings_lost(check->findings), "unseen_jobs",
                               (json_int_t)check->unseen_jobs, "unseen_workgroups", (json_int_t)unseen_groups,
                               "unseen_race_accesses", (json_int_t)mx_race_dropped(check->races));
    bool good = json_object_set_new(report, "findings", mx_findings_json(check->findings)) == 0;
    return json_object_set_new(report, "check", totals) == 0 && good;
}
