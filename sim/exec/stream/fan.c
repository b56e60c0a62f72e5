// SPDX-License-Identifier: MIT
#include "fan.h"

// Hands a call on to those that want it.
#define FAN(call, parameters, ...)                                                                                     \
    static void fan_##call parameters {                                                                                \
        const struct mx_fan *fan = context;                                                                            \
        for (uint32_t i = 0; i < fan->count; i++)                                                                      \
            if (fan->parts[i]->call != NULL)                                                                           \
                fan->parts[i]->call(fan->parts[i]->context, __VA_ARGS__);                                              \
    }

#define GROUP_PARAMETERS                                                                                               \
    (void *context, const struct mx_workgroup *group, const struct mx_warp *warp, const struct mx_insn *insn)
#define MESSAGE_PARAMETERS                                                                                             \
    (void *context, const struct mx_workgroup *group, const struct mx_warp *warp, const struct mx_insn *insn,          \
     const struct mx_message *message)

FAN(job_begin, (void *context, const struct mx_job *job, const struct mx_program *program, uint32_t workers), job,
    program, workers)
FAN(group_begin, (void *context, const struct mx_workgroup *group), group)
FAN(before, GROUP_PARAMETERS, group, warp, insn)
FAN(after, GROUP_PARAMETERS, group, warp, insn)
FAN(message, MESSAGE_PARAMETERS, group, warp, insn, message)
FAN(address, MESSAGE_PARAMETERS, group, warp, insn, message)
FAN(barrier, (void *context, const struct mx_workgroup *group), group)
FAN(group_end, (void *context, const struct mx_workgroup *group), group)
FAN(copy, (void *context, const struct mx_job *job, uint64_t source, uint64_t destination, uint64_t bytes), job, source,
    destination, bytes)
FAN(job_end, (void *context, const struct mx_job *job, bool finished), job, finished)

void mx_fan_add(struct mx_fan *fan, const struct mx_observer *observer) {
    if (fan->count < MX_FAN_MAX)
        fan->parts[fan->count++] = observer;
}

const struct mx_observer *mx_fan_observer(struct mx_fan *fan) {
    fan->observer = (struct mx_observer){.context = fan,
                                         .job_begin = fan_job_begin,
                                         .group_begin = fan_group_begin,
                                         .before = fan_before,
                                         .after = fan_after,
                                         .message = fan_message,
                                         .address = fan_address,
                                         .barrier = fan_barrier,
                                         .group_end = fan_group_end,
                                         .copy = fan_copy,
                                         .job_end = fan_job_end};
    return fan->count > 1 ? &fan->observer : fan->count == 1 ? fan->parts[0] : NULL;
}
