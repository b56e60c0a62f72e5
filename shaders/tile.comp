#version 450
// SPDX-License-Identifier: MIT
// The product: TM rows of the panel times TN columns a lane, in registers. RF_PATH selects the arithmetic (RF_INT8,
// RF_FP16 or RF_FP32 of layout.glsl).
//
// All lanes of a workgroup share the rows, so panel loads are uniform; lanes lie along the columns, so column loads are
// contiguous. No workgroup memory, no barrier, no array indexed at run time. int8 and fp16 sum 32 (or 16) products in
// int32 or fp16 and everything across blocks in fp32.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "layout.glsl"
#if RF_PATH == 0
#include "dot4.glsl"
#elif RF_PATH == 1
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#endif

layout(local_size_x_id = 0) in; // LANES: a multiple of 16
layout(constant_id = 0) const uint LANES = 32;
layout(constant_id = 1) const uint TM = 4;
layout(constant_id = 2) const uint TN = 4;
layout(constant_id = 3) const uint GRANULES = 1; // scales per 32 weights
layout(constant_id = 4) const bool HAS_MIN = false;
layout(constant_id = 5) const bool INDEXED = false;

layout(binding = 0) readonly buffer Panel { uvec4 panel[]; };
layout(binding = 1) readonly buffer PanelScales { float panel_scales[]; };
layout(binding = 2) readonly buffer Columns { uvec4 columns[]; };
layout(binding = 3) readonly buffer ColumnScales { float column_scales[]; };
layout(binding = 4) writeonly buffer Result { float result[]; };
layout(binding = 5) readonly buffer Table { uvec2 table[]; }; // y: index of the result column, or ~0

layout(push_constant) uniform Push {
    uint rows;           // rows of the panel
    uint first_group;    // row groups before it are left alone
    uint first_column;   // multiple of 16; columns before it are left alone
    uint end_column;     // columns from here on are left alone
    uint blocks;         // blocks of 32 along k
    uint ratio;          // column matrices that share a panel
    uint panel_batch;    // uvec4 from a panel to the next one
    uint panel_scale_batch;
    uint min_offset;     // floats from a scale to its minimum
    uint columns_batch;  // uvec4 from a column matrix to the next one
    uint column_scale_batch;
    uint sum_offset;     // floats from the first column scale to the sums
    uint result_elems;   // of the first element in the binding
    uint result_column;  // elements from a column to the next one
    uint result_batch;   // elements from a matrix to the next one
};

float acc[TM][TN];
uint column_at[TN];       // first uvec4 of the lane's column
uint column_scale_at[TN]; // its first scale
uint panel_at;
uint panel_scale_at;

#if RF_PATH == 2

void rf_block(uint block) {
    [[unroll]] for (uint c = 0; c < 8; c++) {
        vec4 x[TN];
        [[unroll]] for (uint t = 0; t < TN; t++)
            x[t] = uintBitsToFloat(columns[column_at[t] + (block * 8 + c) * RF_COLUMN_GROUP]);
        [[unroll]] for (uint r = 0; r < TM; r++) {
            vec4 w = uintBitsToFloat(panel[panel_at + (block * 8 + c) * TM + r]);
            [[unroll]] for (uint t = 0; t < TN; t++)
                acc[r][t] = fma(w.w, x[t].w, fma(w.z, x[t].z, fma(w.y, x[t].y, fma(w.x, x[t].x, acc[r][t]))));
        }
    }
}

#else

#if RF_PATH == 0
#define RF_CHUNKS 2

// 16 products of one chunk
float rf_sum16(uvec4 w[RF_CHUNKS], uvec4 x[RF_CHUNKS], uint granule) {
    int sum = 0;
    [[unroll]] for (uint i = 0; i < 4; i++)
        sum = rf_dot4(w[granule][i], x[granule][i], sum);
    return float(sum);
}

float rf_sum32(uvec4 w[RF_CHUNKS], uvec4 x[RF_CHUNKS]) {
    int sum = 0;
    [[unroll]] for (uint c = 0; c < 2; c++)
        [[unroll]] for (uint i = 0; i < 4; i++)
            sum = rf_dot4(w[c][i], x[c][i], sum);
    return float(sum);
}

#else
#define RF_CHUNKS 4

float rf_sum16(uvec4 w[RF_CHUNKS], uvec4 x[RF_CHUNKS], uint granule) {
    f16vec2 sum = f16vec2(0.0);
    [[unroll]] for (uint c = 0; c < 2; c++)
        [[unroll]] for (uint i = 0; i < 4; i++)
            sum = fma(unpackFloat2x16(w[2 * granule + c][i]), unpackFloat2x16(x[2 * granule + c][i]), sum);
    return float(sum.x) + float(sum.y);
}

float rf_sum32(uvec4 w[RF_CHUNKS], uvec4 x[RF_CHUNKS]) {
    return rf_sum16(w, x, 0) + rf_sum16(w, x, 1);
}

#endif

void rf_block(uint block) {
    uvec4 x[TN][RF_CHUNKS];
    float x_scale[TN];
    vec2 x_sum[TN];
    [[unroll]] for (uint t = 0; t < TN; t++) {
        [[unroll]] for (uint c = 0; c < RF_CHUNKS; c++)
            x[t][c] = columns[column_at[t] + (block * RF_CHUNKS + c) * RF_COLUMN_GROUP];
        uint at = column_scale_at[t] + block * RF_COLUMN_GROUP;
        x_scale[t] = column_scales[at];
        if (HAS_MIN)
            x_sum[t] = vec2(column_scales[sum_offset + 2 * at], column_scales[sum_offset + 2 * at + 1]);
    }
    [[unroll]] for (uint r = 0; r < TM; r++) {
        uvec4 w[RF_CHUNKS];
        [[unroll]] for (uint c = 0; c < RF_CHUNKS; c++)
            w[c] = panel[panel_at + (block * RF_CHUNKS + c) * TM + r];
        uint at = panel_scale_at + block * GRANULES * TM + r;
        float scale = panel_scales[at];
        if (GRANULES == 1) {
            [[unroll]] for (uint t = 0; t < TN; t++)
                acc[r][t] = fma(rf_sum32(w, x[t]), scale * x_scale[t], acc[r][t]);
        } else {
            float second = panel_scales[at + TM];
            [[unroll]] for (uint t = 0; t < TN; t++)
                acc[r][t] = fma(fma(rf_sum16(w, x[t], 0), scale, rf_sum16(w, x[t], 1) * second), x_scale[t], acc[r][t]);
        }
        if (HAS_MIN) {
            float low = panel_scales[min_offset + at];
            float second = GRANULES == 1 ? low : panel_scales[min_offset + at + TM];
            [[unroll]] for (uint t = 0; t < TN; t++)
                acc[r][t] -= GRANULES == 1 ? low * (x_sum[t].x + x_sum[t].y) : low * x_sum[t].x + second * x_sum[t].y;
        }
    }
}

#endif

void main() {
    uint group = first_group + gl_WorkGroupID.y;
    uint batch = gl_WorkGroupID.z;
    uint first = first_column + gl_WorkGroupID.x * LANES * TN + gl_LocalInvocationID.x;
    uint per_block = rf_chunks_per_block(RF_PATH);

    panel_at = batch / ratio * panel_batch + group * blocks * per_block * TM;
    panel_scale_at = batch / ratio * panel_scale_batch + group * blocks * GRANULES * TM;
    [[unroll]] for (uint t = 0; t < TN; t++) {
        // Lanes past the last column read the last one and store nothing.
        uint column = min(first + t * LANES, end_column - 1);
        uint column_group = column / RF_COLUMN_GROUP, lane = column % RF_COLUMN_GROUP;
        column_at[t] = batch * columns_batch + column_group * blocks * per_block * RF_COLUMN_GROUP + lane;
        column_scale_at[t] = batch * column_scale_batch + column_group * blocks * RF_COLUMN_GROUP + lane;
        [[unroll]] for (uint r = 0; r < TM; r++)
            acc[r][t] = 0.0;
    }

    for (uint block = 0; block < blocks; block++)
        rf_block(block);

    [[unroll]] for (uint t = 0; t < TN; t++) {
        uint column = first + t * LANES;
        if (column >= end_column)
            continue;
        uint to = result_elems + batch * result_batch + column * result_column;
        if (INDEXED) {
            uint index = table[column].y;
            if (index == 0xFFFFFFFFu)
                continue;
            to = result_elems + index * result_column;
        }
        to += group * TM;
        [[unroll]] for (uint r = 0; r < TM; r++)
            if (group * TM + r < rows)
                result[to + r] = acc[r][t];
    }
}
