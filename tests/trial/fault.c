/* SPDX-License-Identifier: MIT
 *
 * The fate of each fallible call: counted, and failed where a knob says so.
 *
 * TRIAL_COUNT_FILE is rewritten at every counted call, not at exit, so that it is right after a crash, too.
 */
#include "trial.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define X(call, may, is) {#call, may, is},
static const struct {
    const char *name;
    unsigned may, is;
} calls[] = {TRIAL_FALLIBLE(X)};
#undef X

static uint64_t call_counts[TRIAL_CALL_COUNT], total, submits, waits;
static struct {
    uint64_t total;
    enum trial_call call;
    VkResult result;
} last_injected;

enum trial_call trial_fault_find(const char *name, size_t length) {
    int i = 0;
    while (i < TRIAL_CALL_COUNT && !(strlen(calls[i].name) == length && strncmp(calls[i].name, name, length) == 0)) {
        i++;
    }
    return (enum trial_call)i;
}

const char *trial_fault_name(enum trial_call call) {
    return calls[call].name;
}

uint64_t trial_fault_calls(enum trial_call call) {
    return call_counts[call];
}

uint64_t trial_fault_total(void) {
    return total;
}

/* Overwrites the file with one line of fixed length, so that a reader never sees half of a longer one. */
static void write_count(void) {
    static int file = -1;
    if (trial_config.count_file == NULL) {
        return;
    }
    if (file < 0) {
        file = open(trial_config.count_file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    }
    char text[160], line[161];
    const char *name = last_injected.total != 0 ? calls[last_injected.call].name : "none";
    snprintf(text, sizeof text, "calls=%llu submits=%llu waits=%llu failed=%llu name=%s result=%d",
             (unsigned long long)total, (unsigned long long)submits, (unsigned long long)waits,
             (unsigned long long)last_injected.total, name, (int)last_injected.result);
    int length = snprintf(line, sizeof line, "%-158s\n", text);
    if (file < 0 || pwrite(file, line, (size_t)length, 0) != length) {
        fprintf(stderr, "trial: cannot write TRIAL_COUNT_FILE %s\n", trial_config.count_file);
    }
}

/* The error for a call that a knob fails. */
static VkResult pick_error(enum trial_call call) {
    unsigned may = calls[call].may;
    if (trial_config.fail_error == TRIAL_FAIL_LOST && (may & TRIAL_MAY_LOST)) {
        return VK_ERROR_DEVICE_LOST;
    }
    bool host = (may & TRIAL_MAY_HOST) && (trial_config.fail_error == TRIAL_FAIL_HOST || !(may & TRIAL_MAY_DEVICE));
    return host ? VK_ERROR_OUT_OF_HOST_MEMORY : VK_ERROR_OUT_OF_DEVICE_MEMORY;
}

/* Counts the call in its class; true when its number is where the class loses the device. */
static bool count_class(enum trial_call call, uint64_t *index) {
    *index = 0;
    if (calls[call].is == TRIAL_IS_SUBMIT) {
        *index = ++submits;
        return trial_config.lost_submit != 0 && submits >= trial_config.lost_submit;
    }
    if (calls[call].is == TRIAL_IS_WAIT) {
        *index = ++waits;
        return trial_config.lost_wait != 0 && waits >= trial_config.lost_wait;
    }
    return false;
}

/* The caller holds the lock. *newly_lost is set when this call loses the device. */
static VkResult decide(enum trial_call call, struct trial_device *device, uint64_t *index, bool *newly_lost) {
    total++;
    call_counts[call]++;
    bool lose = count_class(call, index);
    VkResult result = VK_SUCCESS;
    if (trial_config_hits(&trial_config.fail_call, total) ||
        (trial_config.fail_name_call == call && trial_config_hits(&trial_config.fail_name, call_counts[call]))) {
        result = pick_error(call);
    }
    lose |= result == VK_ERROR_DEVICE_LOST;
    if (device != NULL && lose && !device->lost) {
        device->lost = *newly_lost = true;
    }
    if (device != NULL && device->lost && (calls[call].may & TRIAL_MAY_LOST)) {
        result = VK_ERROR_DEVICE_LOST;
    }
    return result;
}

VkResult trial_fault_check(enum trial_call call, struct trial_device *device, uint64_t *index) {
    uint64_t own_index;
    bool newly_lost = false;
    trial_table_lock();
    VkResult result = decide(call, device, index != NULL ? index : &own_index, &newly_lost);
    uint64_t number = total;
    if (result != VK_SUCCESS) {
        last_injected.total = number;
        last_injected.call = call;
        last_injected.result = result;
        trial_log_injection(call, number, result);
    }
    write_count();
    trial_table_unlock();
    if (newly_lost) {
        /* A program may destroy what a lost device was using; the driver below is not lost and must be done first. */
        device->next.vkDeviceWaitIdle(device->handle);
    }
    if (result != VK_SUCCESS) {
        trial_log_write();
    }
    return result;
}
