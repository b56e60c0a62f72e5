// SPDX-License-Identifier: MIT
#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bo.h"
#include "exec.h"
#include "gpu.h"
#include "group.h"
#include "ioctl.h"
#include "knobs.h"
#include "lock.h"
#include "log.h"
#include "node.h"
#include "tiler.h"
#include "vm.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

// Nothing here allocates: the program may have died inside malloc.
static char text[65536];
static size_t text_length;

static void put(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void put(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text + text_length, sizeof text - text_length, format, arguments);
    va_end(arguments);
    text_length += (size_t)length;
    if (text_length > sizeof text - 1)
        text_length = sizeof text - 1; // the reader will see broken JSON rather than a part that looks whole
}

static double mib(uint64_t bytes) {
    return (double)bytes / (1 << 20);
}

static void put_json_text(const char *string) {
    put("\"");
    for (; *string != '\0'; string++)
        put(*string == '"' || *string == '\\' ? "\\%c" : "%c", *string);
    put("\"");
}

static void put_json_heap(const struct ps_peak *peak) {
    put(" \"heap_peak_mib\": %.3f,\n \"heap_by_size\": [", mib(peak->bytes));
    for (size_t i = 0; i < peak->class_count; i++)
        put("%s{\"mib\": %.6f, \"count\": %llu}", i > 0 ? ", " : "", mib(peak->classes[i].bytes),
            (unsigned long long)peak->classes[i].count);
    put("],\n \"heap_other_sizes_mib\": %.3f,\n \"heap_largest_hole_mib\": %.3f,\n \"heap_by_label\": [",
        mib(peak->other_bytes), mib(peak->largest_hole_bytes));
    const char *comma = "";
    for (size_t i = 0; i < ps_bo_label_count(); i++) {
        if (peak->label_bytes[i] == 0)
            continue;
        put("%s\n  {\"label\": ", comma);
        put_json_text(ps_bo_label(i)->text);
        put(", \"mib\": %.3f}", mib(peak->label_bytes[i]));
        comma = ",";
    }
    put("],\n");
}

static void put_json_labels(void) {
    const char *comma = "";
    put(" \"labels\": [");
    for (size_t i = 0; i < ps_bo_label_count(); i++) {
        const struct ps_bo_label *label = ps_bo_label(i);
        if (label->count_peak == 0)
            continue;
        put("%s\n  {\"label\": ", comma);
        put_json_text(label->text);
        put(", \"peak_mib\": %.3f, \"count_peak\": %llu}", mib(label->peak_bytes),
            (unsigned long long)label->count_peak);
        comma = ",";
    }
    put("]\n");
}

static void put_json(const char *ended) {
    const struct ps_knobs *knobs = ps_knobs();
    const struct ps_bo_stats *bo = ps_bo_stats();
    const struct ps_vm_stats *vm = ps_vm_stats();
    const struct ps_group_stats *group = ps_group_stats();
    put("{\"version\": 1,\n \"gpu\": \"%s\",\n \"chip\": \"%s\",\n \"minor\": %llu,\n \"ram_mib\": %llu,\n"
        " \"ended\": \"%s\",\n",
        knobs->gpu->name, knobs->gpu->chip, (unsigned long long)knobs->minor, (unsigned long long)knobs->ram_mib,
        ended);
    put_json_heap(ps_vm_peak());
    put(" \"scratch_peak_mib\": %.3f,\n \"mapped_peak_mib\": %.3f,\n \"bo_peak_mib\": %.3f,\n \"bo_largest_mib\": "
        "%.3f,\n \"bo_count_peak\": %llu,\n"
        " \"bo_created\": %llu,\n \"pinned_mib\": %.3f,\n \"tiler_heap_mib\": %.3f,\n",
        mib(vm->scratch_peak_bytes), mib(vm->mapped_peak_bytes), mib(bo->bytes_peak), mib(bo->largest_bytes),
        (unsigned long long)bo->count_peak, (unsigned long long)bo->created, mib(bo->pinned_peak_bytes),
        mib(ps_tiler_peak_bytes()));
    put(" \"submissions\": %llu,\n \"queue_submits\": %llu,\n \"stream_bytes\": %llu,\n \"binds\": %llu,\n"
        " \"maps\": %llu,\n \"unmaps\": %llu,\n \"refused\": %llu,\n \"unknown_ioctls\": %llu,\n \"lost\": %s,\n"
        " \"hung\": %s,\n",
        (unsigned long long)group->submissions, (unsigned long long)group->queue_submits,
        (unsigned long long)group->stream_bytes, (unsigned long long)vm->binds, (unsigned long long)vm->maps,
        (unsigned long long)vm->unmaps, (unsigned long long)ps_log_refused(), (unsigned long long)ps_ioctl_unknown(),
        group->lost ? "true" : "false", group->hung ? "true" : "false");
    put_json_labels();
    put("}\n");
}

static void put_summary(const char *ended) {
    const struct ps_bo_stats *bo = ps_bo_stats();
    const struct ps_vm_stats *vm = ps_vm_stats();
    const struct ps_group_stats *group = ps_group_stats();
    const struct ps_peak *peak = ps_vm_peak();
    put("[panthor-sim] %s, panthor 1.%llu, %llu MiB; ended by %s\n", ps_knobs()->gpu->chip,
        (unsigned long long)ps_knobs()->minor, (unsigned long long)ps_knobs()->ram_mib, ended);
    put("[panthor-sim] scratch at most %.2f MiB; all below 4 GiB %.2f MiB, largest hole %.2f MiB:",
        mib(vm->scratch_peak_bytes), mib(peak->bytes), mib(peak->largest_hole_bytes));
    for (size_t i = 0; i < peak->class_count && i < 12; i++)
        put(" %llu x %.4g", (unsigned long long)peak->classes[i].count, mib(peak->classes[i].bytes));
    put("%s\n[panthor-sim] buffer objects at most %llu with %.2f MiB, pinned %.2f MiB, tiler heaps %.2f MiB\n",
        peak->class_count > 12 ? " ..." : "", (unsigned long long)bo->count_peak, mib(bo->bytes_peak),
        mib(bo->pinned_peak_bytes), mib(ps_tiler_peak_bytes()));
    put("[panthor-sim] %llu submissions (%llu streams), %llu binds, %llu refused, %llu unknown ioctls%s%s\n",
        (unsigned long long)group->submissions, (unsigned long long)group->queue_submits, (unsigned long long)vm->binds,
        (unsigned long long)ps_log_refused(), (unsigned long long)ps_ioctl_unknown(), group->lost ? ", lost" : "",
        group->hung ? ", hung" : "");
}

static bool write_all(int fd) {
    for (size_t done = 0; done < text_length;) {
        ssize_t written = write(fd, text + done, text_length - done);
        if (written < 0 && errno != EINTR)
            return false;
        done += written > 0 ? (size_t)written : 0;
    }
    return true;
}

// The knob with each %p replaced by the process id.
static bool path_make(char *path, size_t path_bytes, const char *ending) {
    size_t length = 0;
    for (const char *c = ps_knobs()->report; *c != '\0' && length < path_bytes; c++) {
        bool pid = c[0] == '%' && c[1] == 'p';
        length += (size_t)(pid ? snprintf(path + length, path_bytes - length, "%d", getpid())
                               : snprintf(path + length, path_bytes - length, "%c", *c));
        c += pid;
    }
    if (length < path_bytes)
        length += (size_t)snprintf(path + length, path_bytes - length, "%s", ending);
    return length < path_bytes;
}

// In one step, so that a reader never finds half a report.
static void file_write(void) {
    char path[4096], draft[4096];
    bool good = path_make(path, sizeof path, "") && path_make(draft, sizeof draft, ".part");
    int fd = good ? open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
    good = fd >= 0 && write_all(fd);
    if (fd >= 0)
        close(fd);
    if (!good || rename(draft, path) != 0)
        ps_log(PS_LOG_ALWAYS,
               "the report cannot be written to PANTHOR_SIM_REPORT=%s (errno %d): give a file in a "
               "folder that exists and can be written",
               ps_knobs()->report, errno);
}

static void report(const char *ended) {
    static atomic_flag done = ATOMIC_FLAG_INIT;
    if (!ps_node_used() || atomic_flag_test_and_set(&done))
        return;
    bool locked = ps_lock_take_in_handler();
    ps_exec_end();
    if (ps_knobs()->log >= PS_LOG_EVENTS) {
        put_summary(ended);
        write_all(STDERR_FILENO);
        text_length = 0;
    }
    if (ps_knobs()->report != NULL) {
        put_json(ended);
        file_write();
    }
    if (locked)
        ps_lock_drop();
}

// A destructor rather than atexit: it runs after the program's own, which may still talk to the driver.
__attribute__((destructor)) static void report_at_exit(void) {
    report("exit");
}

static const struct end {
    int signal;
    const char *name;
} ends[] = {{SIGABRT, "abort"}, {SIGSEGV, "a crash"}, {SIGBUS, "a crash"}, {SIGTERM, "SIGTERM"}, {SIGINT, "SIGINT"}};
static struct sigaction before[COUNT(ends)];

static void on_signal(int signal) {
    int kept = errno;
    for (size_t i = 0; i < COUNT(ends); i++) {
        if (ends[i].signal != signal)
            continue;
        report(ends[i].name);
        sigaction(signal, &before[i], NULL);
    }
    errno = kept;
    raise(signal); // delivered, to whom it was meant for, when this handler returns
}

void ps_report_arm(void) {
    struct sigaction ours = {.sa_handler = on_signal};
    sigemptyset(&ours.sa_mask);
    for (size_t i = 0; i < COUNT(ends); i++) {
        sigaction(ends[i].signal, NULL, &before[i]);
        bool ignored = !(before[i].sa_flags & SA_SIGINFO) && before[i].sa_handler == SIG_IGN;
        if (!ignored)
            sigaction(ends[i].signal, &ours, NULL);
    }
}
