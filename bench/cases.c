// SPDX-License-Identifier: MIT
#include "cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A family: one case a weight type, k and n. Lists end in 0; an empty list means the base case's own value.
struct family {
    const char *types; // names, one blank between them
    int64_t n[12], k[8];
    struct rf_case base;
};

#define ALL_TYPES "f32 f16 bf16 q4_0 q4_1 q5_0 q5_1 q8_0 q2_K q3_K q4_K q5_K q6_K iq4_nl iq4_xs mxfp4"
#define FLOAT_TYPES "f32 f16 bf16"
#define FEW_TYPES "f16 q4_0 q4_K"

// In the order in which they run: quick ones first. "fault-NN": a fault seen in the field, by its number in the
// project's list of them; the shapes are that list's.
static const struct family families[] = {
    {"f32 f16", {0}, {0}, {.name = "fault-34-one-dispatch", .m = 64, .n = 8, .k = 64}},
    {"f32 f16", {0}, {0}, {.name = "fault-34-one-dispatch", .m = 64, .n = 64, .k = 8}},
    {ALL_TYPES, {1, 15, 16, 17, 33, 130}, {256}, {.name = "types", .m = 37}},
    {ALL_TYPES, {70}, {768}, {.name = "types", .m = 130}},
    {"q4_0 q4_1 q5_0 q5_1 q8_0 iq4_nl mxfp4", {19}, {32, 96, 576}, {.name = "odd-blocks", .m = 21}},
    {FLOAT_TYPES, {35}, {1, 2, 31, 33, 65}, {.name = "odd-k", .m = 19}},
    {FLOAT_TYPES, {1, 2, 3, 4, 5, 6, 7, 8, 9}, {256, 257}, {.name = "fault-04-few-columns", .m = 67}},
    {"f16", {0}, {0}, {.name = "fault-03-wide-tile", .m = 64, .n = 45, .k = 128, .matrices = 8, .repeat = 4}},
    {"f16", {0}, {0}, {.name = "fault-03-wide-tile", .m = 128, .n = 45, .k = 64, .matrices = 8, .repeat = 4}},
    {FEW_TYPES, {0}, {0}, {.name = "fault-01-small-tile", .m = 16, .n = 64, .k = 256, .runs = 100}},
    {"f16 q4_0 q8_0", {0}, {0}, {.name = "fault-01-small-tile", .m = 16, .n = 150, .k = 1024, .runs = 100}},
    {"f16 q4_0 q8_0",
     {0},
     {0},
     {.name = "fault-06-fp16-accumulator",
      .m = 512,
      .n = 33,
      .k = 6144,
      .weights_fill = RF_FILL_CONSTANT,
      .weights_value = -0.5,
      .columns_fill = RF_FILL_CONSTANT,
      .columns_value = 22.3652}}, // 6144 * -0.5 * 22.3652 = -68706
    {"f16 bf16 q4_0 q8_0 q4_1",
     {33},
     {32},
     {.name = "fault-07-all-2100", .m = 45, .columns_fill = RF_FILL_CONSTANT, .columns_value = 2100}},
    {"q4_1 q5_1 q4_K",
     {33},
     {256},
     {.name = "fault-07-all-3000", .m = 45, .columns_fill = RF_FILL_CONSTANT, .columns_value = 3000}},
    {"q4_1 f16",
     {33},
     {256},
     {.name = "fault-07-all-3000-positive",
      .m = 45,
      .weights_fill = RF_FILL_NEAR,
      .weights_value = 1,
      .columns_fill = RF_FILL_CONSTANT,
      .columns_value = 3000}},
    {ALL_TYPES,
     {33},
     {512},
     {.name = "fault-07-one-1e5", .m = 45, .columns_fill = RF_FILL_SPIKE, .columns_value = 1e5}},
    // Odd in every dimension that a type allows: a read past an end is a read past a binding.
    {ALL_TYPES, {5, 67}, {256}, {.name = "fault-08-odd", .m = 33}},
    {FLOAT_TYPES, {5, 67}, {77}, {.name = "fault-08-odd", .m = 33}},
    {FEW_TYPES, {0}, {0}, {.name = "fault-08-odd-routed", .m = 33, .n = 7, .k = 256, .experts = 5, .used = 3}},
    {FEW_TYPES,
     {33},
     {256},
     {.name = "fault-09-permuted",
      .m = 45,
      .matrices = 3,
      .outer = 2,
      .columns_order = RF_ORDER_0213,
      .may_refuse = true}},
    {FEW_TYPES,
     {33},
     {256},
     {.name = "fault-09-permuted",
      .m = 45,
      .matrices = 3,
      .outer = 2,
      .columns_order = RF_ORDER_0132,
      .may_refuse = true}},
    {FEW_TYPES,
     {33},
     {256},
     {.name = "fault-09-transposed", .m = 45, .matrices = 3, .columns_order = RF_ORDER_1023, .may_refuse = true}},
    {"f16 q4_0",
     {33},
     {256},
     {.name = "permuted-weights",
      .m = 45,
      .matrices = 3,
      .outer = 2,
      .weights_order = RF_ORDER_0213,
      .may_refuse = true}},
    {FLOAT_TYPES,
     {33},
     {96},
     {.name = "transposed-weights", .m = 45, .matrices = 3, .weights_order = RF_ORDER_1023, .may_refuse = true}},
    {"f32 f16 q4_0 q6_K", {33}, {256}, {.name = "broadcast", .m = 45, .matrices = 2, .repeat = 3}},
    {"f32 f16 q4_0 q6_K",
     {17},
     {256},
     {.name = "broadcast-outer", .m = 45, .matrices = 2, .outer = 2, .repeat = 2, .outer_repeat = 3}},
    {"f16 q8_0", {40}, {256}, {.name = "batches", .m = 32, .matrices = 9, .outer = 2}},
    {"f32 f16 bf16 q4_0 q4_K mxfp4",
     {33},
     {256},
     {.name = "view-weights", .m = 45, .matrices = 2, .repeat = 2, .row_padding = 256}},
    {"f32 f16 q4_0 q4_K", {33}, {256}, {.name = "view-columns", .m = 45, .matrices = 2, .column_padding = 7}},
    {"f32 f16 bf16 q4_0 q4_K", {33}, {256}, {.name = "columns-f16", .m = 45, .activations_f16 = true, .repeat = 2}},
    {"f32 f16 q4_0 q4_K", {33}, {256}, {.name = "foreign-columns", .m = 45, .foreign = true, .repeat = 2}},
    {"f16 bf16", {33}, {512}, {.name = "strict", .m = 45, .strict = true}},
    {"q4_0 q4_K f16", {33}, {512}, {.name = "wide", .m = 45, .wide = true, .columns_value = 1e7}},
    {"q4_0 f16",
     {33},
     {512},
     {.name = "wide-routed", .m = 45, .experts = 4, .used = 2, .wide = true, .columns_value = 1e7}},
    {ALL_TYPES, {33}, {256}, {.name = "tiny-weights", .m = 37, .weights_value = 2e-4}}, // subnormal f16 scales
    {FEW_TYPES " f32 q6_K", {33}, {256}, {.name = "columns-1e-30", .m = 37, .columns_value = 1e-30}},
    {FEW_TYPES " f32 q6_K", {33}, {256}, {.name = "columns-1e-20", .m = 37, .columns_value = 1e-20}},
    {FEW_TYPES " f32 q6_K", {33}, {256}, {.name = "columns-1e-10", .m = 37, .columns_value = 1e-10}},
    {FEW_TYPES " f32 q6_K", {33}, {256}, {.name = "columns-1e-5", .m = 37, .columns_value = 1e-5}},
    {FEW_TYPES " f32 q6_K", {33}, {256}, {.name = "columns-1e3", .m = 37, .columns_value = 1e3}},
    {FEW_TYPES " f32 q6_K", {33}, {256}, {.name = "columns-1e5", .m = 37, .columns_value = 1e5}},
    {"f16 bf16 f32", {33}, {256}, {.name = "columns-zero", .m = 37, .columns_fill = RF_FILL_CONSTANT}},
    {"mxfp4",
     {33},
     {256},
     {.name = "extreme-exponents", .m = 40, .weights_fill = RF_FILL_EXPONENTS, .columns_value = 1e-3}},
    {ALL_TYPES, {1, 33}, {256}, {.name = "routed", .m = 45, .experts = 4, .used = 2}},
    {"f32 f16 q4_0 q6_K",
     {33},
     {256},
     {.name = "routed-shared", .m = 45, .experts = 8, .used = 3, .shared_slots = true}},
    {"f32 q4_0",
     {33},
     {256},
     {.name = "routed-foreign", .m = 45, .experts = 8, .used = 3, .shared_slots = true, .foreign = true}},
    {"f16 q4_0", {33}, {256}, {.name = "routed-view", .m = 45, .experts = 4, .used = 4, .row_padding = 256}},
    {"f16 q4_0",
     {33},
     {256},
     {.name = "routed-f16", .m = 45, .experts = 4, .used = 2, .activations_f16 = true, .may_refuse = true}},
    // More than the scratch arena holds at once (64 MiB of fp32 panels or columns): cut along each dimension.
    {"f16 q4_0", {0}, {0}, {.name = "split-rows", .m = 4200, .n = 3, .k = 4096}},
    {"f16 q4_0", {0}, {0}, {.name = "split-columns", .m = 5, .n = 4200, .k = 4096}},
    {"f16 q4_0", {0}, {0}, {.name = "split-matrices", .m = 33, .n = 300, .k = 512, .matrices = 20, .repeat = 6}},
    {"f16 q4_0",
     {0},
     {0},
     {.name = "split-routed", .m = 5, .n = 2500, .k = 4096, .experts = 4, .used = 2, .shared_slots = true}},
    {"q4_0", {1, 32, 129}, {256}, {.name = "fault-28-many-experts", .m = 512, .experts = 128, .used = 8}},
    {"q4_0",
     {1, 32, 129},
     {256},
     {.name = "fault-28-many-experts", .m = 512, .experts = 256, .used = 8, .shared_slots = true}},
    {"f16 q4_0", {0}, {0}, {.name = "fault-16-batch-2048", .m = 4096, .n = 2048, .k = 128}},
    {"q4_K", {0}, {0}, {.name = "fault-16-batch-2048", .m = 4096, .n = 2048, .k = 256}},
    {"f16 q4_0",
     {0},
     {0},
     {.name = "fault-01-small-tile-routed", .m = 32, .n = 8192, .k = 64, .experts = 2, .used = 2, .runs = 100}},
    {"f16 q4_0", {0}, {0}, {.name = "fault-17-replay", .m = 384, .n = 1500, .k = 384, .runs = 100}},

    {"q4_K q6_K q8_0 q4_0 f16", {0}, {0}, {.name = "square", .m = 4096, .n = 512, .k = 4096, .uses = RF_CASE_BENCH}},
    // Qwen2.5-3B: attention query and output, key and value, feed-forward up and gate, down.
    {"q4_K q6_K q8_0 q4_0 f16",
     {0},
     {0},
     {.name = "qwen3b-query", .m = 2048, .n = 512, .k = 2048, .uses = RF_CASE_BENCH}},
    {"q4_K q6_K q8_0 q4_0 f16", {0}, {0}, {.name = "qwen3b-key", .m = 256, .n = 512, .k = 2048, .uses = RF_CASE_BENCH}},
    {"q4_K q6_K q8_0 q4_0 f16",
     {0},
     {0},
     {.name = "qwen3b-up", .m = 11008, .n = 512, .k = 2048, .uses = RF_CASE_BENCH}},
    {"q4_K q6_K q8_0 q4_0 f16",
     {0},
     {0},
     {.name = "qwen3b-down", .m = 2048, .n = 512, .k = 11008, .uses = RF_CASE_BENCH}},
};

static void defaults_apply(struct rf_case *item) {
    int64_t *ones[] = {&item->matrices, &item->outer, &item->repeat, &item->outer_repeat};
    for (size_t i = 0; i < sizeof ones / sizeof ones[0]; i++) {
        if (*ones[i] == 0) {
            *ones[i] = 1;
        }
    }
    if (item->runs == 0) {
        item->runs = 2;
    }
    if (item->uses == 0) {
        item->uses = RF_CASE_TEST;
    }
    if (item->weights_fill == RF_FILL_UNIFORM && item->weights_value == 0) {
        item->weights_value = 1;
    }
    if (item->columns_fill == RF_FILL_UNIFORM && item->columns_value == 0) {
        item->columns_value = 1;
    }
}

static const char *order_suffix(enum rf_case_order order) {
    static const char *const suffixes[] = {"", "-0213", "-0132", "-1023"};
    return suffixes[order];
}

// The family's name, then all that tells its cases apart.
static void name_complete(struct rf_case *item, const char *family) {
    char experts[32] = "";
    if (item->experts > 0) {
        snprintf(experts, sizeof experts, "-e%dof%d", (int)item->used, (int)item->experts);
    }
    int length = snprintf(item->name, sizeof item->name, "%s-%s-m%d-n%d-k%d%s%s%s", family, item->type, (int)item->m,
                          (int)item->n, (int)item->k, experts, order_suffix(item->weights_order),
                          order_suffix(item->columns_order));
    if (length < 0 || (size_t)length >= sizeof item->name) {
        abort(); // the table above has a longer name than rf_case holds
    }
}

static bool type_visit(const struct family *family, const char *type, size_t type_length, rf_case_visit visit,
                       void *user) {
    for (int i = 0; i == 0 || family->k[i] != 0; i++) {
        for (int j = 0; j == 0 || family->n[j] != 0; j++) {
            struct rf_case item = family->base;
            snprintf(item.type, sizeof item.type, "%.*s", (int)type_length, type);
            item.k = family->k[i] != 0 ? family->k[i] : item.k;
            item.n = family->n[j] != 0 ? family->n[j] : item.n;
            defaults_apply(&item);
            name_complete(&item, family->base.name);
            if (!visit(&item, user)) {
                return false;
            }
        }
    }
    return true;
}

bool rf_cases_visit(unsigned uses, rf_case_visit visit, void *user) {
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        const struct family *family = &families[i];
        unsigned of_family = family->base.uses != 0 ? family->base.uses : RF_CASE_TEST;
        for (const char *at = family->types; (of_family & uses) != 0 && *at != '\0';) {
            size_t length = strcspn(at, " ");
            if (!type_visit(family, at, length, visit, user)) {
                return false;
            }
            at += length + strspn(at + length, " ");
        }
    }
    return true;
}
