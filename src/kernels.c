// SPDX-License-Identifier: MIT
#include "kernels.h"

#include "columns.spv.h"
#include "selftest.spv.h"
#include "tile_fp16.spv.h"
#include "tile_fp32.spv.h"
#include "tile_int8.spv.h"
#include "unpack_float.spv.h"
#include "unpack_iq4_nl.spv.h"
#include "unpack_iq4_xs.spv.h"
#include "unpack_mxfp4.spv.h"
#include "unpack_q2_K.spv.h"
#include "unpack_q3_K.spv.h"
#include "unpack_q4_0.spv.h"
#include "unpack_q4_1.spv.h"
#include "unpack_q4_K.spv.h"
#include "unpack_q5_0.spv.h"
#include "unpack_q5_1.spv.h"
#include "unpack_q5_K.spv.h"
#include "unpack_q6_K.spv.h"
#include "unpack_q8_0.spv.h"

#define CODE(symbol)                                                                                                   \
    { #symbol, symbol##_spv, sizeof symbol##_spv }

static const struct rf_kernel_code codes[RF_KERNEL_COUNT] = {
    [RF_KERNEL_TILE_INT8] = CODE(tile_int8),
    [RF_KERNEL_TILE_FP16] = CODE(tile_fp16),
    [RF_KERNEL_TILE_FP32] = CODE(tile_fp32),
    [RF_KERNEL_COLUMNS] = CODE(columns),
    [RF_KERNEL_UNPACK_FLOAT] = CODE(unpack_float),
    [RF_KERNEL_SELFTEST] = CODE(selftest),
    [RF_KERNEL_UNPACK + RF_FORMAT_Q4_0] = CODE(unpack_q4_0),
    [RF_KERNEL_UNPACK + RF_FORMAT_Q4_1] = CODE(unpack_q4_1),
    [RF_KERNEL_UNPACK + RF_FORMAT_Q5_0] = CODE(unpack_q5_0),
    [RF_KERNEL_UNPACK + RF_FORMAT_Q5_1] = CODE(unpack_q5_1),
    [RF_KERNEL_UNPACK + RF_FORMAT_Q8_0] = CODE(unpack_q8_0),
    [RF_KERNEL_UNPACK + RF_FORMAT_Q2_K] = CODE(unpack_q2_K),
    [RF_KERNEL_UNPACK + RF_FORMAT_Q3_K] = CODE(unpack_q3_K),
    [RF_KERNEL_UNPACK + RF_FORMAT_Q4_K] = CODE(unpack_q4_K),
    [RF_KERNEL_UNPACK + RF_FORMAT_Q5_K] = CODE(unpack_q5_K),
    [RF_KERNEL_UNPACK + RF_FORMAT_Q6_K] = CODE(unpack_q6_K),
    [RF_KERNEL_UNPACK + RF_FORMAT_IQ4_NL] = CODE(unpack_iq4_nl),
    [RF_KERNEL_UNPACK + RF_FORMAT_IQ4_XS] = CODE(unpack_iq4_xs),
    [RF_KERNEL_UNPACK + RF_FORMAT_MXFP4] = CODE(unpack_mxfp4),
};

const struct rf_kernel_code *rf_kernel_code(enum rf_kernel kernel) {
    return &codes[kernel];
}
