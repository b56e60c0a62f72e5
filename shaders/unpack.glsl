// SPDX-License-Identifier: MIT
// Unpacks quantised weights into a panel. One invocation: one block of 32 weights of one row.
// A format's file includes this one's parts in order: first the source access, then (its own) rf_q, rf_scale, rf_min,
// then unpack_main.glsl.
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_control_flow_attributes : require

#include "layout.glsl"

layout(local_size_x = 8, local_size_y = 8) in;

layout(constant_id = 0) const uint path = RF_INT8;
layout(constant_id = 1) const uint TM = 4;
layout(constant_id = 2) const uint GRANULES = 1;
layout(constant_id = 3) const bool HAS_MIN = false;

layout(binding = 0) readonly buffer Source16 { uint16_t source16[]; };
layout(binding = 0) readonly buffer Source8 { uint8_t source8[]; };
layout(binding = 1) writeonly buffer Panel { uvec4 panel[]; };
layout(binding = 2) writeonly buffer Scales { float scales[]; };

layout(push_constant) uniform Push {
    uint rows;          // rows to unpack; the rest of the last row group becomes zero
    uint blocks;        // blocks of 32 a row
    uint source_bytes;  // of the first row in the binding
    uint row_bytes;     // from a row to the next one
    uint batch_bytes;   // from a matrix to the next one
    uint panel_batch;   // uvec4 from a panel to the next one
    uint scale_batch;   // floats from a panel's scales to the next panel's
    uint min_offset;    // floats from a scale to its minimum
};

// All formats but MXFP4 have blocks of an even size, so two-byte loads reach everything.
uint rf_u16(uint byte_offset) {
    return uint(source16[byte_offset >> 1]);
}

uint rf_u32(uint byte_offset) {
    return rf_u16(byte_offset) | rf_u16(byte_offset + 2) << 16;
}

uint rf_u8(uint byte_offset) {
    return bitfieldExtract(rf_u16(byte_offset), int(byte_offset & 1u) * 8, 8);
}

float rf_f16(uint byte_offset) {
    return unpackHalf2x16(rf_u16(byte_offset)).x;
}

// Subtracts `bias` (0..127) from four bytes that are each below 128, without borrowing between them.
uint rf_sub4(uint bytes, uint bias) {
    return ((bytes | 0x80808080u) - bias * 0x01010101u) ^ 0x80808080u;
}

// Four bits of a mask, bit i to bit 4 of byte i.
uint rf_spread4(uint bits) {
    return (bits & 1u) << 4 | (bits & 2u) << 11 | (bits & 4u) << 18 | (bits & 8u) << 25;
}
