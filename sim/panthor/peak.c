// SPDX-License-Identifier: MIT
#include "peak.h"

#include <string.h>

#define DRIVER_START (UINT64_C(32) << 20)

// A peak is described only when something is about to be removed from it: while a program allocates, each mapping is a
// new peak.
static struct ps_peak peak = {.largest_hole_bytes = PS_PEAK_LOW_END - DRIVER_START};
static const void *undescribed;

void ps_peak_note(const void *owner, uint64_t low_bytes) {
    if (low_bytes <= peak.bytes)
        return;
    peak.bytes = low_bytes;
    undescribed = owner;
}

static void class_add(uint64_t size_bytes) {
    size_t at = 0;
    while (at < peak.class_count && peak.classes[at].bytes > size_bytes)
        at++;
    if (at < peak.class_count && peak.classes[at].bytes == size_bytes) {
        peak.classes[at].count++;
    } else if (peak.class_count == PS_PEAK_CLASSES) {
        peak.other_bytes += size_bytes;
    } else {
        memmove(&peak.classes[at + 1], &peak.classes[at], (peak.class_count - at) * sizeof peak.classes[0]);
        peak.classes[at] = (struct ps_peak_class){.bytes = size_bytes, .count = 1};
        peak.class_count++;
    }
}

static void hole_note(uint64_t start, uint64_t end) {
    if (end > start && end - start > peak.largest_hole_bytes)
        peak.largest_hole_bytes = end - start;
}

void ps_peak_settle(const void *owner, const struct ps_peak_mapping *list, size_t count) {
    if (undescribed != owner)
        return;
    undescribed = NULL;
    peak = (struct ps_peak){.bytes = peak.bytes};
    uint64_t free_from = DRIVER_START;
    for (size_t i = 0; i < count && list[i].address < PS_PEAK_LOW_END; i++) {
        uint64_t end = list[i].address + list[i].size_bytes;
        uint64_t low_end = end < PS_PEAK_LOW_END ? end : PS_PEAK_LOW_END;
        class_add(list[i].size_bytes);
        if (list[i].handle != 0)
            peak.label_bytes[ps_bo_label_of(list[i].handle)] += low_end - list[i].address;
        hole_note(free_from, list[i].address);
        if (low_end > free_from)
            free_from = low_end;
    }
    hole_note(free_from, PS_PEAK_LOW_END);
}

const struct ps_peak *ps_peak_read(void) {
    return &peak;
}
