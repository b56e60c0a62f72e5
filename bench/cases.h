// SPDX-License-Identifier: MIT
// Matrix products that are tested, measured and verified: one list for all three, as plain data. No ggml, no Vulkan.
//
// A product is C[N][M] = B[N][K] * A[M][K] with weights A (m rows) and activations B (n columns), both with k
// contiguous unless an order says otherwise.
#ifndef RF_CASES_H
#define RF_CASES_H

#include <stdbool.h>
#include <stdint.h>

enum rf_case_use { RF_CASE_TEST = 1, RF_CASE_BENCH = 2 };

// Dimensions of the storage, in the product's own numbering: 0 k, 1 rows or columns, 2 and 3 matrices.
enum rf_case_order { RF_ORDER_0123, RF_ORDER_0213, RF_ORDER_0132, RF_ORDER_1023 };

enum rf_case_fill {
    RF_FILL_UNIFORM,   // in [-value, value]
    RF_FILL_CONSTANT,  // value
    RF_FILL_SPIKE,     // ones, and `value` once a column
    RF_FILL_NEAR,      // within 1 % of value
    RF_FILL_EXPONENTS, // MXFP4 weights only: random codes under each row's own, often extreme, exponent
};

struct rf_case {
    char name[96];
    char type[16]; // of the weights, ggml's name
    int64_t m, n, k;
    int64_t matrices, outer;          // of the weights, dimensions 2 and 3
    int64_t repeat, outer_repeat;     // activation matrices that share one of the weights
    int64_t experts, used;            // MUL_MAT_ID when experts > 0; n then counts tokens
    bool shared_slots;                // MUL_MAT_ID: one column a token instead of one a slot
    bool activations_f16;             // else F32
    bool foreign;                     // activations and ids in plain CPU memory
    bool wide;                        // ggml's GGML_PREC_F32 of activations: they may exceed fp16's range
    bool strict;                      // ggml's GGML_PREC_F32: fp32 arithmetic
    int64_t row_padding;              // elements from a weight row's end to the next row; whole blocks
    int64_t column_padding;           // the same for activations, any number
    enum rf_case_order weights_order; // in memory
    enum rf_case_order columns_order; // of the activations in memory
    enum rf_case_fill weights_fill;   // before rounding to the type
    enum rf_case_fill columns_fill;   // of the activations
    double weights_value, columns_value;
    int runs;        // computed this often, each time with the same bits; a caller may cap it
    bool may_refuse; // supports_op may be false: the CPU then takes it
    unsigned uses;   // enum rf_case_use
};

// Called for each case, quick ones first; false ends the visit.
typedef bool (*rf_case_visit)(const struct rf_case *item, void *user);

// False when a visit returned false.
bool rf_cases_visit(unsigned uses, rf_case_visit visit, void *user);

#endif
