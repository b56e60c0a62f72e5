// SPDX-License-Identifier: MIT
#include "sm_asm.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOKEN_BYTES 64

static bool starts(const char *text, const char *prefix) {
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

// The part of the word that a suffix selects; false for suffixes that select none (.neg, .abs, .w0).
static bool is_select(const char *suffix) {
    return (suffix[0] == 'h' || suffix[0] == 'b') && isdigit((unsigned char)suffix[1]);
}

static void parse_suffixes(char *suffix, struct sm_operand *operand) {
    while (suffix != NULL) {
        char *next = strchr(suffix, '.');
        if (next != NULL)
            *next++ = '\0';
        if (is_select(suffix))
            snprintf(operand->select, sizeof operand->select, "%.4s", suffix);
        operand->inverted |= strcmp(suffix, "not") == 0;
        if (suffix[0] == 'w' && operand->kind != SM_OPERAND_REGISTER)
            operand->value = (uint32_t)strtoul(suffix + 1, NULL, 10);
        suffix = next;
    }
}

static void classify(const char *word, struct sm_operand *operand) {
    operand->kind = SM_OPERAND_OTHER;
    if (word[0] == 'r' && isdigit((unsigned char)word[1])) {
        operand->kind = SM_OPERAND_REGISTER;
        operand->value = (uint32_t)strtoul(word + 1, NULL, 10);
    } else if (word[0] == 'u' && isdigit((unsigned char)word[1])) {
        operand->kind = SM_OPERAND_UNIFORM;
        operand->value = (uint32_t)strtoul(word + 1, NULL, 10);
    } else if (word[0] == '#' || starts(word, "0x")) {
        operand->kind = SM_OPERAND_CONSTANT;
        operand->value = (uint32_t)strtoul(word + (word[0] == '#'), NULL, 16);
    } else if (starts(word, "lane_id")) {
        operand->kind = SM_OPERAND_LANE;
    } else if (starts(word, "thread_local_pointer")) {
        operand->kind = SM_OPERAND_STACK;
    } else if (starts(word, "workgroup_local_pointer")) {
        operand->kind = SM_OPERAND_SHARED;
    }
}

// "r12^.h0", "u4", "0x3020100.b22", "#0x10", "workgroup_local_pointer.w0"
static struct sm_operand parse_operand(const char *token) {
    struct sm_operand operand = {0};
    char word[TOKEN_BYTES];
    snprintf(word, sizeof word, "%s", token);
    char *suffix = strchr(word, '.');
    if (suffix != NULL)
        *suffix++ = '\0';
    classify(word, &operand);
    parse_suffixes(suffix, &operand);
    return operand;
}

// "@r18:r19:r20:r21": staging registers, consecutive.
static void parse_staging(const char *token, struct sm_instruction *instruction) {
    if (instruction->result.kind != SM_OPERAND_NONE)
        return; // the second list of an atomic: read only
    char first[TOKEN_BYTES];
    snprintf(first, sizeof first, "%s", token + 1);
    first[strcspn(first, ":")] = '\0';
    instruction->result = parse_operand(first);
    instruction->result_registers = 1;
    for (const char *c = token; *c != '\0'; c++)
        instruction->result_registers += *c == ':';
}

static void parse_token(const char *token, struct sm_instruction *instruction) {
    bool is_message = instruction->unit == SM_UNIT_LS, is_branch = starts(instruction->name, "BRANCHZ");
    if (starts(token, "offset:")) {
        int64_t value = strtoll(token + 7, NULL, 0);
        if (is_branch)
            instruction->branch = value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : value;
        else
            instruction->offset = (int32_t)value;
    } else if (token[0] == '@') {
        parse_staging(token, instruction);
    } else if (!is_message && !is_branch && instruction->result.kind == SM_OPERAND_NONE) {
        instruction->result = parse_operand(token);
        instruction->result_registers = strstr(instruction->modifiers, "64") != NULL ? 2 : 1;
    } else if (instruction->source_count < SM_OPERANDS_MAX) {
        instruction->source[instruction->source_count++] = parse_operand(token);
    }
}

static void parse_operands(const char *text, size_t length, struct sm_instruction *instruction) {
    for (size_t at = 0; at < length;) {
        size_t end = at;
        while (end < length && text[end] != ',')
            end++;
        while (at < end && isspace((unsigned char)text[at]))
            at++;
        size_t last = end;
        while (last > at && isspace((unsigned char)text[last - 1]))
            last--;
        char token[TOKEN_BYTES];
        snprintf(token, sizeof token, "%.*s", (int)(last - at), text + at);
        if (token[0] != '\0')
            parse_token(token, instruction);
        at = end + 1;
    }
}

// ".i128.unsigned.slot0": bytes a lane; the address operation LEA_PKA moves none.
static uint32_t message_width(const struct sm_instruction *instruction) {
    const char *dot = strstr(instruction->modifiers, ".i");
    if (instruction->unit != SM_UNIT_LS || dot == NULL || strcmp(instruction->name, "LEA_PKA") == 0)
        return 0;
    return (uint32_t)strtoul(dot + 2, NULL, 10) / 8;
}

static void parse_line(const char *line, size_t length, struct sm_instruction *instruction) {
    *instruction = (struct sm_instruction){.text = line, .text_length = length};
    size_t name = 0;
    while (name < length && !isspace((unsigned char)line[name]) && line[name] != '.')
        name++;
    size_t modifiers = name;
    while (modifiers < length && !isspace((unsigned char)line[modifiers]))
        modifiers++;
    snprintf(instruction->name, sizeof instruction->name, "%.*s", (int)name, line);
    snprintf(instruction->modifiers, sizeof instruction->modifiers, "%.*s", (int)(modifiers - name), line + name);
    if (length == 0)
        snprintf(instruction->name, sizeof instruction->name, "ARSHIFT_OR");
    instruction->unit = sm_units_find(instruction->name, instruction->modifiers, &instruction->known);
    instruction->width_bytes = message_width(instruction);
    parse_operands(line + modifiers, length - modifiers, instruction);
}

static bool ends_block(const struct sm_instruction *instruction) {
    return starts(instruction->name, "BRANCHZ") || strstr(instruction->modifiers, ".reconverge") != NULL ||
           strstr(instruction->modifiers, ".end") != NULL;
}

static bool grow(struct sm_asm *program, size_t *capacity) {
    if (program->count < *capacity)
        return true;
    size_t more = *capacity == 0 ? 256 : 2 * *capacity;
    struct sm_instruction *grown = realloc(program->instructions, more * sizeof *grown);
    if (grown == NULL)
        return false;
    program->instructions = grown;
    *capacity = more;
    return true;
}

static bool parse_body(const char *text, struct sm_asm *program) {
    size_t capacity = 0;
    bool after_block = true; // an empty line here separates blocks
    while (*text != '\0') {
        size_t length = strcspn(text, "\n"), last = length;
        const char *line = text;
        text += length + (text[length] == '\n');
        while (last > 0 && isspace((unsigned char)line[last - 1]))
            last--;
        while (last > 0 && isspace((unsigned char)*line))
            line++, last--;
        if (last == 0 && after_block) {
            after_block = false;
            continue;
        }
        // The text ends in empty lines.
        if (last == 0 && text[strspn(text, " \n")] == '\0')
            break;
        if (!grow(program, &capacity))
            return false;
        struct sm_instruction *instruction = &program->instructions[program->count++];
        parse_line(line, last, instruction);
        program->unknown += !instruction->known;
        after_block = ends_block(instruction);
    }
    return true;
}

// A "Name value" line of the statistics; -1 when there is none.
static int64_t statistic(const char *head, size_t head_bytes, const char *name) {
    const char *end = head + head_bytes;
    for (const char *line = head; line < end; line += strcspn(line, "\n") + 1) {
        const char *at = line + strspn(line, " \t");
        size_t length = strlen(name);
        if (strncmp(at, name, length) == 0 && isspace((unsigned char)at[length]) &&
            isdigit((unsigned char)at[length + strspn(at + length, " \t")]))
            return strtoll(at + length, NULL, 10);
    }
    return -1;
}

static bool check(const struct sm_asm *program, char *error, size_t error_bytes) {
    for (size_t i = 0; i < program->count; i++) {
        const struct sm_instruction *instruction = &program->instructions[i];
        int64_t target = (int64_t)i + 1 + instruction->branch;
        if (target < 0 || target > (int64_t)program->count) {
            snprintf(error, error_bytes, "instruction %zu (%.*s) branches out of the program", i,
                     (int)instruction->text_length, instruction->text);
            return false;
        }
        if (!isupper((unsigned char)instruction->name[0])) {
            snprintf(error, error_bytes, "line \"%.60s\" is no instruction", instruction->name);
            return false;
        }
    }
    if (program->count == 0)
        snprintf(error, error_bytes, "no assembly in it: it should hold what sm-dump prints for a Valhall GPU");
    return program->count != 0;
}

bool sm_asm_parse(const char *text, struct sm_asm *program, char *error, size_t error_bytes) {
    *program = (struct sm_asm){0};
    const char *marker = starts(text, "----") ? text : strstr(text, "\n----");
    const char *body = text;
    size_t head_bytes = 0;
    if (marker != NULL) {
        head_bytes = (size_t)(marker - text);
        body = marker + (marker != text);
        body += strcspn(body, "\n");
        body += *body == '\n';
    }
    program->stated_instructions = statistic(text, head_bytes, "Instructions");
    program->registers = statistic(text, head_bytes, "Registers used");
    program->spills = statistic(text, head_bytes, "Spills");
    program->fills = statistic(text, head_bytes, "Fills");
    if (!parse_body(body, program)) {
        snprintf(error, error_bytes, "out of memory");
        sm_asm_free(program);
        return false;
    }
    if (!check(program, error, error_bytes)) {
        sm_asm_free(program);
        return false;
    }
    return true;
}

void sm_asm_free(struct sm_asm *program) {
    free(program->instructions);
    *program = (struct sm_asm){0};
}
