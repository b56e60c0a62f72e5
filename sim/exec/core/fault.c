// SPDX-License-Identifier: MIT
#include "../job.h"

// Exception codes: csf-exec.md, section 1.
static const struct {
    const char *name;
    uint32_t code;
} faults[] = {
    [MX_FAULT_NONE] = {"none", 0},
    [MX_FAULT_TRANSLATION] = {"translation", 0xc0},
    [MX_FAULT_PERMISSION] = {"permission", 0xc0},
    [MX_FAULT_INSTRUCTION] = {"instruction", 0x51},
    [MX_FAULT_ENDLESS] = {"endless", 0x44},
    [MX_FAULT_STREAM] = {"stream", 0x49},
    [MX_FAULT_DESCRIPTOR] = {"descriptor", 0x40},
    [MX_FAULT_MEMORY] = {"memory", 0x48},
};

uint32_t mx_fault_code(enum mx_fault_kind kind) {
    return faults[kind].code;
}

const char *mx_fault_name(enum mx_fault_kind kind) {
    return faults[kind].name;
}
