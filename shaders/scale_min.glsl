// SPDX-License-Identifier: MIT
// The 6-bit scales and minimums of Q4_K and Q5_K: 12 bytes at offset 4 of the super-block; the first four of each lie
// whole in bytes 0-3 and 4-7, the last four are split: low bits in bytes 8-11, high bits on top of bytes 0-7.
// RF_SUPER_BYTES: size of the super-block.

uint rf_six_bits(uint super, uint part, uint is_min) {
    if (part < 4)
        return rf_u8(super + 4 + part + 4 * is_min) & 63u;
    uint low = rf_u8(super + 8 + part) >> (4 * is_min) & 15u;
    return low | rf_u8(super + part + 4 * is_min) >> 6 << 4;
}

float rf_scale(uint base, uint block, uint granule) {
    uint super = base + (block >> 3) * RF_SUPER_BYTES;
    return rf_f16(super) * float(rf_six_bits(super, block & 7u, 0));
}

float rf_min(uint base, uint block, uint granule) {
    uint super = base + (block >> 3) * RF_SUPER_BYTES;
    return rf_f16(super + 2) * float(rf_six_bits(super, block & 7u, 1));
}
