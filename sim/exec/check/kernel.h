// SPDX-License-Identifier: MIT
// What the checker knows of a kernel: worked out once, then kept by the hash of its code.
#pragma once

#include "../insn.h"
#include "rules.h"

struct mx_check_insn {
    struct mx_rule_op op;
    uint64_t reads, writes;                // bits: registers
    uint64_t address_reads;                // of a message: of its address, offset and handle
    int8_t data_source;                    // the source with the registers that a store or an atomic reads; -1: none
    bool carries_pointer;                  // a pointer among the operands is one in the result
    uint8_t stack_sources, shared_sources; // bits: sources that are the pointer to the stack, to workgroup memory
};

struct mx_check_kernel {
    struct mx_check_kernel *next;
    uint64_t hash;
    uint64_t registers; // bits: read or written somewhere
    bool uses_stack, uses_shared;
    uint32_t length;
    struct mx_check_insn insns[];
};

// From the list, or added to it. NULL: no memory. One thread at a time.
const struct mx_check_kernel *mx_check_kernel_of(struct mx_check_kernel **list, const struct mx_program *program);
void mx_check_kernels_free(struct mx_check_kernel *list);
