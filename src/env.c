// SPDX-License-Identifier: MIT
#include "env.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"

static const char *const memory_names[] = {"auto", "shared", "imported", "mirrored"};
static const char *const path_names[] = {"int8", "fp16", "fp32", "auto"};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static int name_index(const char *text, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(text, names[i]) == 0)
            return (int)i;
    return -1;
}

bool rf_env_parse_int(const char *text, int64_t min, int64_t max, int64_t *out) {
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || value < min || value > max)
        return false;
    *out = value;
    return true;
}

bool rf_env_parse_memory(const char *text, enum rf_memory_mode *mode, enum rf_copies *copies) {
    enum rf_memory_mode found_mode = *mode;
    enum rf_copies found_copies = *copies;
    for (const char *word = text; word != NULL;) {
        char name[16];
        size_t length = strcspn(word, ",");
        snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name), word);
        int index = name_index(name, memory_names, COUNT(memory_names));
        if (index >= 0)
            found_mode = (enum rf_memory_mode)index;
        else if (strcmp(name, "once") == 0 || strcmp(name, "twice") == 0)
            found_copies = name[0] == 'o' ? RF_COPIES_ONCE : RF_COPIES_TWICE;
        else
            return false;
        word = word[length] == ',' ? word + length + 1 : NULL;
    }
    *mode = found_mode;
    *copies = found_copies;
    return true;
}

bool rf_env_parse_path(const char *text, enum rf_path *out) {
    int index = name_index(text, path_names, COUNT(path_names));
    if (index >= 0)
        *out = (enum rf_path)index;
    return index >= 0;
}

const char *rf_env_memory_name(enum rf_memory_mode mode) {
    return memory_names[mode];
}

const char *rf_env_path_name(enum rf_path path) {
    return path_names[path];
}

// The variable's text, or NULL when it is unset or empty.
static const char *env_text(const char *name) {
    const char *text = getenv(name);
    return text != NULL && *text != '\0' ? text : NULL;
}

static void env_warn(const char *name, const char *text, const char *expected) {
    rf_log(RF_LOG_WARN, "%s=\"%.60s\" is not understood and ignored: it takes %s", name, text, expected);
}

void rf_env_read(struct rf_env *env) {
    *env = (struct rf_env){.min_batch = RF_DEFAULT_MIN_BATCH, .memory = RF_MEMORY_AUTO, .path = RF_PATH_AUTO};
    env->device = env_text("GGML_ROCKFILL_DEVICE");

    const char *text = env_text("GGML_ROCKFILL_MIN_BATCH");
    if (text != NULL && !rf_env_parse_int(text, 1, INT32_MAX, &env->min_batch))
        env_warn("GGML_ROCKFILL_MIN_BATCH", text, "a whole number from 1 on");

    text = env_text("GGML_ROCKFILL_MEMORY");
    if (text != NULL && !rf_env_parse_memory(text, &env->memory, &env->copies))
        env_warn("GGML_ROCKFILL_MEMORY", text, "auto, shared, imported or mirrored, and after a comma once or twice");

    text = env_text("GGML_ROCKFILL_PATH");
    if (text != NULL && !rf_env_parse_path(text, &env->path))
        env_warn("GGML_ROCKFILL_PATH", text, "auto, int8, fp16 or fp32");

    int64_t debug = 0;
    text = env_text("GGML_ROCKFILL_DEBUG");
    if (text != NULL && !rf_env_parse_int(text, 0, 2, &debug))
        env_warn("GGML_ROCKFILL_DEBUG", text, "0, 1 or 2");
    env->debug = (int)debug;
}
