// SPDX-License-Identifier: MIT
#include "finding.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    enum mx_finding_kind kind;
    uint64_t kernel;
    uint32_t instruction;
    uint64_t count;
    uint64_t job;
    uint32_t linear, local_index; // with `job`: the order of occurrences
    uint32_t group[3];
    bool has_address;
    uint64_t address;
    const char *text;
    char assembly[128];
};

struct mx_findings {
    pthread_mutex_t lock;
    struct entry *entries; // findings are few: searched from the front
    size_t count, capacity;
    uint64_t lost;
};

static const struct {
    const char *name;
    bool error;
} kinds[MX_FINDING_KINDS] = {
    [MX_FINDING_REGISTER] = {"uninitialised-register", true},
    [MX_FINDING_MEMORY] = {"uninitialised-memory", true},
    [MX_FINDING_BOUNDS] = {"out-of-bounds", true},
    [MX_FINDING_RACE_SHARED] = {"race-shared", true},
    [MX_FINDING_RACE_GLOBAL] = {"race-global", true},
    [MX_FINDING_RACE_SAME] = {"race-same-value", false},
    [MX_FINDING_NAN] = {"nan", false},
};

const char *mx_finding_name(enum mx_finding_kind kind) {
    return kinds[kind].name;
}

bool mx_finding_is_error(enum mx_finding_kind kind) {
    return kinds[kind].error;
}

struct mx_findings *mx_findings_new(void) {
    struct mx_findings *findings = calloc(1, sizeof *findings);
    if (findings != NULL)
        pthread_mutex_init(&findings->lock, NULL);
    return findings;
}

void mx_findings_free(struct mx_findings *findings) {
    if (findings == NULL)
        return;
    pthread_mutex_destroy(&findings->lock);
    free(findings->entries);
    free(findings);
}

static struct entry *entry_of(struct mx_findings *findings, const struct mx_finding *finding, uint64_t kernel) {
    for (size_t i = 0; i < findings->count; i++) {
        struct entry *entry = &findings->entries[i];
        if (entry->kernel == kernel && entry->instruction == finding->insn->index && entry->kind == finding->kind)
            return entry;
    }
    if (findings->count == findings->capacity) {
        size_t capacity = findings->capacity > 0 ? 2 * findings->capacity : 64;
        struct entry *grown = realloc(findings->entries, capacity * sizeof *grown);
        if (grown == NULL)
            return NULL;
        findings->entries = grown;
        findings->capacity = capacity;
    }
    struct entry *entry = &findings->entries[findings->count++];
    *entry = (struct entry){.kind = finding->kind, .kernel = kernel, .instruction = finding->insn->index};
    mx_insn_print(finding->insn, entry->assembly, sizeof entry->assembly);
    return entry;
}

static bool is_earlier(const struct mx_finding *finding, uint32_t local_index, const struct entry *entry) {
    const struct mx_workgroup *group = finding->group;
    if (entry->count == 0)
        return true;
    if (group->job->number != entry->job)
        return group->job->number < entry->job;
    if (group->linear != entry->linear)
        return group->linear < entry->linear;
    return local_index < entry->local_index;
}

void mx_findings_add(struct mx_findings *findings, const struct mx_finding *finding) {
    const struct mx_workgroup *group = finding->group;
    uint32_t lane = (uint32_t)__builtin_ctz(finding->lanes);
    uint32_t local_index = MX_LANES * finding->warp->index + lane;
    pthread_mutex_lock(&findings->lock);
    struct entry *entry = entry_of(findings, finding, mx_program_hash(group->program));
    if (entry == NULL) {
        findings->lost++;
    } else {
        if (is_earlier(finding, local_index, entry)) {
            entry->job = group->job->number;
            entry->linear = group->linear;
            entry->local_index = local_index;
            memcpy(entry->group, group->id, sizeof entry->group);
            entry->has_address = finding->address != NULL;
            entry->address = entry->has_address ? finding->address[lane] : 0;
            entry->text = finding->text;
        }
        entry->count += (uint32_t)__builtin_popcount(finding->lanes);
    }
    pthread_mutex_unlock(&findings->lock);
}

uint64_t mx_findings_errors(struct mx_findings *findings) {
    uint64_t errors = 0;
    for (size_t i = 0; i < findings->count; i++)
        errors += kinds[findings->entries[i].kind].error;
    return errors;
}

uint64_t mx_findings_lost(struct mx_findings *findings) {
    return findings->lost;
}

static int entry_order(const void *left, const void *right) {
    const struct entry *a = left, *b = right;
    if (a->kernel != b->kernel)
        return a->kernel < b->kernel ? -1 : 1;
    if (a->instruction != b->instruction)
        return a->instruction < b->instruction ? -1 : 1;
    return (int)a->kind - (int)b->kind;
}

static json_t *json_hex(uint64_t value) {
    char text[24];
    snprintf(text, sizeof text, "0x%" PRIx64, value);
    return json_string(text);
}

static json_t *entry_json(const struct entry *entry) {
    char kernel[24];
    snprintf(kernel, sizeof kernel, "%016" PRIx64, entry->kernel);
    return json_pack("{s:s, s:b, s:s, s:i, s:s, s:s, s:I, s:I, s:[i,i,i], s:i, s:o}", "kind", kinds[entry->kind].name,
                     "error", kinds[entry->kind].error, "kernel", kernel, "instruction", (int)entry->instruction,
                     "assembly", entry->assembly, "text", entry->text, "count", (json_int_t)entry->count, "job",
                     (json_int_t)entry->job, "workgroup", (int)entry->group[0], (int)entry->group[1],
                     (int)entry->group[2], "thread", (int)entry->local_index, "address",
                     entry->has_address ? json_hex(entry->address) : json_null());
}

json_t *mx_findings_json(struct mx_findings *findings) {
    json_t *array = json_array();
    if (findings->count > 0)
        qsort(findings->entries, findings->count, sizeof *findings->entries, entry_order);
    for (size_t i = 0; array != NULL && i < findings->count; i++) {
        if (json_array_append_new(array, entry_json(&findings->entries[i])) == 0)
            continue;
        json_decref(array);
        array = NULL;
    }
    return array;
}
