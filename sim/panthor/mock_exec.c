// SPDX-License-Identifier: MIT
// Stands in for mali-exec in the tests: a job with a command stream is done when the 32-bit word at the stream's
// address is not zero any more. 1: well; DIES: this process ends; anything else is its exception code. With --slow the
// goodbye takes a while, and is said on stderr.
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../exec/link.h"
#include "mock_exec.h"

#define MAPS 256
#define JOBS 256
#define STEP_MS 1

static int channel;
static volatile unsigned char *file;
static struct mx_link_packet maps[MAPS], jobs[JOBS]; // kind 0: free; jobs: in the order of their arrival
static size_t job_count;

static void say(uint32_t kind, uint64_t number, uint64_t code) {
    struct mx_link_packet packet = {.kind = kind, .a = code, .c = number};
    if (send(channel, &packet, sizeof packet, MSG_NOSIGNAL) != (ssize_t)sizeof packet)
        exit(1);
}

static void map(const struct mx_link_packet *packet) {
    for (size_t i = 0; i < MAPS; i++)
        if (maps[i].kind == 0) {
            maps[i] = *packet;
            return;
        }
}

// Whole mappings only.
static void unmap(const struct mx_link_packet *packet) {
    for (size_t i = 0; i < MAPS; i++)
        if (maps[i].kind != 0 && maps[i].space == packet->space && maps[i].a >= packet->a &&
            maps[i].a - packet->a < packet->b)
            maps[i].kind = 0;
}

static uint32_t word_at(uint64_t address) {
    for (size_t i = 0; i < MAPS; i++)
        if (maps[i].kind != 0 && address >= maps[i].a && address - maps[i].a < maps[i].b)
            return *(volatile uint32_t *)(file + maps[i].c + (address - maps[i].a));
    return MOCK_UNMAPPED;
}

static void job_end(size_t at, uint64_t code) {
    say(MX_LINK_DONE, jobs[at].c, code == 1 ? 0 : code);
    job_count--;
    memmove(jobs + at, jobs + at + 1, (job_count - at) * sizeof jobs[0]);
}

static void group_end(uint32_t group) {
    for (size_t i = 0; i < job_count;)
        if (jobs[i].group == group)
            job_end(i, 1);
        else
            i++;
}

static bool is_first(size_t at) {
    for (size_t i = 0; i < at; i++)
        if (jobs[i].group == jobs[at].group && jobs[i].queue == jobs[at].queue)
            return false;
    return true;
}

static void jobs_run(void) {
    for (size_t i = 0; i < job_count;) {
        uint32_t word = jobs[i].b > 0 ? word_at(jobs[i].a) : 1;
        if (word == MOCK_DIES)
            exit(1);
        if (word != 0 && is_first(i))
            job_end(i, word);
        else
            i++;
    }
}

static void serve(const struct mx_link_packet *packet) {
    switch (packet->kind) {
    case MX_LINK_SUBMIT:
        jobs[job_count++] = *packet;
        return;
    case MX_LINK_MAP:
        map(packet);
        break;
    case MX_LINK_UNMAP:
        unmap(packet);
        break;
    case MX_LINK_GROUP_GONE:
        group_end(packet->group);
        break;
    }
    say(MX_LINK_SEEN, 0, 0);
}

static void hello(void) {
    struct mx_link_packet packet;
    char control[CMSG_SPACE(sizeof(int))];
    struct iovec part = {&packet, sizeof packet};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    int memory;
    if (recvmsg(channel, &message, 0) != (ssize_t)sizeof packet || CMSG_FIRSTHDR(&message) == NULL)
        exit(1);
    memcpy(&memory, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof memory);
    file = mmap(NULL, packet.b, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, memory, 0);
    if (packet.kind != MX_LINK_HELLO || file == MAP_FAILED)
        exit(1);
    say(MX_LINK_READY, 0, MX_LINK_VERSION);
}

int main(int argc, char **argv) {
    if (argc < 3 || strcmp(argv[1], "--fd") != 0)
        return 2;
    channel = atoi(argv[2]);
    hello();
    for (;;) {
        struct pollfd wait = {.fd = channel, .events = POLLIN};
        struct mx_link_packet packet;
        if (poll(&wait, 1, STEP_MS) > 0) {
            if (recv(channel, &packet, sizeof packet, 0) != (ssize_t)sizeof packet)
                return 1;
            if (packet.kind == MX_LINK_BYE)
                break;
            serve(&packet);
        }
        jobs_run();
    }
    if (argc > 3 && strcmp(argv[3], "--slow") == 0) {
        poll(NULL, 0, 200);
        fprintf(stderr, "goodbye from %s\n", argv[argc - 1]);
    }
    say(MX_LINK_GOODBYE, 0, 0);
    return 0;
}
