#version 450
// SPDX-License-Identifier: MIT
// Float weights (F32, F16, BF16, any strides) into an fp16 or fp32 panel. One invocation: one block of 32 of one row.
// For fp16 each block is multiplied by a power of two (exact) so that its largest value lies in [64, 128): sums of 16
// products with activations of at most 16 then stay below fp16's 65504 whatever the magnitudes.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_control_flow_attributes : require
#include "layout.glsl"

layout(local_size_x = 8, local_size_y = 8) in;

layout(constant_id = 0) const uint path = RF_FP32;
layout(constant_id = 1) const uint TM = 4;
layout(constant_id = 2) const uint SOURCE = 0; // 0: F32, 1: F16, 2: BF16

layout(binding = 0) readonly buffer Source32 { float source32[]; };
layout(binding = 0) readonly buffer Source16 { uint16_t source16[]; };
layout(binding = 1) writeonly buffer Panel { uvec4 panel[]; };
layout(binding = 2) writeonly buffer Scales { float scales[]; };

layout(push_constant) uniform Push {
    uint rows;
    uint blocks;
    uint source_elems;  // of the first weight in the binding
    uint row_elems;     // from a row to the next one
    uint batch_elems;   // from a matrix to the next one
    uint panel_batch;   // uvec4 from a panel to the next one
    uint scale_batch;   // floats from a panel's scales to the next panel's
    uint k_elems;       // from a weight to the next one of its row
    uint k_count;       // weights a row; the rest of the last block becomes zero
};

float rf_load(uint index) {
    if (SOURCE == 0)
        return source32[index];
    uint bits = uint(source16[index]);
    return SOURCE == 1 ? unpackHalf2x16(bits).x : uintBitsToFloat(bits << 16);
}

void main() {
    uint block = gl_GlobalInvocationID.x;
    uint row = gl_GlobalInvocationID.y;
    uint batch = gl_GlobalInvocationID.z;
    uint group_rows = (rows + TM - 1) / TM * TM;
    if (block >= blocks || row >= group_rows)
        return;

    uint base = source_elems + batch * batch_elems + row * row_elems;
    uint group = row / TM, lane = row % TM;
    uint to = batch * panel_batch + ((group * blocks + block) * rf_chunks_per_block(path)) * TM + lane;
    if (path == RF_FP32) { // four at a time: all 32 at once cost older compilers more registers than there are
        [[unroll]] for (uint c = 0; c < 8; c++) {
            vec4 w;
            [[unroll]] for (uint i = 0; i < 4; i++) {
                uint k = block * RF_BLOCK + 4 * c + i;
                w[i] = row < rows && k < k_count ? rf_load(base + k * k_elems) : 0.0;
            }
            panel[to + c * TM] = floatBitsToUint(w);
        }
        return;
    }

    float w[RF_BLOCK];
    float largest = 0.0;
    [[unroll]] for (uint i = 0; i < RF_BLOCK; i++) {
        uint k = block * RF_BLOCK + i;
        w[i] = row < rows && k < k_count ? rf_load(base + k * k_elems) : 0.0;
        largest = max(largest, abs(w[i]));
    }
    // 2^(e - 6) for largest in [2^e, 2^(e + 1)); e is kept away from the ends of the exponent's range.
    uint exponent = clamp(floatBitsToUint(largest) >> 23, 32u, 240u);
    float scale = uintBitsToFloat((exponent - 6) << 23);
    float inverse = uintBitsToFloat((260 - exponent) << 23);
    [[unroll]] for (uint c = 0; c < 4; c++) {
        uvec4 packed;
        [[unroll]] for (uint i = 0; i < 4; i++)
            packed[i] = packHalf2x16(vec2(w[8 * c + 2 * i], w[8 * c + 2 * i + 1]) * inverse);
        panel[to + c * TM] = packed;
    }
    scales[batch * scale_batch + (group * blocks + block) * TM + lane] = scale;
}
