// SPDX-License-Identifier: MIT
// A warp's 16 lanes as one vector of the compiler's vector extensions: AVX2 or NEON, whatever the target has.
#pragma once

#include <stdint.h>

#define MX_LANES 16

typedef uint32_t mx_u32 __attribute__((vector_size(4 * MX_LANES)));
typedef int32_t mx_i32 __attribute__((vector_size(4 * MX_LANES)));
typedef float mx_f32 __attribute__((vector_size(4 * MX_LANES)));
typedef uint16_t mx_u16 __attribute__((vector_size(4 * MX_LANES))); // two a lane, the low half first
typedef int16_t mx_i16 __attribute__((vector_size(4 * MX_LANES)));
typedef uint8_t mx_u8 __attribute__((vector_size(4 * MX_LANES))); // four a lane
typedef int8_t mx_i8 __attribute__((vector_size(4 * MX_LANES)));
