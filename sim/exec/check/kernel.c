// SPDX-License-Identifier: MIT
#include "kernel.h"

#include <stdlib.h>
#include <string.h>

// Page and number of the special operands, as in valhall-isa's table: byte 0xc0 + 32 + 2 x number + half.
#define SPECIAL_PAGE 1
#define SPECIAL_STACK 1
#define SPECIAL_SHARED 3

static uint64_t register_bits(uint32_t first, uint32_t count) {
    uint64_t bits = count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
    return first < 64 ? bits << first : 0;
}

static bool is_special(const struct mx_insn *insn, uint32_t source, uint32_t number) {
    uint32_t byte = (uint32_t)(insn->word >> 8 * source) & 0xff, page = (uint32_t)(insn->word >> 57) & 3;
    return page == SPECIAL_PAGE && byte >= 0xe0 && (byte - 0xe0) / 2 == number;
}

// Pointers are copied, chosen, and moved by sums; whatever else is done with one makes something else of it.
static bool carries_pointer(const struct mx_rule_op *op) {
    switch (op->rule) {
    case MX_RULE_COPY:
    case MX_RULE_SUM:
    case MX_RULE_SELECT:
    case MX_RULE_MUX:
    case MX_RULE_PERMUTE:
        return true;
    default:
        return false;
    }
}

static bool has_data(const char *name) {
    return strncmp(name, "STORE", 5) == 0 || (strncmp(name, "ATOM", 4) == 0 && strncmp(name, "ATOM1", 5) != 0);
}

static void insn_study(struct mx_check_insn *known, const struct mx_insn *insn) {
    const char *name = mx_op_name(insn->op);
    known->op = mx_rule_of(name);
    known->data_source = (int8_t)(has_data(name) && insn->source_count > 0 ? insn->source_count - 1 : -1);
    known->carries_pointer = carries_pointer(&known->op);
    known->writes = register_bits(insn->written, insn->written_count);
    for (uint32_t i = 0; i < insn->source_count; i++) {
        const struct mx_source *source = &insn->sources[i];
        bool is_data = (int)i == known->data_source;
        if (source->kind == MX_SOURCE_REGISTER) {
            uint64_t bits = register_bits(source->index, source->words);
            known->reads |= bits;
            known->address_reads |= is_data ? 0 : bits;
        } else if (source->kind == MX_SOURCE_SPECIAL && !is_data) {
            known->stack_sources |= (uint8_t)(is_special(insn, i, SPECIAL_STACK) << i);
            known->shared_sources |= (uint8_t)(is_special(insn, i, SPECIAL_SHARED) << i);
        }
    }
}

static struct mx_check_kernel *kernel_new(const struct mx_program *program) {
    uint32_t length = mx_program_length(program);
    struct mx_check_kernel *kernel = calloc(1, sizeof *kernel + length * sizeof kernel->insns[0]);
    if (kernel == NULL)
        return NULL;
    kernel->hash = mx_program_hash(program);
    kernel->length = length;
    for (uint32_t i = 0; i < length; i++) {
        struct mx_check_insn *known = &kernel->insns[i];
        insn_study(known, mx_program_insn(program, i));
        kernel->registers |= known->reads | known->writes;
        kernel->uses_stack |= known->stack_sources != 0;
        kernel->uses_shared |= known->shared_sources != 0;
    }
    return kernel;
}

const struct mx_check_kernel *mx_check_kernel_of(struct mx_check_kernel **list, const struct mx_program *program) {
    uint64_t hash = mx_program_hash(program);
    for (struct mx_check_kernel *kernel = *list; kernel != NULL; kernel = kernel->next)
        if (kernel->hash == hash && kernel->length == mx_program_length(program))
            return kernel;
    struct mx_check_kernel *kernel = kernel_new(program);
    if (kernel == NULL)
        return NULL;
    kernel->next = *list;
    *list = kernel;
    return kernel;
}

void mx_check_kernels_free(struct mx_check_kernel *list) {
    while (list != NULL) {
        struct mx_check_kernel *next = list->next;
        free(list);
        list = next;
    }
}
