// SPDX-License-Identifier: MIT
// Mixture of experts: which column goes to which expert. Pure.
#pragma once

#include "product.h"

// One column in the order of the experts: where it comes from and which result column it becomes.
struct rf_routed_column {
    uint32_t source; // first element in the activations, or ~0: padding
    uint32_t result; // token * slots + slot, or ~0
};

// Columns sorted by expert; each expert begins at a multiple of 16, the gaps are padding.
struct rf_routes {
    struct rf_routed_column *columns; // owned
    struct rf_routed_column *order;   // owned; room for as many, for a caller that renumbers results
    int64_t *begin;                   // owned; experts + 1 entries
    int64_t *count;                   // owned; columns of an expert without padding
    int64_t experts;
};

// Sorts the slots. `column_elems` and `token_elems`: elements from a slot's activations to the next slot's (0 when all
// slots of a token share them) and from token to token. False when an id is not an expert or memory is short; nothing
// is then left to free.
bool rf_routes_build(const struct rf_routing *routing, int64_t experts, uint64_t column_elems, uint64_t token_elems,
                     struct rf_routes *routes);
void rf_routes_free(struct rf_routes *routes);
