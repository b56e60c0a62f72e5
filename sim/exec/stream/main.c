// SPDX-License-Identifier: MIT
// mali-exec: executes what a program under the simulated kernel driver submits. See --help.
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../check/check.h"
#include "../check/coherent.h"
#include "../core/job_file.h"
#include "../count/count.h"
#include "../link.h"
#include "fan.h"
#include "machine.h"

static const char help[] =
    "Usage: mali-exec --fd N [OPTION]...\n"
    "\n"
    "Executes what a program submits to the simulated Mali. The simulated kernel driver (sim/panthor) starts it, with "
    "one\n"
    "end of a socket as N.\n"
    "\n"
    "  --threads N           host threads (default: one a processor)\n"
    "  --shuffle SEED        workgroups in a random order (default: x fastest, then y, z)\n"
    "  --reconvergence RULE  branches (default) or instructions: when lanes are chosen anew\n"
    "  --warp-limit N        instructions of a warp in one job, beyond which it counts as endless (default 2^32)\n"
    "  --stream-limit N      instructions of a command stream, beyond which it counts as endless (default 2^28)\n"
    "  --no-shortcuts        the driver's copy kernels are executed, too\n"
    "  --check               look for faults that a chip would not tell: sim/exec/check/README.md\n"
    "  --coherency           memory that the CPU maps cached has a copy for the GPU (with PANTHOR_SIM_FLUSHES=1)\n"
    "  --count               count instructions, messages and modelled cache hits, a kernel: sim/exec/count/README.md. "
    "On\n"
    "                        one thread, with the workgroups that a core holds side by side; not with --check\n"
    "  --names FILE          names of kernels for --count: a JSON object, hash to name\n"
    "  --stacks-apart        --count: each thread's stack in one piece, not interleaved with its warp's\n"
    "  --save FOLDER         write the first job of each kernel to FOLDER/HASH.job, with its memory, for mali-replay\n"
    "  --log                 say on stderr which jobs run\n"
    "  --report FILE         where to write the report (JSON) at the end\n"
    "  --help                show this\n";

#define STOP_S 10 // for the job that runs when the program ends

struct options {
    int fd;
    struct mx_machine_options machine;
    const char *report, *names, *save;
    bool check, coherency, count, stacks_apart;
};

static int fail(const char *format, const char *what) {
    fprintf(stderr, "mali-exec: error: ");
    fprintf(stderr, format, what);
    fprintf(stderr, "; see mali-exec --help\n");
    return 2;
}

static bool number_read(const char *text, uint64_t *number) {
    char *end;
    errno = 0;
    *number = strtoull(text, &end, 10);
    return errno == 0 && end != text && *end == '\0' && *text != '-';
}

enum {
    HELP = 256,
    FD,
    THREADS,
    SHUFFLE,
    RECONVERGENCE,
    WARP_LIMIT,
    STREAM_LIMIT,
    NO_SHORTCUTS,
    LOG,
    CHECK,
    COHERENCY,
    COUNT,
    NAMES,
    STACKS_APART,
    SAVE,
    REPORT
};

static const struct option known[] = {
    {"fd", required_argument, NULL, FD},
    {"threads", required_argument, NULL, THREADS},
    {"shuffle", required_argument, NULL, SHUFFLE},
    {"reconvergence", required_argument, NULL, RECONVERGENCE},
    {"report", required_argument, NULL, REPORT},
    {"warp-limit", required_argument, NULL, WARP_LIMIT},
    {"stream-limit", required_argument, NULL, STREAM_LIMIT},
    {"log", no_argument, NULL, LOG},
    {"no-shortcuts", no_argument, NULL, NO_SHORTCUTS},
    {"check", no_argument, NULL, CHECK},
    {"coherency", no_argument, NULL, COHERENCY},
    {"count", no_argument, NULL, COUNT},
    {"names", required_argument, NULL, NAMES},
    {"stacks-apart", no_argument, NULL, STACKS_APART},
    {"save", required_argument, NULL, SAVE},
    {"help", no_argument, NULL, HELP},
    {NULL, 0, NULL, 0},
};

static void job_log(void *context, const struct mx_job *job) {
    (void)context;
    fprintf(stderr, "mali-exec: job %" PRIu64 ": kernel at 0x%" PRIx64 ", %u x %u x %u workgroups of %u x %u x %u\n",
            job->number, job->code, job->group_count[0], job->group_count[1], job->group_count[2], job->local_size[0],
            job->local_size[1], job->local_size[2]);
}

// 0: go on; 1: help was shown; 2: bad.
static int options_read(struct options *o, int argc, char **argv) {
    int letter;
    uint64_t number = 0;
    while ((letter = getopt_long(argc, argv, "", known, NULL)) != -1) {
        if (letter == '?')
            return 2;
        if ((letter == FD || letter == THREADS || letter == SHUFFLE || letter == WARP_LIMIT ||
             letter == STREAM_LIMIT) &&
            !number_read(optarg, &number))
            return fail("'%s' is not a number", optarg);
        switch (letter) {
        case FD:
            o->fd = (int)number;
            break;
        case THREADS:
            o->machine.core.threads = (uint32_t)number;
            break;
        case SHUFFLE:
            o->machine.core.shuffle = number;
            break;
        case WARP_LIMIT:
            o->machine.core.warp_limit = number;
            break;
        case STREAM_LIMIT:
            o->machine.stream_limit = number;
            break;
        case LOG:
            o->machine.job = job_log;
            break;
        case NO_SHORTCUTS:
            o->machine.core.no_shortcuts = true;
            break;
        case CHECK:
            o->check = true;
            o->machine.core.no_shortcuts = true; // what is copied has to be followed, too
            break;
        case COHERENCY:
            o->coherency = true;
            break;
        case COUNT:
            o->count = o->machine.core.interleave = true;
            break;
        case NAMES:
            o->names = optarg;
            break;
        case STACKS_APART:
            o->stacks_apart = true;
            break;
        case SAVE:
            o->save = optarg;
            break;
        case REPORT:
            o->report = optarg;
            break;
        case RECONVERGENCE:
            if (strcmp(optarg, "branches") != 0 && strcmp(optarg, "instructions") != 0)
                return fail("'%s' is no reconvergence rule", optarg);
            o->machine.core.reconvergence = *optarg == 'b' ? MX_AT_BRANCHES : MX_AT_EVERY_INSTRUCTION;
            break;
        default:
            fputs(help, stdout);
            return 1;
        }
    }
    if (o->count && o->check)
        return fail("%s do not go together", "--count and --check");
    return o->fd >= 0 ? 0 : fail("%s is missing", "--fd");
}

// ---- the socket

struct server {
    int fd;
    uint8_t *base; // of the memory file
    uint64_t bytes;
    int file; // the memory file
    struct mx_machine *machine;
    struct mx_fan observers;
    struct mx_check *check;       // NULL: nobody looks on
    struct mx_coherent *coherent; // NULL: CPU and GPU see one memory
    struct mx_count *count;       // NULL: nobody counts
    struct mx_observer save;      // of --save
};

static bool packet_send(int fd, const struct mx_link_packet *packet) {
    return send(fd, packet, sizeof *packet, MSG_NOSIGNAL) == (ssize_t)sizeof *packet;
}

// *file: a descriptor that came along, or -1. False: the other end is gone.
static bool packet_receive(int fd, struct mx_link_packet *packet, int *file) {
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec part = {packet, sizeof *packet};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    ssize_t got;
    do
        got = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    *file = -1;
    const struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (got > 0 && header != NULL && header->cmsg_type == SCM_RIGHTS)
        memcpy(file, CMSG_DATA(header), sizeof *file);
    return got == (ssize_t)sizeof *packet;
}

static void on_done(void *context, uint64_t number, uint32_t code) {
    const struct server *server = context;
    packet_send(server->fd, &(struct mx_link_packet){.kind = MX_LINK_DONE, .c = number, .a = code});
}

static void on_fatal(void *context, uint32_t group, uint32_t queue, uint32_t code) {
    const struct server *server = context;
    packet_send(server->fd, &(struct mx_link_packet){.kind = MX_LINK_FATAL, .group = group, .queue = queue, .a = code});
}

static bool hello(struct server *server, const struct mx_link_packet *packet, int file) {
    if (packet->kind != MX_LINK_HELLO || packet->a != MX_LINK_VERSION || file < 0) {
        fprintf(stderr, "mali-exec: error: the simulated driver speaks another version; build both anew\n");
        return false;
    }
    server->bytes = packet->b;
    server->base = mmap(NULL, packet->b, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
    server->file = file;
    if (server->base == MAP_FAILED) {
        fprintf(stderr, "mali-exec: error: the memory file cannot be mapped: %s\n", strerror(errno));
        return false;
    }
    return packet_send(server->fd, &(struct mx_link_packet){.kind = MX_LINK_READY, .a = MX_LINK_VERSION});
}

static bool seen(const struct server *server) {
    return packet_send(server->fd, &(struct mx_link_packet){.kind = MX_LINK_SEEN});
}

static void map(const struct server *server, const struct mx_link_packet *p) {
    struct mx_region region = {.begin = p->a, .end = p->a + p->b, .host = server->base + p->c, .object = p->object};
    uint8_t *copy = server->coherent != NULL ? mx_coherent_host(server->coherent, p->object, p->c) : NULL;
    region.host = copy != NULL ? copy : region.host;
    region.read_only = p->d & MX_LINK_MAP_READ_ONLY;
    region.executable = p->d & MX_LINK_MAP_EXECUTABLE;
    if (p->c > server->bytes || p->b > server->bytes - p->c || !mx_machine_map(server->machine, p->space, &region))
        fprintf(stderr, "mali-exec: error: 0x%" PRIx64 " bytes at 0x%" PRIx64 " cannot be mapped\n", p->b, p->a);
}

// False: the end.
static bool serve(const struct server *server, const struct mx_link_packet *p) {
    switch ((enum mx_link_kind)p->kind) {
    case MX_LINK_MAP:
        map(server, p);
        return seen(server);
    case MX_LINK_UNMAP:
        mx_machine_unmap(server->machine, p->space, p->a, p->b);
        return seen(server);
    case MX_LINK_SPACE_GONE:
        mx_machine_space_gone(server->machine, p->space);
        return seen(server);
    case MX_LINK_GROUP:
        mx_machine_group(server->machine, p->group, p->space, (uint32_t)p->a);
        return seen(server);
    case MX_LINK_GROUP_GONE:
        mx_machine_group_gone(server->machine, p->group);
        return seen(server);
    case MX_LINK_SUBMIT:
        if (!mx_machine_submit(server->machine, p->group, p->queue, p->c, p->a, p->b, (uint32_t)p->d))
            on_done((void *)server, p->c, mx_fault_code(MX_FAULT_STREAM));
        return true;
    case MX_LINK_OBJECT:
        if (server->coherent != NULL && (p->c & MX_LINK_OBJECT_CACHED) &&
            !mx_coherent_add(server->coherent, p->object, p->a, p->b))
            fprintf(stderr, "mali-exec: error: no memory for the GPU's copy of object %u: it is coherent\n", p->object);
        return seen(server);
    case MX_LINK_OBJECT_GONE:
        if (server->coherent != NULL)
            mx_coherent_remove(server->coherent, p->object);
        return seen(server);
    case MX_LINK_SYNC:
        if (server->coherent != NULL)
            mx_coherent_sync(server->coherent, p->object, p->a, p->b, p->c != 0);
        return seen(server);
    default:
        return false;
    }
}

// A job that still runs goes on changing what the observers hold: their part is left out then.
static bool report_write(const struct server *server, const char *path, const char *ended, bool stopped) {
    json_t *report = json_pack("{s:i, s:s}", "version", 1, "ended", ended);
    bool good = report != NULL && mx_machine_report(server->machine, report) &&
                (server->check == NULL || !stopped || mx_check_report(server->check, report)) &&
                (server->count == NULL || !stopped || mx_count_report(server->count, report));
    if (good && path != NULL && json_dump_file(report, path, JSON_INDENT(1)) != 0) {
        fprintf(stderr, "mali-exec: error: the report cannot be written to %s\n", path);
        good = false;
    }
    json_decref(report);
    return good;
}

static bool count_make(struct server *server, const struct options *options) {
    json_error_t error = {0};
    json_t *names = options->names != NULL ? json_load_file(options->names, 0, &error) : NULL;
    if (options->names != NULL && !json_is_object(names))
        fprintf(stderr, "mali-exec: error: %s: no JSON object: %s; kernels get no names\n", options->names, error.text);
    server->count = mx_count_new(&(struct mx_count_options){.stacks_apart = options->stacks_apart, .names = names});
    json_decref(names);
    if (server->count != NULL)
        mx_fan_add(&server->observers, mx_count_observer(server->count));
    return server->count != NULL;
}

// Of a kernel that is saved already the file stays.
static void job_save(void *context, const struct mx_job *job, const struct mx_program *program, uint32_t workers) {
    char path[4096];
    (void)workers;
    snprintf(path, sizeof path, "%s/%016" PRIx64 ".job", (const char *)context, mx_program_hash(program));
    if (access(path, F_OK) != 0 && !mx_job_save(job, path))
        fprintf(stderr, "mali-exec: error: the job cannot be written to %s: %s\n", path, strerror(errno));
}

// What looks on, as the options say, and the machine. False: no memory.
static bool machine_make(struct server *server, struct options *options) {
    if (options->check) {
        const struct mx_check_options all = {
            .memory_fd = server->file, .memory_base = server->base, .memory_bytes = server->bytes};
        server->check = mx_check_new(&all);
        if (server->check == NULL)
            return false;
        mx_fan_add(&server->observers, mx_check_observer(server->check));
    }
    if (options->count && !count_make(server, options))
        return false;
    if (options->save != NULL) {
        server->save = (struct mx_observer){.context = (void *)options->save, .job_begin = job_save};
        mx_fan_add(&server->observers, &server->save);
    }
    if (options->coherency && (server->coherent = mx_coherent_new(server->file, server->base)) == NULL)
        return false;
    options->machine.core.observer = mx_fan_observer(&server->observers);
    server->machine = mx_machine_new(&options->machine);
    return server->machine != NULL;
}

int main(int argc, char **argv) {
    struct server server = {0};
    struct mx_machine_listener listener = {&server, on_done, on_fatal};
    struct options options = {.fd = -1, .machine = {.listener = &listener, .stream_limit = UINT64_C(1) << 28}};
    struct mx_link_packet packet;
    int file, status = options_read(&options, argc, argv);
    if (status != 0)
        return status == 1 ? 0 : 2;
    signal(SIGINT, SIG_IGN); // they go to the whole group, for the program: that says goodbye
    signal(SIGTERM, SIG_IGN);
    server.fd = options.fd;
    if (!packet_receive(server.fd, &packet, &file) || !hello(&server, &packet, file))
        return 1;
    if (!machine_make(&server, &options)) {
        fprintf(stderr, "mali-exec: error: out of memory\n");
        return 1;
    }
    bool came;
    while ((came = packet_receive(server.fd, &packet, &file)) && serve(&server, &packet)) {
    }
    bool stopped = mx_machine_stop(server.machine, STOP_S);
    bool good = report_write(&server, options.report, !stopped ? "in a job" : came ? "goodbye" : "silence", stopped);
    packet_send(server.fd, &(struct mx_link_packet){.kind = MX_LINK_GOODBYE});
    if (!stopped)
        _exit(1);
    mx_machine_free(server.machine);
    mx_check_free(server.check);
    mx_count_free(server.count);
    mx_coherent_free(server.coherent);
    munmap(server.base, server.bytes);
    return good ? 0 : 1;
}
