// SPDX-License-Identifier: MIT
#include "touched.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#define PAGE_BYTES 4096u

enum { UNKNOWN, DATA, HOLE };

struct mx_touched {
    int fd;
    const uint8_t *base;
    uint64_t pages;
    _Atomic uint8_t *states; // of each page; address space only, until used
    pthread_mutex_t lock;    // of what follows
    uint64_t *holes;         // pages in state HOLE
    size_t hole_count, hole_capacity;
};

struct mx_touched *mx_touched_new(int fd, const uint8_t *base, uint64_t size_bytes) {
    struct mx_touched *touched = calloc(1, sizeof *touched);
    if (touched == NULL)
        return NULL;
    touched->fd = fd;
    touched->base = base;
    touched->pages = size_bytes / PAGE_BYTES;
    void *states =
        mmap(NULL, touched->pages, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (states == MAP_FAILED || (lseek(fd, 0, SEEK_DATA) < 0 && errno != ENXIO)) {
        if (states != MAP_FAILED)
            munmap(states, touched->pages);
        free(touched);
        return NULL;
    }
    touched->states = states;
    pthread_mutex_init(&touched->lock, NULL);
    return touched;
}

void mx_touched_free(struct mx_touched *touched) {
    if (touched == NULL)
        return;
    munmap((void *)touched->states, touched->pages);
    pthread_mutex_destroy(&touched->lock);
    free(touched->holes);
    free(touched);
}

static bool hole_remember(struct mx_touched *touched, uint64_t page) {
    if (touched->hole_count == touched->hole_capacity) {
        size_t capacity = touched->hole_capacity > 0 ? 2 * touched->hole_capacity : 256;
        uint64_t *grown = realloc(touched->holes, capacity * sizeof *grown);
        if (grown == NULL)
            return false;
        touched->holes = grown;
        touched->hole_capacity = capacity;
    }
    touched->holes[touched->hole_count++] = page;
    return true;
}

static uint8_t state_ask(struct mx_touched *touched, uint64_t page) {
    pthread_mutex_lock(&touched->lock); // one worker asks, before any can look
    uint8_t state = touched->states[page];
    if (state == UNKNOWN) {
        off_t begin = (off_t)(page * PAGE_BYTES), data = lseek(touched->fd, begin, SEEK_DATA);
        bool hole = data >= begin + (off_t)PAGE_BYTES || (data < 0 && errno == ENXIO);
        state = hole && hole_remember(touched, page) ? HOLE : DATA;
        touched->states[page] = state;
    }
    pthread_mutex_unlock(&touched->lock);
    return state;
}

bool mx_touched_is_hole(struct mx_touched *touched, const uint8_t *host) {
    uint64_t page = (uint64_t)(host - touched->base) / PAGE_BYTES;
    if (host < touched->base || page >= touched->pages)
        return false;
    uint8_t state = touched->states[page];
    return (state == UNKNOWN ? state_ask(touched, page) : state) == HOLE;
}

void mx_touched_written(struct mx_touched *touched, const uint8_t *host) {
    uint64_t page = (uint64_t)(host - touched->base) / PAGE_BYTES;
    if (host >= touched->base && page < touched->pages && touched->states[page] != DATA)
        touched->states[page] = DATA;
}

void mx_touched_job_end(struct mx_touched *touched) {
    for (size_t i = 0; i < touched->hole_count; i++)
        touched->states[touched->holes[i]] = DATA;
    touched->hole_count = 0;
}
