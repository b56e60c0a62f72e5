// SPDX-License-Identifier: MIT
#include "count.h"

#include <stdlib.h>

#include "kernel.h"
#include "report.h"

// Stacks and workgroup memory are each core's own, but the cores that are executed here share theirs.
#define CORE_SHIFT 54 // of a line's number: GPU addresses have 48 bits

struct mx_count {
    struct mx_observer observer;
    struct mx_count_options options;
    struct mx_kernel *kernels, *kernel; // the one that runs; NULL: not counted, for want of memory
    struct mx_traffic traffic;
    uint32_t core;  // whose turn it is
    bool messages;  // came since its turn began
    bool exhausted; // a kernel was not counted
    struct mx_copied copied;
};

static void job_begin(void *context, const struct mx_job *job, const struct mx_program *program, uint32_t workers) {
    struct mx_count *count = context;
    (void)workers;
    count->kernel = mx_kernel_get(&count->kernels, program);
    count->core = 0;
    count->messages = false;
    if (count->kernel != NULL)
        mx_kernel_dispatch(count->kernel, job);
    else
        count->exhausted = true;
}

static void group_begin(void *context, const struct mx_workgroup *group) {
    struct mx_count *count = context;
    struct mx_kernel *kernel = count->kernel;
    if (kernel == NULL)
        return;
    if (group->core < count->core || (group->core == count->core && count->messages))
        mx_traffic_turn(&count->traffic, &kernel->traffic);
    count->core = group->core;
    count->messages = false;
    kernel->groups++;
    kernel->warps += group->warp_count;
}

static void before(void *context, const struct mx_workgroup *group, const struct mx_warp *warp,
                   const struct mx_insn *insn) {
    struct mx_kernel *kernel = ((struct mx_count *)context)->kernel;
    (void)group;
    if (kernel == NULL)
        return;
    kernel->executed[insn->index]++;
    kernel->lanes += (uint32_t)__builtin_popcount(warp->active);
}

// Where a lane's stack lies if the stacks of a warp's lanes are interleaved by 16 bytes.
static uint64_t packed(const struct mx_workgroup *group, const struct mx_warp *warp, uint32_t lane, uint64_t address) {
    uint64_t stack = group->job->stack_bytes;
    uint64_t base = group->stack_base + (uint64_t)warp->index * MX_LANES * stack, own = address - base - lane * stack;
    return base + own / 16 * (16 * MX_LANES) + lane * 16 + own % 16;
}

// The distinct lines of a message; returns how many. Neighbouring lanes mostly share one, so the last is looked at
// first.
static uint32_t lines_of(const struct mx_message *m, const uint64_t *address, uint64_t *lines) {
    uint32_t count = 0;
    for (uint32_t rest = m->lanes; rest != 0; rest &= rest - 1) {
        uint64_t first = address[__builtin_ctz(rest)], last = (first + m->bytes - 1) / MX_LINE_BYTES;
        for (uint64_t line = first / MX_LINE_BYTES; line <= last; line++) {
            uint32_t i = count;
            while (i > 0 && lines[i - 1] != line)
                i--;
            if (i == 0)
                lines[count++] = line;
        }
    }
    return count;
}

static uint32_t width_of(uint32_t bytes) {
    uint32_t width = 0;
    while (width < MX_WIDTHS - 1 && bytes > 1u << width)
        width++;
    return width;
}

// Lines of a stack message as they are modelled, into `lines`; notes how many it would be the other way.
static uint32_t stack_lines_of(const struct mx_count *count, const struct mx_workgroup *group,
                               const struct mx_warp *warp, const struct mx_message *m, uint64_t *lines) {
    uint64_t address[MX_LANES], other[MX_LINES_MAX];
    uint32_t apart = lines_of(m, m->address, count->options.stacks_apart ? lines : other);
    count->kernel->stack_lines_apart += apart;
    if (count->options.stacks_apart)
        return apart;
    for (uint32_t rest = m->lanes; rest != 0; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        address[lane] = packed(group, warp, lane, m->address[lane]);
    }
    return lines_of(m, address, lines);
}

static void lines_look_up(struct mx_count *count, const struct mx_workgroup *group, const struct mx_message *m,
                          const uint64_t *lines, uint32_t n) {
    struct mx_kernel *kernel = count->kernel;
    bool own = m->space == MX_SPACE_STACK || m->space == MX_SPACE_SHARED, hit = true;
    uint64_t mark = own ? (uint64_t)(group->core + 1) << CORE_SHIFT : 0;
    for (uint32_t i = 0; i < n; i++)
        hit &= mx_traffic_access(&count->traffic, group->core, lines[i] | mark, m->access != MX_LOAD, &kernel->traffic);
    kernel->waits += m->access != MX_STORE;
    kernel->waits_missed += m->access != MX_STORE && !hit;
}

static void message(void *context, const struct mx_workgroup *group, const struct mx_warp *warp,
                    const struct mx_insn *insn, const struct mx_message *m) {
    struct mx_count *count = context;
    struct mx_kernel *kernel = count->kernel;
    uint64_t lines[MX_LINES_MAX];
    (void)insn;
    if (kernel == NULL)
        return;
    count->messages = true;
    if (m->lanes == 0) {
        kernel->touched[0]++;
        return;
    }
    uint32_t n =
        m->space == MX_SPACE_STACK ? stack_lines_of(count, group, warp, m, lines) : lines_of(m, m->address, lines);
    uint32_t bytes = (uint32_t)__builtin_popcount(m->lanes) * m->bytes;
    uint32_t pieces = (bytes + MX_LINE_BYTES - 1) / MX_LINE_BYTES;
    kernel->messages[m->access][m->space][width_of(m->bytes)]++;
    kernel->touched[n]++;
    kernel->lines[m->space] += n;
    kernel->bytes[m->space] += bytes;
    kernel->beats += n > pieces ? n : pieces;
    lines_look_up(count, group, m, lines, n);
}

static void address(void *context, const struct mx_workgroup *group, const struct mx_warp *warp,
                    const struct mx_insn *insn, const struct mx_message *m) {
    struct mx_kernel *kernel = ((struct mx_count *)context)->kernel;
    (void)group, (void)warp, (void)insn, (void)m;
    if (kernel != NULL)
        kernel->addresses++;
}

static void copy(void *context, const struct mx_job *job, uint64_t source, uint64_t destination, uint64_t bytes) {
    struct mx_count *count = context;
    (void)job, (void)source, (void)destination;
    count->copied.jobs++;
    count->copied.bytes += bytes;
}

static void job_end(void *context, const struct mx_job *job, bool finished) {
    struct mx_count *count = context;
    (void)job, (void)finished;
    if (count->kernel != NULL)
        mx_traffic_flush(&count->traffic, &count->kernel->traffic);
    count->kernel = NULL;
}

struct mx_count *mx_count_new(const struct mx_count_options *options) {
    struct mx_count *count = calloc(1, sizeof *count);
    if (count == NULL)
        return NULL;
    count->options = *options;
    json_incref(count->options.names);
    count->observer = (struct mx_observer){.context = count,
                                           .job_begin = job_begin,
                                           .group_begin = group_begin,
                                           .before = before,
                                           .message = message,
                                           .address = address,
                                           .copy = copy,
                                           .job_end = job_end};
    if (!mx_traffic_init(&count->traffic)) {
        mx_count_free(count);
        return NULL;
    }
    return count;
}

void mx_count_free(struct mx_count *count) {
    if (count == NULL)
        return;
    for (struct mx_kernel *kernel = count->kernels, *next; kernel != NULL; kernel = next) {
        next = kernel->next;
        mx_kernel_free(kernel);
    }
    mx_traffic_free(&count->traffic);
    json_decref(count->options.names);
    free(count);
}

const struct mx_observer *mx_count_observer(struct mx_count *count) {
    return &count->observer;
}

bool mx_count_report(struct mx_count *count, json_t *report) {
    const struct mx_report_about about = {.kernels = count->kernels,
                                          .names = count->options.names,
                                          .copied = count->copied,
                                          .stacks_apart = count->options.stacks_apart,
                                          .unordered = count->traffic.unordered,
                                          .complete = !count->exhausted};
    return mx_report_fill(&about, report);
}
