// SPDX-License-Identifier: MIT
// Which unit executes an operation on Valhall v10. Pure.
#pragma once

#include <stdbool.h>

enum sm_unit {
    SM_UNIT_FMA,
    SM_UNIT_CVT,
    SM_UNIT_SFU,
    SM_UNIT_LS,   // load/store
    SM_UNIT_NONE, // no execution unit: BARRIER
};

// The unit of an operation by its name (up to the first dot) and modifiers (the rest). *known is false when the table
// does not have it; the answer is then CVT, which is what most of the instruction set is.
enum sm_unit sm_units_find(const char *name, const char *modifiers, bool *known);
