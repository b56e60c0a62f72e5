// SPDX-License-Identifier: MIT
#include "coherent.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#define LINE_BYTES 64u
#define PAGE_BYTES 4096u

struct object {
    struct object *next;
    uint32_t handle;
    uint64_t file_offset, size_bytes;
    uint8_t *gpu;  // what the GPU sees
    uint8_t *seen; // the CPU's lines as they were when they were last maintained: where they differ, they are dirty
};

struct mx_coherent {
    int fd;
    uint8_t *base;
    struct object *objects;
    struct mx_coherent_stats stats;
};

struct mx_coherent *mx_coherent_new(int fd, uint8_t *base) {
    struct mx_coherent *coherent = calloc(1, sizeof *coherent);
    if (coherent == NULL)
        return NULL;
    coherent->fd = fd;
    coherent->base = base;
    return coherent;
}

// Zeros that take memory only where something else is written.
static uint8_t *zeros(uint64_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory != MAP_FAILED ? memory : NULL;
}

static void object_free(struct object *object) {
    if (object->gpu != NULL)
        munmap(object->gpu, object->size_bytes);
    if (object->seen != NULL)
        munmap(object->seen, object->size_bytes);
    free(object);
}

void mx_coherent_free(struct mx_coherent *coherent) {
    if (coherent == NULL)
        return;
    while (coherent->objects != NULL)
        mx_coherent_remove(coherent, coherent->objects->handle);
    free(coherent);
}

bool mx_coherent_add(struct mx_coherent *coherent, uint32_t handle, uint64_t file_offset, uint64_t size_bytes) {
    mx_coherent_remove(coherent, handle);
    struct object *object = calloc(1, sizeof *object);
    if (object == NULL)
        return false;
    *object = (struct object){.next = coherent->objects,
                              .handle = handle,
                              .file_offset = file_offset,
                              .size_bytes = size_bytes,
                              .gpu = zeros(size_bytes),
                              .seen = zeros(size_bytes)};
    if (object->gpu == NULL || object->seen == NULL) {
        object_free(object);
        return false;
    }
    coherent->objects = object;
    coherent->stats.objects++;
    return true;
}

void mx_coherent_remove(struct mx_coherent *coherent, uint32_t handle) {
    struct object **link = &coherent->objects;
    while (*link != NULL && (*link)->handle != handle)
        link = &(*link)->next;
    if (*link == NULL)
        return;
    struct object *object = *link;
    *link = object->next;
    object_free(object);
}

static struct object *object_find(const struct mx_coherent *coherent, uint32_t handle) {
    struct object *object = coherent->objects;
    while (object != NULL && object->handle != handle)
        object = object->next;
    return object;
}

uint8_t *mx_coherent_host(const struct mx_coherent *coherent, uint32_t handle, uint64_t file_offset) {
    const struct object *object = object_find(coherent, handle);
    bool is_inside = object != NULL && file_offset - object->file_offset < object->size_bytes;
    return is_inside ? object->gpu + (file_offset - object->file_offset) : NULL;
}

static void line_sync(struct mx_coherent *coherent, struct object *object, uint64_t offset, bool invalidate) {
    uint8_t *cpu = coherent->base + object->file_offset + offset;
    uint8_t *gpu = object->gpu + offset, *seen = object->seen + offset;
    if (memcmp(cpu, seen, LINE_BYTES) != 0) {
        memcpy(gpu, cpu, LINE_BYTES);
        memcpy(seen, cpu, LINE_BYTES);
        coherent->stats.to_gpu_lines++;
    } else if (invalidate && memcmp(cpu, gpu, LINE_BYTES) != 0) {
        memcpy(cpu, gpu, LINE_BYTES);
        memcpy(seen, gpu, LINE_BYTES);
        coherent->stats.to_cpu_lines++;
    }
}

static bool is_zero(const uint8_t *page) {
    return page[0] == 0 && memcmp(page, page + 1, PAGE_BYTES - 1) == 0;
}

// A page of the file that the CPU never touched: looking at it would fill it.
static bool is_hole(const struct mx_coherent *coherent, const struct object *object, uint64_t offset) {
    off_t begin = (off_t)(object->file_offset + offset), data = lseek(coherent->fd, begin, SEEK_DATA);
    return data < 0 || data >= begin + (off_t)PAGE_BYTES;
}

bool mx_coherent_sync(struct mx_coherent *coherent, uint32_t handle, uint64_t offset_bytes, uint64_t size_bytes,
                      bool invalidate) {
    struct object *object = object_find(coherent, handle);
    if (object == NULL || size_bytes > object->size_bytes || offset_bytes > object->size_bytes - size_bytes)
        return false;
    coherent->stats.syncs++;
    uint64_t offset = offset_bytes & ~(uint64_t)(LINE_BYTES - 1), end = offset_bytes + size_bytes;
    while (offset < end) {
        uint64_t page = offset & ~(uint64_t)(PAGE_BYTES - 1), page_end = page + PAGE_BYTES;
        bool untouched = is_hole(coherent, object, page) && (!invalidate || is_zero(object->gpu + page));
        for (; !untouched && offset < end && offset < page_end; offset += LINE_BYTES)
            line_sync(coherent, object, offset, invalidate);
        offset = untouched ? page_end : offset;
    }
    return true;
}

const struct mx_coherent_stats *mx_coherent_stats(const struct mx_coherent *coherent) {
    return &coherent->stats;
}
