// SPDX-License-Identifier: MIT
// The body shared by all quantised formats; see unpack.glsl.

vec4 rf_bytes(uint word) {
    ivec4 bytes = ivec4(bitfieldExtract(int(word), 0, 8), bitfieldExtract(int(word), 8, 8),
                        bitfieldExtract(int(word), 16, 8), bitfieldExtract(int(word), 24, 8));
    return vec4(bytes);
}

uvec2 rf_halves(uint word) {
    vec4 q = rf_bytes(word);
    return uvec2(packHalf2x16(q.xy), packHalf2x16(q.zw));
}

void main() {
    uint block = gl_GlobalInvocationID.x;
    uint row = gl_GlobalInvocationID.y;
    uint batch = gl_GlobalInvocationID.z;
    uint group_rows = (rows + TM - 1) / TM * TM;
    if (block >= blocks || row >= group_rows)
        return;

    bool inside = row < rows;
    uint base = source_bytes + batch * batch_bytes + (inside ? row : 0u) * row_bytes;
    uint group = row / TM, lane = row % TM;
    uint per_block = rf_chunks_per_block(path);
    uint to = batch * panel_batch + ((group * blocks + block) * per_block) * TM + lane;

    float scale[2], low[2];
    [[unroll]] for (uint g = 0; g < 2; g++) {
        scale[g] = inside ? rf_scale(base, block, g) : 0.0;
        low[g] = HAS_MIN && inside ? rf_min(base, block, g) : 0.0;
    }
    [[unroll]] for (uint half_block = 0; half_block < 2; half_block++) {
        uvec4 q;
        [[unroll]] for (uint w = 0; w < 4; w++)
            q[w] = inside ? rf_q(base, block, half_block * 4 + w) : 0u;
        if (path == RF_INT8) {
            panel[to + half_block * TM] = q;
        } else if (path == RF_FP16) {
            panel[to + (2 * half_block) * TM] = uvec4(rf_halves(q.x), rf_halves(q.y));
            panel[to + (2 * half_block + 1) * TM] = uvec4(rf_halves(q.z), rf_halves(q.w));
        } else {
            [[unroll]] for (uint w = 0; w < 4; w++)
                panel[to + (4 * half_block + w) * TM] =
                    floatBitsToUint(fma(rf_bytes(q[w]), vec4(scale[half_block]), vec4(-low[half_block])));
        }
    }
    if (path == RF_FP32)
        return;
    uint scale_to = batch * scale_batch + ((group * blocks + block) * GRANULES) * TM + lane;
    [[unroll]] for (uint g = 0; g < GRANULES; g++) {
        scales[scale_to + g * TM] = scale[g];
        if (HAS_MIN)
            scales[min_offset + scale_to + g * TM] = low[g];
    }
}
