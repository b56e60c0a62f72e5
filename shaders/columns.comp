#version 450
// SPDX-License-Identifier: MIT
// Activations into the order in which the tile reads columns, quantised for the int8 and fp16 paths. One invocation: one
// block of 32 values of one column. The lanes of a subgroup take neighbouring columns, as the stores lie.
//
// int8: scale = largest / 127, q = round(x / scale). fp16: scale = largest / 16, so that sums of 16 products with panel
// values below 128 stay finite. A block with an infinity or a NaN gets a NaN scale: the product is then NaN, too.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_control_flow_attributes : require
#include "layout.glsl"

layout(local_size_x = 16, local_size_y = 4) in;

layout(constant_id = 0) const uint path = RF_INT8;
layout(constant_id = 1) const bool SOURCE_F16 = false;
layout(constant_id = 2) const bool INDEXED = false; // columns are gathered through a table (mixture of experts)

layout(binding = 0) readonly buffer Source32 { float source32[]; };
layout(binding = 0) readonly buffer Source16 { uint16_t source16[]; };
layout(binding = 1) writeonly buffer Columns { uvec4 columns[]; };
layout(binding = 2) writeonly buffer Scales { float scales[]; };
layout(binding = 3) readonly buffer Table { uvec2 table[]; }; // x: first source element of a column, or ~0

layout(push_constant) uniform Push {
    uint count;          // columns of a matrix
    uint blocks;         // blocks of 32 a column
    uint source_elems;   // of the first value in the binding
    uint column_elems;   // from a column to the next one
    uint batch_elems;    // from a matrix to the next one
    uint k_elems;        // from a value to the next one of its column
    uint k_count;        // values a column; the rest of the last block becomes zero
    uint columns_batch;  // uvec4 from a matrix to the next one
    uint scale_batch;    // floats from a matrix's scales to the next one's
    uint sum_offset;     // floats from the first scale to the sums: two a block (16 values each), in place of one scale
};

float rf_load(uint index) {
    return SOURCE_F16 ? unpackHalf2x16(uint(source16[index])).x : source32[index];
}

uint rf_pack4(ivec4 q) {
    return uint(q.x & 255) | uint(q.y & 255) << 8 | uint(q.z & 255) << 16 | uint(q.w & 255) << 24;
}

void main() {
    uint column = gl_GlobalInvocationID.x;
    uint block = gl_GlobalInvocationID.y;
    uint batch = gl_GlobalInvocationID.z;
    uint padded = (count + RF_COLUMN_GROUP - 1) / RF_COLUMN_GROUP * RF_COLUMN_GROUP;
    if (column >= padded || block >= blocks)
        return;

    bool inside = column < count;
    uint base = source_elems + batch * batch_elems + column * column_elems;
    if (INDEXED) {
        uint first = inside ? table[column].x : 0xFFFFFFFFu;
        inside = first != 0xFFFFFFFFu;
        base = source_elems + first;
    }

    uint group = column / RF_COLUMN_GROUP, lane = column % RF_COLUMN_GROUP;
    uint at = group * blocks + block;
    uint to = batch * columns_batch + at * rf_chunks_per_block(path) * RF_COLUMN_GROUP + lane;
    if (path == RF_FP32) { // four at a time: all 32 at once cost older compilers more registers than there are
        [[unroll]] for (uint c = 0; c < 8; c++) {
            vec4 x;
            [[unroll]] for (uint i = 0; i < 4; i++) {
                uint k = block * RF_BLOCK + 4 * c + i;
                x[i] = inside && k < k_count ? rf_load(base + k * k_elems) : 0.0;
            }
            columns[to + c * RF_COLUMN_GROUP] = floatBitsToUint(x);
        }
        return;
    }

    float x[RF_BLOCK];
    float largest = 0.0;
    bool finite = true;
    [[unroll]] for (uint i = 0; i < RF_BLOCK; i++) {
        uint k = block * RF_BLOCK + i;
        x[i] = inside && k < k_count ? rf_load(base + k * k_elems) : 0.0;
        largest = max(largest, abs(x[i]));
        finite = finite && (floatBitsToUint(x[i]) & 0x7F800000u) != 0x7F800000u;
    }

    // Below 1e-35 the reciprocal would overflow; such values are zero for every purpose.
    float limit = path == RF_INT8 ? 127.0 : 16.0;
    bool tiny = largest < 1e-35;
    float inverse = tiny || !finite ? 0.0 : limit / largest;
    float scale = !finite ? uintBitsToFloat(0x7FC00000u) : tiny ? 0.0 : largest / limit;
    uint scale_at = batch * scale_batch + at * RF_COLUMN_GROUP + lane;
    scales[scale_at] = scale;
    if (path == RF_FP16) {
        vec2 sums = vec2(0.0);
        [[unroll]] for (uint c = 0; c < 4; c++) {
            uvec4 packed;
            [[unroll]] for (uint i = 0; i < 4; i++) {
                packed[i] = packHalf2x16(vec2(x[8 * c + 2 * i], x[8 * c + 2 * i + 1]) * inverse);
                vec2 rounded = unpackHalf2x16(packed[i]);
                sums[c / 2] += rounded.x + rounded.y;
            }
            columns[to + c * RF_COLUMN_GROUP] = packed;
        }
        scales[sum_offset + 2 * scale_at] = sums.x * scale;
        scales[sum_offset + 2 * scale_at + 1] = sums.y * scale;
        return;
    }
    [[unroll]] for (uint c = 0; c < 2; c++) {
        uvec4 packed;
        ivec4 sum = ivec4(0);
        [[unroll]] for (uint i = 0; i < 4; i++) {
            uint k = 16 * c + 4 * i;
            ivec4 q = ivec4(round(vec4(x[k], x[k + 1], x[k + 2], x[k + 3]) * inverse));
            packed[i] = rf_pack4(q);
            sum += q;
        }
        columns[to + c * RF_COLUMN_GROUP] = packed;
        scales[sum_offset + 2 * scale_at + c] = float(sum.x + sum.y + sum.z + sum.w) * scale;
    }
}
