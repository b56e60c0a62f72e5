// SPDX-License-Identifier: MIT
// What was found: one entry a kind, kernel and instruction, with the details of its first occurrence. "First" is the
// lowest job, workgroup and thread, so that it does not depend on the host's threads. Any thread may add.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "../observer.h"

enum mx_finding_kind {
    MX_FINDING_REGISTER,    // a value decided something, and came from a register that nobody wrote
    MX_FINDING_MEMORY,      // ... from memory that nobody wrote
    MX_FINDING_BOUNDS,      // an access outside the buffer, the stack or workgroup memory
    MX_FINDING_RACE_SHARED, // conflicting accesses to workgroup memory with no barrier between
    MX_FINDING_RACE_GLOBAL, // ... to a buffer
    MX_FINDING_RACE_SAME,   // conflicting, but the value did not change: not an error
    MX_FINDING_NAN,         // a NaN out of operands that are none: not an error
    MX_FINDING_KINDS,
};

const char *mx_finding_name(enum mx_finding_kind kind);
bool mx_finding_is_error(enum mx_finding_kind kind);

// Where and what. The pointers are read during the call only, but for `text`.
struct mx_finding {
    enum mx_finding_kind kind;
    const struct mx_workgroup *group;
    const struct mx_warp *warp;
    const struct mx_insn *insn;
    uint32_t lanes;          // bits, at least one: each counts as an occurrence
    const uint64_t *address; // of each lane; NULL: there is none
    const char *text;        // what it was, for the reader: a literal
};

struct mx_findings;

struct mx_findings *mx_findings_new(void);
void mx_findings_free(struct mx_findings *findings);
void mx_findings_add(struct mx_findings *findings, const struct mx_finding *finding);

uint64_t mx_findings_errors(struct mx_findings *findings); // distinct ones
uint64_t mx_findings_lost(struct mx_findings *findings);   // occurrences for which there was no memory
json_t *mx_findings_json(struct mx_findings *findings);    // a new array; NULL: no memory
