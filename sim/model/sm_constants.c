// SPDX-License-Identifier: MIT
#include "sm_constants.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct sm_constant sm_constants_table[] = {
#define SM_CONSTANT_ROW(name, value, unit, origin) {#name, unit, origin, value, offsetof(struct sm_constants, name)},
    SM_CONSTANTS(SM_CONSTANT_ROW)
#undef SM_CONSTANT_ROW
};

const size_t sm_constants_count = sizeof sm_constants_table / sizeof sm_constants_table[0];

struct sm_constants sm_constants_default(void) {
    struct sm_constants constants = {
#define SM_CONSTANT_VALUE(name, value, unit, origin) .name = value,
        SM_CONSTANTS(SM_CONSTANT_VALUE)
#undef SM_CONSTANT_VALUE
    };
    return constants;
}

static bool may_be_zero(const struct sm_constant *constant) {
    return strcmp(constant->name, "overlap") == 0 || strcmp(constant->unit, "s") == 0;
}

bool sm_constants_set(struct sm_constants *constants, const char *assignment) {
    const char *equals = strchr(assignment, '=');
    if (equals == NULL)
        return false;
    char *end;
    double value = strtod(equals + 1, &end);
    if (end == equals + 1 || *end != '\0' || !isfinite(value) || value < 0)
        return false;
    for (size_t i = 0; i < sm_constants_count; i++) {
        const struct sm_constant *row = &sm_constants_table[i];
        if (strlen(row->name) != (size_t)(equals - assignment) ||
            strncmp(row->name, assignment, strlen(row->name)) != 0)
            continue;
        if ((value == 0 && !may_be_zero(row)) || (strcmp(row->unit, "0..1") == 0 && value > 1) ||
            (strcmp(row->unit, "lines") == 0 && value > 16))
            return false;
        memcpy((char *)constants + row->offset, &value, sizeof value);
        return true;
    }
    return false;
}
