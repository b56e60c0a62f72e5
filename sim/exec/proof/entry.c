// SPDX-License-Identifier: MIT
#include "entry.h"

#include <stdlib.h>
#include <string.h>

// The next field of *text, which ends at a separator; NULL when there is none.
static char *field(char **text, const char *separators) {
    return *text == NULL ? NULL : strsep(text, separators);
}

static bool number(const char *text, uint32_t *value) {
    char *end;
    if (text == NULL || *text == '\0' || *text == '-')
        return false;
    unsigned long long parsed = strtoull(text, &end, 0);
    *value = (uint32_t)parsed;
    return *end == '\0' && parsed <= UINT32_MAX;
}

static bool numbers(char *text, const char *separators, uint32_t *values, uint32_t count) {
    bool good = true;
    for (uint32_t i = 0; i < count; i++)
        good = good && number(field(&text, separators), &values[i]);
    return good && text == NULL;
}

static const char *file(const char *text) {
    return text == NULL || strcmp(text, "-") == 0 ? NULL : text;
}

// SET:BINDING:BYTES:IN:OUT
static bool buffer(struct entry *entry, enum entry_buffer_kind kind, char *text) {
    if (entry->buffer_count == ENTRY_BUFFERS_MAX)
        return false;
    struct entry_buffer *buffer = &entry->buffers[entry->buffer_count++];
    *buffer = (struct entry_buffer){.kind = kind};
    bool good = number(field(&text, ":"), &buffer->set) && number(field(&text, ":"), &buffer->binding) &&
                buffer->set < ENTRY_SETS_MAX;
    if (kind == ENTRY_NULL)
        return good && text == NULL;
    good = good && number(field(&text, ":"), &buffer->bytes) && buffer->bytes > 0;
    buffer->in = file(field(&text, ":"));
    buffer->out = file(field(&text, ":"));
    return good && text == NULL && (kind != ENTRY_ADDRESS || buffer->binding <= ENTRY_PUSH_MAX - 8);
}

static bool spec(struct entry *entry, char *text) {
    if (entry->spec_count == ENTRY_SPEC_MAX)
        return false;
    uint32_t n = entry->spec_count++;
    return number(field(&text, ":"), &entry->spec_id[n]) && number(field(&text, ":"), &entry->spec[n]) && text == NULL;
}

static bool push(struct entry *entry, char *text) {
    bool good = number(field(&text, ":"), &entry->push_bytes) && entry->push_bytes <= ENTRY_PUSH_MAX &&
                entry->push_bytes % 4 == 0;
    entry->push = file(field(&text, ":"));
    return good && text == NULL;
}

static bool word_take(struct entry *entry, const char *name, char *value) {
    static const char *const kinds[] = {"storage", "uniform", "null", "address"};
    for (uint32_t i = 0; value != NULL && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(name, kinds[i]) == 0)
            return buffer(entry, (enum entry_buffer_kind)i, value);
    if (value != NULL && strcmp(name, "grid") == 0)
        return numbers(value, ",", entry->grid, 3);
    if (value != NULL && strcmp(name, "base") == 0)
        return numbers(value, ",", entry->base, 3);
    if (value != NULL && strcmp(name, "spec") == 0)
        return spec(entry, value);
    if (value != NULL && strcmp(name, "push") == 0)
        return push(entry, value);
    entry->indirect |= strcmp(name, "indirect") == 0;
    entry->robust |= strcmp(name, "robust") == 0;
    return value == NULL && (strcmp(name, "indirect") == 0 || strcmp(name, "robust") == 0);
}

bool entry_parse(char *line, struct entry *entry, const char **bad) {
    *entry = (struct entry){.grid = {1, 1, 1}};
    entry->name = field(&line, " ");
    entry->kernel = field(&line, " ");
    *bad = entry->name;
    if (entry->kernel == NULL)
        return false;
    for (char *word; (word = field(&line, " ")) != NULL;) {
        char *value = word;
        *bad = strsep(&value, "=");
        if (!word_take(entry, word, value))
            return false;
    }
    return true;
}
