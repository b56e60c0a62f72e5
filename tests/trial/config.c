/* SPDX-License-Identifier: MIT
 *
 * The knobs. A knob that is misspelt or misvalued fails vkCreateInstance: a test that believes it runs on a bad device
 * while it runs on a good one would pass for nothing.
 */
#include "trial.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

struct trial_config trial_config;

bool trial_config_hits(const struct trial_nth *nth, uint64_t index) {
    return nth->n != 0 && (index == nth->n || (nth->and_later && index > nth->n));
}

bool trial_config_lists(const char *list, const char *name) {
    size_t length = strlen(name);
    while (list != NULL && *list != '\0') {
        size_t item = strcspn(list, ",");
        if (item == length && strncmp(list, name, length) == 0) {
            return true;
        }
        list += item + (list[item] == ',');
    }
    return false;
}

/* Decimal digits only, from 1 to UINT32_MAX; *end receives what follows. */
static bool parse_number(const char *text, uint64_t *out, const char **end) {
    if (*text < '0' || *text > '9') {
        return false;
    }
    char *rest;
    errno = 0;
    unsigned long long value = strtoull(text, &rest, 10);
    *out = value;
    *end = rest;
    return errno == 0 && value >= 1 && value <= UINT32_MAX;
}

static bool read_number(const char *text, void *out) {
    const char *end;
    return parse_number(text, out, &end) && *end == '\0';
}

static bool read_nth(const char *text, void *out) {
    struct trial_nth *nth = out;
    const char *end;
    if (!parse_number(text, &nth->n, &end)) {
        return false;
    }
    nth->and_later = *end == '+';
    return end[nth->and_later] == '\0';
}

/* vkName, vkName:N or vkName:N+ */
static bool read_fail_name(const char *text, void *out) {
    struct trial_config *config = out;
    size_t length = strcspn(text, ":");
    config->fail_name_call = trial_fault_find(text, length);
    config->fail_name = (struct trial_nth){.n = 1};
    return config->fail_name_call != TRIAL_CALL_COUNT &&
           (text[length] == '\0' || read_nth(text + length + 1, &config->fail_name));
}

static bool read_switch(const char *text, void *out) {
    *(bool *)out = strcmp(text, "1") == 0;
    return strcmp(text, "1") == 0 || strcmp(text, "0") == 0;
}

static bool read_text(const char *text, void *out) {
    char *copy = strdup(text);
    *(char **)out = copy;
    return copy != NULL && *copy != '\0';
}

/* The place of text in a NULL-ended list of words, or -1. */
static int word_index(const char *text, const char *const *words) {
    for (int i = 0; words[i] != NULL; i++) {
        if (strcmp(text, words[i]) == 0) {
            return i;
        }
    }
    return -1;
}

static bool read_fail_error(const char *text, void *out) {
    static const char *const words[] = {"any", "host", "device", "lost", NULL};
    int i = word_index(text, words);
    *(enum trial_fail_error *)out = (enum trial_fail_error)(i < 0 ? 0 : i);
    return i >= 0;
}

static bool read_memory(const char *text, void *out) {
    static const char *const words[] = {"asis", "nocached", "split", "noncoherent", NULL};
    int i = word_index(text, words);
    *(enum trial_memory_mode *)out = (enum trial_memory_mode)(i < 0 ? 0 : i);
    return i >= 0;
}

static bool read_limits(const char *text, void *out) {
    *(bool *)out = true;
    return strcmp(text, "small") == 0;
}

static bool read_type(const char *text, void *out) {
    static const char *const words[] = {"igpu", "gpu", "cpu", NULL};
    static const VkPhysicalDeviceType types[] = {VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU,
                                                 VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU, VK_PHYSICAL_DEVICE_TYPE_CPU};
    struct trial_config *config = out;
    int i = word_index(text, words);
    if (i >= 0) {
        config->type = types[i];
        config->type_set = true;
    }
    return i >= 0;
}

/* A comma-separated list of old and one of dot4lie, dotwrong, dotzero. */
static bool read_features(const char *text, void *out) {
    static const char *const known[] = {"old", "dot4lie", "dotwrong", "dotzero", NULL};
    struct trial_config *config = out;
    for (const char *at = text; *at != '\0';) {
        char word[16];
        size_t length = strcspn(at, ",");
        snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1), at);
        int i = word_index(word, known);
        if (i < 0 || (i > 0 && config->dot != TRIAL_DOT_AS_IS)) {
            return false;
        }
        config->features_old |= i == 0;
        config->dot = i > 0 ? (enum trial_dot)i : config->dot;
        at += length + (at[length] == ',');
    }
    return *text != '\0' && !(config->features_old && config->dot != TRIAL_DOT_AS_IS);
}

static const struct knob {
    const char *name;
    bool (*read)(const char *text, void *out);
    void *out;
    const char *want;
} knobs[] = {
    {"TRIAL_FAIL_CALL", read_nth, &trial_config.fail_call, "N or N+, N from 1"},
    {"TRIAL_FAIL_NAME", read_fail_name, &trial_config, "vkCall, vkCall:N or vkCall:N+ of a counted call"},
    {"TRIAL_FAIL_ERROR", read_fail_error, &trial_config.fail_error, "any, host, device or lost"},
    {"TRIAL_LOST_SUBMIT", read_number, &trial_config.lost_submit, "a number from 1"},
    {"TRIAL_LOST_WAIT", read_number, &trial_config.lost_wait, "a number from 1"},
    {"TRIAL_DROP_SUBMIT", read_nth, &trial_config.drop_submit, "N or N+, N from 1"},
    {"TRIAL_HEAP_MB", read_number, &trial_config.heap_mib, "MiB, from 1"},
    {"TRIAL_RANGE_MB", read_number, &trial_config.range_mib, "MiB, from 1"},
    {"TRIAL_MEMORY", read_memory, &trial_config.memory, "asis, nocached, split or noncoherent"},
    {"TRIAL_EVICT", read_switch, &trial_config.evict, "0 or 1"},
    {"TRIAL_POISON", read_switch, &trial_config.poison, "0 or 1"},
    {"TRIAL_SEED", read_number, &trial_config.seed, "a number from 1"},
    {"TRIAL_LIMITS", read_limits, &trial_config.limits_small, "small"},
    {"TRIAL_FEATURES", read_features, &trial_config, "old, or one of dot4lie, dotwrong, dotzero"},
    {"TRIAL_HIDE", read_text, &trial_config.hide, "device extensions, comma-separated"},
    {"TRIAL_TYPE", read_type, &trial_config, "igpu, gpu or cpu"},
    {"TRIAL_NAME", read_text, &trial_config.name, "a device name"},
    {"TRIAL_SUBGROUP", read_number, &trial_config.subgroup, "a number from 1"},
    {"TRIAL_DELAY_MS", read_number, &trial_config.delay_ms, "milliseconds, from 1"},
    {"TRIAL_COUNT_FILE", read_text, &trial_config.count_file, "a path"},
    {"TRIAL_LOG", read_text, &trial_config.log_file, "a path"},
};

static bool load_one(const char *name, size_t length, const char *text) {
    for (size_t i = 0; i < sizeof knobs / sizeof *knobs; i++) {
        if (strlen(knobs[i].name) != length || strncmp(knobs[i].name, name, length) != 0) {
            continue;
        }
        if (!knobs[i].read(text, knobs[i].out)) {
            fprintf(stderr, "trial: %s=%s is not understood: give %s\n", knobs[i].name, text, knobs[i].want);
            return false;
        }
        return true;
    }
    fprintf(stderr, "trial: %.*s is no knob of " TRIAL_LAYER_NAME ": see tests/trial/README.md\n", (int)length, name);
    return false;
}

static bool load_all(void) {
    bool good = true;
    for (char **entry = environ; *entry != NULL; entry++) {
        const char *equals = strchr(*entry, '=');
        if (equals != NULL && strncmp(*entry, "TRIAL_", 6) == 0) {
            good &= load_one(*entry, (size_t)(equals - *entry), equals + 1);
        }
    }
    if (trial_config.evict && trial_config.memory != TRIAL_MEMORY_NONCOHERENT) {
        fprintf(stderr, "trial: TRIAL_EVICT=1 needs TRIAL_MEMORY=noncoherent: only a cache evicts\n");
        good = false;
    }
    trial_config.poison |= trial_config.memory != TRIAL_MEMORY_AS_IS;
    return good;
}

bool trial_config_load(void) {
    static bool done, good;
    trial_table_lock();
    if (!done) {
        good = load_all();
        done = true;
    }
    trial_table_unlock();
    return good;
}
