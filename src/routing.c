// SPDX-License-Identifier: MIT
#include "routing.h"

#include <stdlib.h>
#include <string.h>

#define COLUMN_GROUP 16

static int32_t expert_of(const struct rf_routing *routing, int64_t token, int64_t slot) {
    int32_t id;
    memcpy(&id, (const char *)routing->ids + (uint64_t)slot * routing->nb[0] + (uint64_t)token * routing->nb[1],
           sizeof id);
    return id;
}

static bool count_columns(const struct rf_routing *routing, struct rf_routes *routes) {
    for (int64_t token = 0; token < routing->tokens; token++)
        for (int64_t slot = 0; slot < routing->slots; slot++) {
            int32_t expert = expert_of(routing, token, slot);
            if (expert < 0 || expert >= routes->experts)
                return false;
            routes->count[expert]++;
        }
    for (int64_t e = 0; e < routes->experts; e++)
        routes->begin[e + 1] = routes->begin[e] + (routes->count[e] + COLUMN_GROUP - 1) / COLUMN_GROUP * COLUMN_GROUP;
    return true;
}

static void place_columns(const struct rf_routing *routing, uint64_t column_elems, uint64_t token_elems,
                          struct rf_routes *routes) {
    memset(routes->columns, 0xFF, (size_t)routes->begin[routes->experts] * sizeof *routes->columns);
    memset(routes->count, 0, (size_t)routes->experts * sizeof *routes->count);
    for (int64_t token = 0; token < routing->tokens; token++)
        for (int64_t slot = 0; slot < routing->slots; slot++) {
            int32_t expert = expert_of(routing, token, slot);
            struct rf_routed_column *column = &routes->columns[routes->begin[expert] + routes->count[expert]++];
            column->source = (uint32_t)((uint64_t)token * token_elems + (uint64_t)slot * column_elems);
            column->result = (uint32_t)(token * routing->slots + slot);
        }
}

bool rf_routes_build(const struct rf_routing *routing, int64_t experts, uint64_t column_elems, uint64_t token_elems,
                     struct rf_routes *routes) {
    *routes = (struct rf_routes){.experts = experts,
                                 .begin = calloc((size_t)experts + 1, sizeof *routes->begin),
                                 .count = calloc((size_t)experts, sizeof *routes->count)};
    if (routes->begin != NULL && routes->count != NULL && count_columns(routing, routes))
        routes->columns = malloc((size_t)(routes->begin[experts] + 1) * sizeof *routes->columns);
    if (routes->columns != NULL)
        routes->order = malloc((size_t)(routes->begin[experts] + 1) * sizeof *routes->order);
    if (routes->order == NULL) {
        rf_routes_free(routes);
        return false;
    }
    place_columns(routing, column_elems, token_elems, routes);
    return true;
}

void rf_routes_free(struct rf_routes *routes) {
    free(routes->columns);
    free(routes->order);
    free(routes->begin);
    free(routes->count);
    *routes = (struct rf_routes){0};
}
