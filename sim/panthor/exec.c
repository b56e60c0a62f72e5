// SPDX-License-Identifier: MIT
#include "exec.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../exec/link.h"
#include "job.h"
#include "knobs.h"
#include "lock.h"
#include "log.h"

#define WORDS_MAX 64
#define START_MS 20000
#define END_MS 60000 // until its report is written
#define STEP_MS 50

static int channel = -1; // closed by the receiver alone
static bool was_lost, said_goodbye;
static pid_t process;
static uint64_t last_number, asked, answered;

bool ps_exec_on(void) {
    return channel >= 0;
}

bool ps_exec_is_lost(void) {
    return was_lost;
}

static _Noreturn void give_up(const char *what) {
    dprintf(STDERR_FILENO, "[panthor-sim] PANTHOR_SIM_EXEC=%s: %s (errno %d)\n", ps_knobs()->exec, what, errno);
    _exit(2);
}

// The other process is gone: what is open ends with an error, nothing hangs.
static void lost(void) {
    if (channel < 0)
        return;
    ps_log(PS_LOG_ALWAYS, "mali-exec has ended too early, its last lines say why: the device is lost");
    shutdown(channel, SHUT_RDWR);
    channel = -1;
    was_lost = true;
    ps_job_all_lost();
}

// ---- starting it

// Words of the options, %p replaced by the process id. The text is cut up in place.
static size_t split(char *text, char **words, size_t most) {
    size_t count = 0;
    char *state = NULL;
    for (char *word = strtok_r(text, " ", &state); word != NULL && count < most; word = strtok_r(NULL, " ", &state))
        words[count++] = word;
    return count;
}

static char *pid_insert(const char *text) {
    size_t length = strlen(text) + 64, at = 0;
    char *copy = malloc(length);
    for (const char *c = text; copy != NULL && *c != '\0' && at + 16 < length; c++) {
        if (c[0] == '%' && c[1] == 'p') {
            at += (size_t)snprintf(copy + at, length - at, "%d", getpid());
            c++;
        } else {
            copy[at++] = *c;
        }
    }
    if (copy != NULL)
        copy[at] = '\0';
    return copy;
}

// Its libraries are those of the machine that emulates: the program's own would be of another architecture.
static char **environment_make(void) {
    extern char **environ;
    size_t count = 0, kept = 0;
    while (environ[count] != NULL)
        count++;
    char **copy = calloc(count + 1, sizeof *copy);
    for (size_t i = 0; copy != NULL && i < count; i++)
        if (strncmp(environ[i], "LD_PRELOAD=", 11) != 0 && strncmp(environ[i], "LD_LIBRARY_PATH=", 16) != 0)
            copy[kept++] = environ[i];
    return copy;
}

static bool packet_send(const struct mx_link_packet *packet, int file) {
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec part = {(void *)packet, sizeof *packet};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (file >= 0) {
        message.msg_control = &control;
        message.msg_controllen = sizeof control;
        control.header =
            (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof file), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(&control.header), &file, sizeof file);
    }
    ssize_t sent;
    do
        sent = sendmsg(channel, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)sizeof *packet;
}

// 1: there is one; 0: not now; -1: the other process is gone. flags: of recv.
static int packet_receive(struct mx_link_packet *packet, int flags) {
    ssize_t got;
    do
        got = recv(channel, packet, sizeof *packet, flags);
    while (got < 0 && errno == EINTR);
    if (got == (ssize_t)sizeof *packet)
        return 1;
    return got < 0 && errno == EAGAIN ? 0 : -1;
}

static void process_start(int theirs) {
    char number[16], *words[WORDS_MAX + 4] = {(char *)ps_knobs()->exec, "--fd", number};
    char *options = pid_insert(ps_knobs()->exec_options != NULL ? ps_knobs()->exec_options : "");
    char **environment = environment_make();
    if (options == NULL || environment == NULL)
        give_up("no memory to start it");
    snprintf(number, sizeof number, "%d", theirs);
    split(options, words + 3, WORDS_MAX);
    int error = posix_spawn(&process, ps_knobs()->exec, NULL, NULL, words, environment);
    free(environment);
    free(options);
    if (error != 0) {
        errno = error;
        give_up("it cannot be started; make sim builds it");
    }
}

// ---- talking to it

static void note(const struct mx_link_packet *packet) {
    if (packet->kind == MX_LINK_DONE)
        ps_job_ended(packet->c, (uint32_t)packet->a);
    answered += packet->kind == MX_LINK_SEEN;
    said_goodbye |= packet->kind == MX_LINK_GOODBYE;
}

// Takes what there is. The lock is held, so that nobody else reads meanwhile.
static void receive_all(void) {
    struct mx_link_packet packet;
    int got = 0;
    while (channel >= 0 && !said_goodbye && (got = packet_receive(&packet, MSG_DONTWAIT)) > 0)
        note(&packet);
    if (got < 0)
        lost();
}

// Its one thread waits without the lock, and reads with it: who asks for an answer reads it on its own.
static void *receiver(void *argument) {
    struct pollfd wait = {.fd = (int)(intptr_t)argument, .events = POLLIN};
    for (bool open = true; open;) {
        poll(&wait, 1, -1);
        ps_lock_take();
        receive_all();
        ps_job_settle();
        open = channel >= 0;
        ps_lock_drop();
    }
    close(wait.fd);
    return NULL;
}

// The program's signals are for its own threads.
static bool receiver_start(void) {
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool good = pthread_create(&thread, NULL, receiver, (void *)(intptr_t)channel) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return good && pthread_detach(thread) == 0;
}

void ps_exec_start(int memory_file, uint64_t memory_bytes) {
    int ends[2];
    if (ps_knobs()->exec == NULL || channel >= 0)
        return;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0 || fcntl(ends[0], F_SETFD, FD_CLOEXEC) != 0)
        give_up("no socket");
    process_start(ends[1]);
    close(ends[1]);
    channel = ends[0];
    struct mx_link_packet packet = {.kind = MX_LINK_HELLO, .a = MX_LINK_VERSION, .b = memory_bytes};
    struct pollfd wait = {.fd = channel, .events = POLLIN};
    if (!packet_send(&packet, memory_file) || poll(&wait, 1, START_MS) != 1 || packet_receive(&packet, 0) != 1 ||
        packet.kind != MX_LINK_READY)
        give_up("it does not answer");
    if (!receiver_start())
        give_up("no thread for its answers");
    ps_log(PS_LOG_EVENTS, "mali-exec executes, process %d", (int)process);
}

// Sends, and reads until the answer, which come in the order of the questions; what else comes is noted.
static void ask(const struct mx_link_packet *packet) {
    struct mx_link_packet got;
    if (channel < 0)
        return;
    uint64_t mine = ++asked;
    bool good = packet_send(packet, -1);
    while (good && answered < mine) {
        good = packet_receive(&got, 0) > 0;
        if (good)
            note(&got);
    }
    if (!good)
        lost();
}

void ps_exec_map(uint32_t vm, uint64_t address, uint64_t size_bytes, uint64_t file_offset, uint32_t object,
                 bool read_only, bool executable) {
    uint64_t flags = (read_only ? MX_LINK_MAP_READ_ONLY : 0) | (executable ? MX_LINK_MAP_EXECUTABLE : 0);
    ask(&(struct mx_link_packet){.kind = MX_LINK_MAP,
                                 .space = vm,
                                 .object = object,
                                 .a = address,
                                 .b = size_bytes,
                                 .c = file_offset,
                                 .d = flags});
}

void ps_exec_unmap(uint32_t vm, uint64_t address, uint64_t size_bytes) {
    ask(&(struct mx_link_packet){.kind = MX_LINK_UNMAP, .space = vm, .a = address, .b = size_bytes});
}

void ps_exec_vm_gone(uint32_t vm) {
    ask(&(struct mx_link_packet){.kind = MX_LINK_SPACE_GONE, .space = vm});
}

void ps_exec_object(uint32_t object, uint64_t file_offset, uint64_t size_bytes, bool cached) {
    ask(&(struct mx_link_packet){.kind = MX_LINK_OBJECT,
                                 .object = object,
                                 .a = file_offset,
                                 .b = size_bytes,
                                 .c = cached ? MX_LINK_OBJECT_CACHED : 0});
}

void ps_exec_object_gone(uint32_t object) {
    ask(&(struct mx_link_packet){.kind = MX_LINK_OBJECT_GONE, .object = object});
}

void ps_exec_sync(uint32_t object, uint64_t offset_bytes, uint64_t size_bytes, bool invalidate) {
    ask(&(struct mx_link_packet){
        .kind = MX_LINK_SYNC, .object = object, .a = offset_bytes, .b = size_bytes, .c = invalidate});
}

void ps_exec_group(uint32_t group, uint32_t vm, uint32_t queues) {
    ask(&(struct mx_link_packet){.kind = MX_LINK_GROUP, .group = group, .space = vm, .a = queues});
}

void ps_exec_group_gone(uint32_t group) {
    ask(&(struct mx_link_packet){.kind = MX_LINK_GROUP_GONE, .group = group});
}

uint64_t ps_exec_submit(uint32_t group, uint32_t queue, uint64_t stream, uint64_t size_bytes, uint32_t latest_flush) {
    struct mx_link_packet packet = {.kind = MX_LINK_SUBMIT,
                                    .group = group,
                                    .queue = queue,
                                    .a = stream,
                                    .b = size_bytes,
                                    .c = ++last_number,
                                    .d = latest_flush};
    if (channel >= 0 && !packet_send(&packet, -1))
        lost();
    return channel >= 0 ? last_number : 0;
}

// In a signal's handler, perhaps while another thread has the lock: whoever reads, the goodbye is noted.
void ps_exec_end(void) {
    struct mx_link_packet packet = {.kind = MX_LINK_BYE};
    if (channel < 0)
        return;
    bool good = packet_send(&packet, -1);
    for (int ms = 0; good && !said_goodbye && channel >= 0 && ms < END_MS; ms += STEP_MS) {
        struct pollfd wait = {.fd = channel, .events = POLLIN};
        poll(&wait, 1, STEP_MS);
        receive_all();
    }
    if (channel >= 0 && !said_goodbye)
        ps_log(PS_LOG_ALWAYS, "mali-exec does not end within %d s: its report may be missing", END_MS / 1000);
    if (channel >= 0)
        shutdown(channel, SHUT_RDWR);
    channel = -1;
    for (int ms = 0; said_goodbye && waitpid(process, NULL, WNOHANG) == 0 && ms < END_MS; ms += STEP_MS)
        poll(NULL, 0, STEP_MS);
}
