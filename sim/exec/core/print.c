// SPDX-License-Identifier: MIT
#include <stdio.h>

#include "step.h"

static int source_print(const struct mx_source *source, char *text, size_t size) {
    switch (source->kind) {
    case MX_SOURCE_REGISTER:
        return snprintf(text, size, "r%u", source->index);
    case MX_SOURCE_FAU:
        return snprintf(text, size, "u%u", source->index);
    case MX_SOURCE_CONSTANT:
        return snprintf(text, size, "0x%x", mx_small_constants[source->index & 31]);
    default:
        return snprintf(text, size, "special%u", source->index);
    }
}

int mx_insn_print(const struct mx_insn *insn, char *text, size_t size) {
    char line[160];
    int at = snprintf(line, sizeof line, "%016llx %s", (unsigned long long)insn->word, mx_op_name(insn->op));
    if (insn->written_count > 0)
        at += snprintf(line + at, sizeof line - (size_t)at, " r%u", insn->written);
    for (unsigned i = 0; i < insn->source_count; i++) {
        at += snprintf(line + at, sizeof line - (size_t)at, "%s", i > 0 || insn->written_count > 0 ? ", " : " ");
        at += source_print(&insn->sources[i], line + at, sizeof line - (size_t)at);
    }
    return snprintf(text, size, "%s", line);
}
