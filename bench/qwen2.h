// SPDX-License-Identifier: MIT
// Facts of the Qwen2.5 family and of llama-quantize that both the model writer (synth_*.c) and the speed model
// (sim/model/) go by. Pure.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// The published configurations, a call of ROW each: name, layers, embd, ff, heads, heads_kv, vocab, untied.
#define RF_QWEN2_SHAPES(ROW)                                                                                           \
    ROW("qwen2.5-0.5b", 24, 896, 4864, 14, 2, 151936, false)                                                           \
    ROW("qwen2.5-1.5b", 28, 1536, 8960, 12, 2, 151936, false)                                                          \
    ROW("qwen2.5-3b", 36, 2048, 11008, 16, 2, 151936, false)                                                           \
    ROW("qwen2.5-7b", 28, 3584, 18944, 28, 4, 152064, true)

// In which of `layers` layers the "_m" mixes give attn_v and ffn_down more bits: the first and the last eighth, and
// every third one between.
static inline bool rf_qwen2_more_bits(int64_t layer, int64_t layers) {
    return layer < layers / 8 || layer >= 7 * layers / 8 || (layer - layers / 8) % 3 == 2;
}
