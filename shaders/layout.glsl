// SPDX-License-Identifier: MIT
// What all kernels agree on. docs/kernels.md draws the layouts.
//
// A *chunk* is 16 bytes of consecutive k of one row or column: 16 int8, 8 fp16 or 4 fp32 values.
// Panel (weights):      uvec4 [row group][chunk][TM rows]      float scales [row group][block][granule][TM rows]
// Columns (activations): uvec4 [column group][chunk][16 columns] float scales [column group][block][16 columns]
// A *block* is 32 consecutive k. Rows, columns and k past the matrix are zero in both, so that the tile needs no test.
const uint RF_COLUMN_GROUP = 16u;
const uint RF_BLOCK = 32u;

// The value of `path`, a specialisation constant of the producers.
const uint RF_INT8 = 0u;
const uint RF_FP16 = 1u;
const uint RF_FP32 = 2u;

// chunks per block of 32
uint rf_chunks_per_block(uint path) {
    return path == RF_INT8 ? 2u : path == RF_FP16 ? 4u : 8u;
}
