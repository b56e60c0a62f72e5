// SPDX-License-Identifier: MIT
#include "job_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

// The file: a header, then for each region its record and the pages that are not all zeros, each after its address; a
// page address of UINT64_MAX ends a region.
#define MAGIC UINT64_C(0x31424f4a2d584d) // "MX-JOB1"
#define PAGE_BYTES 4096

struct header {
    uint64_t magic, job_bytes, region_count, host_bytes;
};

struct region {
    uint64_t begin, end;
    uint32_t read_only, executable, object, pad;
};

static bool put(FILE *file, const void *bytes, size_t size) {
    return fwrite(bytes, 1, size, file) == size;
}

static bool get(FILE *file, void *bytes, size_t size) {
    return fread(bytes, 1, size, file) == size;
}

static bool is_zero(const uint8_t *bytes, size_t size) {
    return bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0;
}

static bool region_save(FILE *file, const struct mx_region *region) {
    const struct region record = {region->begin, region->end, region->read_only, region->executable, region->object, 0};
    const uint64_t no_more = UINT64_MAX;
    if (!put(file, &record, sizeof record))
        return false;
    for (uint64_t at = region->begin; at < region->end; at += PAGE_BYTES) {
        uint64_t size = region->end - at < PAGE_BYTES ? region->end - at : PAGE_BYTES;
        const uint8_t *host = region->host + (at - region->begin);
        if (!is_zero(host, size) && !(put(file, &at, sizeof at) && put(file, host, size)))
            return false;
    }
    return put(file, &no_more, sizeof no_more);
}

static bool all_save(FILE *file, const struct mx_job *job) {
    struct header header = {.magic = MAGIC, .job_bytes = sizeof *job};
    const struct mx_region *r;
    for (uint64_t at = 0; (r = mx_memory_next(job->memory, at)) != NULL; at = r->end) {
        header.region_count++;
        header.host_bytes += (r->end - r->begin + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    }
    struct mx_job bare = *job;
    bare.memory = NULL;
    if (!put(file, &header, sizeof header) || !put(file, &bare, sizeof bare))
        return false;
    for (uint64_t at = 0; (r = mx_memory_next(job->memory, at)) != NULL; at = r->end)
        if (!region_save(file, r))
            return false;
    return true;
}

bool mx_job_save(const struct mx_job *job, const char *path) {
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        return false;
    bool good = all_save(file, job);
    int why = errno;
    good &= fclose(file) == 0;
    if (!good) {
        remove(path);
        errno = why;
    }
    return good;
}

void mx_job_unload(struct mx_job_file *file) {
    if (file == NULL)
        return;
    mx_memory_free(file->memory);
    if (file->host != NULL)
        munmap(file->host, file->host_bytes);
    free(file);
}

// Takes *at bytes of the host memory on. False: the file is not well-formed, or no memory.
static bool region_load(FILE *in, struct mx_job_file *file, uint64_t *at) {
    struct region record;
    uint64_t page;
    if (!get(in, &record, sizeof record) || record.begin >= record.end ||
        record.end - record.begin > file->host_bytes - *at)
        return false;
    struct mx_region region = {.begin = record.begin,
                               .end = record.end,
                               .host = (uint8_t *)file->host + *at,
                               .read_only = record.read_only != 0,
                               .executable = record.executable != 0,
                               .object = record.object};
    while (get(in, &page, sizeof page) && page != UINT64_MAX) {
        if (page < record.begin || page >= record.end)
            return false;
        uint64_t size = record.end - page < PAGE_BYTES ? record.end - page : PAGE_BYTES;
        if (!get(in, region.host + (page - record.begin), size))
            return false;
    }
    *at += (record.end - record.begin + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    return page == UINT64_MAX && *at <= file->host_bytes && mx_memory_map(file->memory, &region);
}

static bool all_load(FILE *in, struct mx_job_file *file) {
    struct header header;
    uint64_t at = 0;
    errno = EINVAL;
    if (!get(in, &header, sizeof header) || header.magic != MAGIC || header.job_bytes != sizeof file->job ||
        !get(in, &file->job, sizeof file->job) || header.host_bytes == 0 || file->job.fau_words > MX_FAU_WORDS_MAX)
        return false;
    void *host =
        mmap(NULL, header.host_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (host == MAP_FAILED)
        return false;
    file->host = host;
    file->host_bytes = header.host_bytes;
    if ((file->memory = mx_memory_new()) == NULL)
        return false;
    file->job.memory = file->memory;
    errno = EINVAL;
    for (uint64_t i = 0; i < header.region_count; i++)
        if (!region_load(in, file, &at))
            return false;
    return true;
}

struct mx_job_file *mx_job_load(const char *path) {
    FILE *in = fopen(path, "rb");
    if (in == NULL)
        return NULL;
    struct mx_job_file *file = calloc(1, sizeof *file);
    bool good = file != NULL && all_load(in, file);
    int why = errno;
    fclose(in);
    if (good)
        return file;
    mx_job_unload(file);
    errno = why;
    return NULL;
}
