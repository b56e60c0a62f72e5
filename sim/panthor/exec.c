// SPDX-License-Identifier: MIT
#include "exec.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../exec/link.h"
#include "knobs.h"
#include "log.h"

#define WORDS_MAX 64
#define START_MS 20000
#define DONE_RING 4096 // of jobs' codes; more are never open at once

static int channel = -1;
static pid_t process;
static uint64_t last_number, done_number;
static struct {
    uint64_t number;
    uint32_t code;
} codes[DONE_RING];

bool ps_exec_on(void) {
    return channel >= 0;
}

static _Noreturn void give_up(const char *what) {
    dprintf(STDERR_FILENO, "[panthor-sim] PANTHOR_SIM_EXEC=%s: %s (errno %d)\n", ps_knobs()->exec, what, errno);
    _exit(2);
}

// The other process is gone: what is open ends with an error, nothing hangs.
static void lost(void) {
    if (channel >= 0)
        ps_log(PS_LOG_ALWAYS, "mali-exec has ended; nothing more is executed. Its last lines say why");
    close(channel);
    channel = -1;
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

static bool packet_receive(struct mx_link_packet *packet) {
    ssize_t got;
    do
        got = recv(channel, packet, sizeof *packet, 0);
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof *packet;
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
    if (!packet_send(&packet, memory_file) || poll(&wait, 1, START_MS) != 1 || !packet_receive(&packet) ||
        packet.kind != MX_LINK_READY)
        give_up("it does not answer");
    ps_log(PS_LOG_EVENTS, "mali-exec executes, process %d", (int)process);
}

// ---- talking to it

static void note(const struct mx_link_packet *packet) {
    if (packet->kind != MX_LINK_DONE)
        return;
    codes[packet->c % DONE_RING].number = packet->c;
    codes[packet->c % DONE_RING].code = (uint32_t)packet->a;
    done_number = packet->c > done_number ? packet->c : done_number;
}

// Sends, and reads until the answer; what else comes is noted.
static void ask(const struct mx_link_packet *packet, uint32_t answer) {
    struct mx_link_packet got = {0};
    if (channel < 0)
        return;
    bool good = packet_send(packet, -1);
    while (good && got.kind != answer) {
        good = packet_receive(&got);
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
                                 .d = flags},
        MX_LINK_SEEN);
}

void ps_exec_unmap(uint32_t vm, uint64_t address, uint64_t size_bytes) {
    ask(&(struct mx_link_packet){.kind = MX_LINK_UNMAP, .space = vm, .a = address, .b = size_bytes}, MX_LINK_SEEN);
}

void ps_exec_vm_gone(uint32_t vm) {
    ask(&(struct mx_link_packet){.kind = MX_LINK_SPACE_GONE, .space = vm}, MX_LINK_SEEN);
}

void ps_exec_object(uint32_t object, uint64_t file_offset, uint64_t size_bytes, bool cached) {
    ask(&(struct mx_link_packet){.kind = MX_LINK_OBJECT,
                                 .object = object,
                                 .a = file_offset,
                                 .b = size_bytes,
                                 .c = cached ? MX_LINK_OBJECT_CACHED : 0},
        MX_LINK_SEEN);
}

void ps_exec_object_gone(uint32_t object) {
    ask(&(struct mx_link_packet){.kind = MX_LINK_OBJECT_GONE, .object = object}, MX_LINK_SEEN);
}

void ps_exec_sync(uint32_t object, uint64_t offset_bytes, uint64_t size_bytes, bool invalidate) {
    ask(
        &(struct mx_link_packet){
            .kind = MX_LINK_SYNC, .object = object, .a = offset_bytes, .b = size_bytes, .c = invalidate},
        MX_LINK_SEEN);
}

void ps_exec_group(uint32_t group, uint32_t vm, uint32_t queues) {
    ask(&(struct mx_link_packet){.kind = MX_LINK_GROUP, .group = group, .space = vm, .a = queues}, MX_LINK_SEEN);
}

void ps_exec_group_gone(uint32_t group) {
    ask(&(struct mx_link_packet){.kind = MX_LINK_GROUP_GONE, .group = group}, MX_LINK_SEEN);
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
    return last_number;
}

uint32_t ps_exec_wait(uint64_t number) {
    while (channel >= 0 && codes[number % DONE_RING].number != number) {
        struct mx_link_packet packet;
        if (packet_receive(&packet))
            note(&packet);
        else
            lost();
    }
    return codes[number % DONE_RING].number == number ? codes[number % DONE_RING].code : 0x48; // bus fault
}

void ps_exec_end(void) {
    if (channel < 0)
        return;
    ask(&(struct mx_link_packet){.kind = MX_LINK_BYE}, MX_LINK_GOODBYE);
    close(channel);
    channel = -1;
    waitpid(process, NULL, 0);
}
