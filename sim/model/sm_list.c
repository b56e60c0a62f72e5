// SPDX-License-Identifier: MIT
#include "sm_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 1024
#define COLUMNS_MAX 10

// The workgroups that the kernels fix in their source: shaders/columns.comp, shaders/unpack.glsl.
static const struct sm_local columns_local = {16, 4, 1}, unpack_local = {8, 8, 1};

static bool number(const char *text, uint32_t *value) {
    char *end;
    errno = 0;
    unsigned long parsed = strtoul(text, &end, 10);
    *value = (uint32_t)parsed;
    return errno == 0 && end != text && *end == '\0' && *text != '-' && parsed <= UINT16_MAX;
}

static bool positive(const char *text, uint32_t *value) {
    return number(text, value) && *value > 0;
}

static const char *const path_names[RF_PATH_COUNT] = {
    [RF_PATH_INT8] = "int8", [RF_PATH_FP16] = "fp16", [RF_PATH_FP32] = "fp32"};

bool sm_list_path(const char *text, enum rf_path *path) {
    for (int i = 0; i < RF_PATH_COUNT; i++)
        if (strcmp(text, path_names[i]) == 0) {
            *path = (enum rf_path)i;
            return true;
        }
    return false;
}

const char *sm_list_path_name(enum rf_path path) {
    return path_names[path];
}

static bool find_format(const char *text, enum rf_format *format) {
    *format = rf_format_by_name(text);
    return *format != RF_FORMAT_COUNT;
}

// "1,4,2": trips of loops 1, 2, 3.
static bool find_trips(const char *text, double *trips) {
    for (int i = 1; i < SM_LOOPS_MAX; i++) {
        char *end;
        trips[i] = strtod(text, &end);
        if (end == text || trips[i] < 0)
            return false;
        if (*end == '\0')
            return true;
        if (*end != ',')
            return false;
        text = end + 1;
    }
    return false;
}

static bool parse_columns(char **column, size_t count, struct sm_entry *entry, struct sm_local *local) {
    entry->role = SM_ROLE_COLUMNS;
    *local = columns_local;
    return count == 3 && sm_list_path(column[1], &entry->path);
}

static bool parse_unpack(char **column, size_t count, struct sm_entry *entry, struct sm_local *local) {
    entry->role = SM_ROLE_UNPACK;
    *local = unpack_local;
    return count == 5 && sm_list_path(column[1], &entry->path) && find_format(column[2], &entry->format) &&
           positive(column[3], &entry->tile.tm);
}

static bool parse_tile(char **column, size_t count, struct sm_entry *entry, struct sm_local *local) {
    uint32_t has_min;
    entry->role = SM_ROLE_TILE;
    if (count != 8 || !sm_list_path(column[1], &entry->path) || !positive(column[2], &entry->tile.lanes) ||
        !positive(column[3], &entry->tile.tm) || !positive(column[4], &entry->tile.tn) ||
        !number(column[5], &entry->granules) || !number(column[6], &has_min))
        return false;
    entry->has_min = has_min != 0;
    *local = (struct sm_local){entry->tile.lanes, 1, 1};
    return true;
}

static bool parse_point(char **column, size_t count, struct sm_entry *entry, struct sm_local *local) {
    entry->role = SM_ROLE_POINT;
    if (count != 10 || !find_format(column[3], &entry->format) || !positive(column[4], &entry->tile.lanes) ||
        !positive(column[5], &entry->bm) || !positive(column[6], &entry->bn) || !positive(column[7], &entry->k) ||
        !find_trips(column[8], entry->trips))
        return false;
    snprintf(entry->name, sizeof entry->name, "%s", column[1]);
    entry->published_tps = atof(column[2]);
    *local = (struct sm_local){entry->tile.lanes, 1, 1};
    return entry->published_tps > 0;
}

static bool parse_role(char **column, size_t count, struct sm_entry *entry, struct sm_local *local) {
    static const struct {
        const char *name;
        bool (*parse)(char **, size_t, struct sm_entry *, struct sm_local *);
    } roles[] = {{"columns", parse_columns}, {"unpack", parse_unpack}, {"tile", parse_tile}, {"point", parse_point}};
    for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++)
        if (strcmp(column[0], roles[i].name) == 0)
            return roles[i].parse(column, count, entry, local);
    return false;
}

static void join(const char *list, const char *file, char *path, size_t path_bytes) {
    const char *slash = strrchr(list, '/');
    int folder = slash == NULL || file[0] == '/' ? 0 : (int)(slash - list) + 1;
    snprintf(path, path_bytes, "%.*s%s", folder, list, file);
}

static bool add_line(struct sm_list *list, const char *path, char **column, size_t count,
                     const struct sm_constants *constants, char *error, size_t error_bytes) {
    struct sm_entry entry = {.role = SM_ROLE_COLUMNS};
    struct sm_local local;
    if (!parse_role(column, count, &entry, &local)) {
        snprintf(error, error_bytes, "\"%s\" has wrong columns: see sim-model --help", column[0]);
        return false;
    }
    if (sm_list_find(list, &entry) != NULL) {
        snprintf(error, error_bytes, "the same kernel a second time");
        return false;
    }
    char dump[LINE_BYTES];
    join(path, column[count - 1], dump, sizeof dump);
    if (!sm_kernel_read(dump, local, constants, &entry.kernel, error, error_bytes))
        return false;
    if (sm_list_add(list, &entry))
        return true;
    snprintf(error, error_bytes, "out of memory");
    return false;
}

static bool read_lines(FILE *file, const char *path, const struct sm_constants *constants, struct sm_list *list,
                       char *error, size_t error_bytes) {
    char line[LINE_BYTES], why[LINE_BYTES + 200];
    for (int number = 1; fgets(line, sizeof line, file) != NULL; number++) {
        line[strcspn(line, "#\n")] = '\0';
        char *column[COLUMNS_MAX + 1], *rest = NULL;
        size_t count = 0;
        for (char *c = strtok_r(line, " \t", &rest); c != NULL && count <= COLUMNS_MAX;
             c = strtok_r(NULL, " \t", &rest))
            column[count++] = c;
        if (count > 0 && !add_line(list, path, column, count, constants, why, sizeof why)) {
            snprintf(error, error_bytes, "%s:%d: %s", path, number, why);
            return false;
        }
    }
    return true;
}

bool sm_list_read(const char *path, const struct sm_constants *constants, struct sm_list *list, char *error,
                  size_t error_bytes) {
    *list = (struct sm_list){0};
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        snprintf(error, error_bytes, "%s: %s", path, strerror(errno));
        return false;
    }
    bool good = read_lines(file, path, constants, list, error, error_bytes);
    fclose(file);
    if (!good)
        sm_list_free(list);
    return good;
}

static bool same_kernel(const struct sm_entry *a, const struct sm_entry *b) {
    if (a->role != b->role || a->path != b->path)
        return false;
    switch (a->role) {
    case SM_ROLE_UNPACK:
        return a->format == b->format && a->tile.tm == b->tile.tm;
    case SM_ROLE_TILE:
        return a->tile.lanes == b->tile.lanes && a->tile.tm == b->tile.tm && a->tile.tn == b->tile.tn &&
               a->granules == b->granules && a->has_min == b->has_min;
    case SM_ROLE_COLUMNS:
        return true;
    default:
        return false;
    }
}

const struct sm_entry *sm_list_find(const struct sm_list *list, const struct sm_entry *wanted) {
    for (size_t i = 0; i < list->count; i++)
        if (same_kernel(&list->entries[i], wanted))
            return &list->entries[i];
    return NULL;
}

bool sm_list_add(struct sm_list *list, const struct sm_entry *entry) {
    if (sm_list_find(list, entry) != NULL)
        return true;
    struct sm_entry *grown = realloc(list->entries, (list->count + 1) * sizeof *grown);
    if (grown == NULL)
        return false;
    list->entries = grown;
    list->entries[list->count++] = *entry;
    return true;
}

void sm_list_describe(const struct sm_entry *entry, char *text, size_t text_bytes) {
    const char *path = path_names[entry->path];
    if (entry->role == SM_ROLE_COLUMNS)
        snprintf(text, text_bytes, "columns %s", path);
    else if (entry->role == SM_ROLE_UNPACK)
        snprintf(text, text_bytes, "unpack %s %s %u", path, rf_format_info(entry->format)->name, entry->tile.tm);
    else
        snprintf(text, text_bytes, "tile %s %u %u %u %u %d", path, entry->tile.lanes, entry->tile.tm, entry->tile.tn,
                 entry->granules, entry->has_min);
}

void sm_list_free(struct sm_list *list) {
    free(list->entries);
    *list = (struct sm_list){0};
}
