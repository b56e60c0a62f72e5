// SPDX-License-Identifier: MIT
#include "copy.h"

#include <string.h>

// A workgroup of 1024 / bytes threads, each of which copies so many bytes at that multiple of its number, if that is
// less than the length. FAU words: 0 number of the first workgroup, 4-5 source, 6-7 destination, 8 length, from 10 on
// constants: offsets of the words.
#define GROUP_BYTES 1024
enum { FIRST_GROUP = 0, SOURCE = 4, DESTINATION = 6, LENGTH = 8, CONSTANTS = 10, FAU_WORDS = 10 };

static const struct {
    uint64_t hash;      // mx_program_hash
    uint32_t bytes;     // a thread
    uint32_t constants; // 4, 8, ...
} kernels[] = {
    // Mesa 26.1.6 and 26.2.6
    {UINT64_C(0xc4cdda9704ddcf26), 16, 3},
    {UINT64_C(0x920850a4bfc1dbd5), 8, 1},
    {UINT64_C(0x5eeb08ff96ee14b1), 4, 0},
    {UINT64_C(0x251d68e6d5cab065), 2, 0},
    {UINT64_C(0x31668da47523d09b), 1, 0},
    // Mesa 25.0.7
    {UINT64_C(0xfc72cc77f0ed2271), 16, 0},
    {UINT64_C(0xb49a491d7e23181a), 8, 0},
    {UINT64_C(0xd09d505a6b48aaf3), 4, 0},
    {UINT64_C(0x04a4808311d833cf), 2, 0},
    {UINT64_C(0xb01a2f8087f5ab4d), 1, 0},
};

// Bytes of a thread; 0: not a copy, or one that is not as it always was.
static uint32_t thread_bytes(const struct mx_job *job, uint64_t hash) {
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
        if (kernels[i].hash != hash)
            continue;
        bool known = job->fau_words >= FAU_WORDS + kernels[i].constants && job->fau[FIRST_GROUP] == 0;
        for (uint32_t k = 0; k < kernels[i].constants && known; k++)
            known = job->fau[CONSTANTS + k] == 4 * (k + 1);
        for (unsigned k = 0; k < 3; k++)
            known &= job->offset[k] == 0 && (k == 0 || (job->local_size[k] == 1 && job->group_count[k] == 1));
        return known && job->local_size[0] == GROUP_BYTES / kernels[i].bytes ? kernels[i].bytes : 0;
    }
    return 0;
}

static uint64_t pair(const struct mx_job *job, unsigned word) {
    return (uint64_t)job->fau[word + 1] << 32 | job->fau[word];
}

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

// The bytes from the address on that lie in one region. NULL: nothing there, or not writable.
static uint8_t *stretch(const struct mx_job *job, uint64_t address, bool writable, uint64_t *bytes) {
    const struct mx_region *region = mx_memory_find(job->memory, address);
    if (region == NULL || (writable && region->read_only))
        return NULL;
    *bytes = least(*bytes, region->end - address);
    return region->host + (address - region->begin);
}

// Region by region. Without `really` it is only looked whether all is there.
static bool copy(const struct mx_job *job, uint64_t source, uint64_t destination, uint64_t bytes, bool really) {
    while (bytes > 0) {
        uint64_t now = bytes;
        const uint8_t *from = stretch(job, source, false, &now);
        uint8_t *to = stretch(job, destination, true, &now);
        if (from == NULL || to == NULL)
            return false;
        if (really)
            memmove(to, from, now);
        source += now;
        destination += now;
        bytes -= now;
    }
    return true;
}

bool mx_copy_run(const struct mx_job *job, const struct mx_program *program, const struct mx_observer *observer) {
    uint64_t each = thread_bytes(job, mx_program_hash(program));
    uint64_t source = pair(job, SOURCE), destination = pair(job, DESTINATION);
    if (each == 0 || (source | destination) & (least(each, 4) - 1))
        return false;
    uint64_t bytes = least((job->fau[LENGTH] + each - 1) / each * each, (uint64_t)job->group_count[0] * GROUP_BYTES);
    if (!copy(job, source, destination, bytes, false))
        return false;
    if (observer != NULL && observer->copy != NULL)
        observer->copy(observer->context, job, source, destination, bytes);
    return copy(job, source, destination, bytes, true);
}
