// SPDX-License-Identifier: MIT
// Four-bit codes into 16 signed bytes. The table is four constants and not an array: an array indexed at run time would
// live on the Mali's stack.

// RF_CODES0 to RF_CODES3: the table as little-endian words, RF_CODES0 holding entries 0-3.
uint rf_code(uint index) {
    uint word = index < 8 ? (index < 4 ? RF_CODES0 : RF_CODES1) : (index < 12 ? RF_CODES2 : RF_CODES3);
    return word >> (8 * (index & 3u)) & 255u;
}

uint rf_codes4(uint nibbles) {
    return rf_code(nibbles & 15u) | rf_code(nibbles >> 8 & 15u) << 8 | rf_code(nibbles >> 16 & 15u) << 16 |
           rf_code(nibbles >> 24 & 15u) << 24;
}
