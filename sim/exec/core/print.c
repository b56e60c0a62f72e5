// SPDX-License-Identifier: MIT
#include <stdarg.h>
#include <stdio.h>

#include "form.h"

const char *mx_op_name(uint16_t op) {
    return op < MX_OP_COUNT ? mx_rows[op].printed : "?";
}

struct line {
    char *text;
    size_t size, length; // length: without regard to the size
    bool first;          // of the operands: no comma before it
};

__attribute__((format(printf, 2, 3))) static void add(struct line *line, const char *format, ...) {
    va_list arguments;
    bool full = line->length >= line->size;
    va_start(arguments, format);
    int count =
        vsnprintf(full ? NULL : line->text + line->length, full ? 0 : line->size - line->length, format, arguments);
    va_end(arguments);
    line->length += count > 0 ? (size_t)count : 0;
}

static void next_operand(struct line *line) {
    add(line, "%s", line->first ? " " : ", ");
    line->first = false;
}

static void fields_add(struct line *line, const struct mx_field *const *list, uint64_t word) {
    for (unsigned i = 0; list[i] != NULL; i++)
        add(line, "%s", list[i]->names[mx_bits(word, list[i]->first, list[i]->count)]);
}

static void staging_add(struct line *line, unsigned first, unsigned count) {
    next_operand(line);
    for (unsigned i = 0; i < count; i++)
        add(line, "%sr%u", i == 0 ? "@" : ":", first + i);
}

static void special_add(struct line *line, uint32_t page, uint32_t n) {
    static const struct {
        uint8_t page, entry;
        const char *name;
    } known[] = {{0, 2, "warp_id"},
                 {1, 1, "thread_local_pointer"},
                 {1, 3, "workgroup_local_pointer"},
                 {1, 7, "resource_table_pointer"},
                 {3, 1, "lane_id"},
                 {3, 3, "core_id"}};
    const char *name = "reserved";
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].page == page && known[i].entry == (n - 32) / 2)
            name = known[i].name;
    add(line, "%s.w%u", name, n & 1);
}

static void source_add(struct line *line, const struct mx_row *row, uint64_t word, unsigned i) {
    const struct mx_field *list[MX_MODIFIERS_MAX];
    uint32_t byte = mx_bits(word, 8 * i, 8), n = byte & 63, page = mx_bits(word, 57, 2);
    next_operand(line);
    if (byte >> 6 < 2)
        add(line, "r%u%s", n, byte >> 6 == 1 ? "^" : "");
    else if (byte >> 6 == 2)
        add(line, "u%u", n | page << 6);
    else if (n < 32)
        add(line, "0x%X", mx_small_constants[n]);
    else
        special_add(line, page, n);
    mx_form_operand(row, i, list);
    fields_add(line, list, word);
}

static void destination_add(struct line *line, const struct mx_row *row, uint64_t word) {
    static const char *const halves[] = {"", ".h0", ".h1", ""};
    unsigned r = mx_bits(word, 40, 6), count = mx_bits(word, 33, 3);
    switch ((enum mx_shape)row->shape) {
    case NONE:
    case BRANCH:
        return;
    case LEA_PKA:
    case CLOCK:
        staging_add(line, r, 2);
        return;
    case ATOM_RETURN:
        staging_add(line, mx_bits(word, 16, 6), mx_bits(word, 36, 3) + 1);
        staging_add(line, r, count);
        return;
    default:
        if (row->unit == MX_UNIT_LS) {
            staging_add(line, r, count);
            return;
        }
        next_operand(line);
        add(line, "r%u%s", r, halves[mx_bits(word, 46, 2)]);
    }
}

static void immediate_add(struct line *line, const struct mx_row *row, uint64_t word) {
    switch ((enum mx_shape)row->shape) {
    case BRANCH:
        add(line, ", offset:%d", (int32_t)(mx_bits(word, 8, 27) << 5) >> 5);
        return;
    case LOAD:
    case STORE:
        add(line, ", offset:%d", (int16_t)mx_bits(word, 8, 16));
        return;
    case ATOM:
    case ATOM1:
    case ATOM_RETURN:
        add(line, ", offset:0x%X", mx_bits(word, 8, 8));
        return;
    case I64_U:
    case I64_S:
        if (row->value == 7)
            add(line, ", shift:0x%X", mx_bits(word, 20, 3));
        return;
    case IMM:
        add(line, ", #0x%X", mx_bits(word, 8, 32));
        return;
    default:
        return;
    }
}

int mx_insn_print(const struct mx_insn *insn, char *text, size_t size) {
    const struct mx_row *row = &mx_rows[insn->op < MX_OP_COUNT ? insn->op : 0];
    const struct mx_field *list[MX_MODIFIERS_MAX];
    struct line line = {.text = text, .size = size, .first = true};
    uint64_t word = insn->word;
    if (mx_bits(word, 48, 9) != row->opcode || !mx_form_fits(row, word)) {
        add(&line, "0x%016llx", (unsigned long long)word);
        return (int)line.length;
    }
    add(&line, "%s", row->printed);
    mx_form_modifiers(row, word, list);
    fields_add(&line, list, word);
    add(&line, "%s", mx_field_flow.names[mx_bits(word, 59, 4)]);
    destination_add(&line, row, word);
    for (unsigned i = 0; i < mx_form_sources(row); i++)
        source_add(&line, row, word, i);
    immediate_add(&line, row, word);
    return (int)line.length;
}
