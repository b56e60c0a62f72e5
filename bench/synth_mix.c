/* SPDX-License-Identifier: MIT
 *
 * Mixes: which tensor gets which type. A mix named like a llama-quantize file type gives each tensor the type that
 * llama-quantize would give it without an importance matrix; the rules are data, the first row that fits wins.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "qwen2.h"
#include "synth.h"

static const struct rf_synth_mix mixes[] = {
    {"f32", GGML_TYPE_F32, 0, false},        {"f16", GGML_TYPE_F16, 1, false},
    {"bf16", GGML_TYPE_BF16, 32, false},     {"q4_0", GGML_TYPE_Q4_0, 2, false},
    {"q4_1", GGML_TYPE_Q4_1, 3, false},      {"q5_0", GGML_TYPE_Q5_0, 8, false},
    {"q5_1", GGML_TYPE_Q5_1, 9, false},      {"q8_0", GGML_TYPE_Q8_0, 7, false},
    {"q3_k_s", GGML_TYPE_Q3_K, 11, false},   {"q3_k_m", GGML_TYPE_Q3_K, 12, false},
    {"q3_k_l", GGML_TYPE_Q3_K, 13, false},   {"q4_k_s", GGML_TYPE_Q4_K, 14, false},
    {"q4_k_m", GGML_TYPE_Q4_K, 15, false},   {"q5_k_s", GGML_TYPE_Q5_K, 16, false},
    {"q5_k_m", GGML_TYPE_Q5_K, 17, false},   {"q2_k", GGML_TYPE_Q2_K, 10, false},
    {"q6_k", GGML_TYPE_Q6_K, 18, false},     {"iq4_nl", GGML_TYPE_IQ4_NL, 25, false},
    {"iq4_xs", GGML_TYPE_IQ4_XS, 30, false},
};

/* Types by themselves: all matrices in this one type. (llama-quantize takes q4_k for q4_k_m; here it is the type.) */
static const struct rf_synth_mix types[] = {
    {"q3_k", GGML_TYPE_Q3_K, -1, true},       {"q4_k", GGML_TYPE_Q4_K, -1, true},
    {"q5_k", GGML_TYPE_Q5_K, -1, true},       {"mxfp4", GGML_TYPE_MXFP4, -1, true},
    {"nvfp4", GGML_TYPE_NVFP4, 39, true},     {"tq1_0", GGML_TYPE_TQ1_0, -1, true},
    {"tq2_0", GGML_TYPE_TQ2_0, -1, true},     {"q1_0", GGML_TYPE_Q1_0, -1, true},
    {"q2_0", GGML_TYPE_Q2_0, -1, true},       {"iq1_s", GGML_TYPE_IQ1_S, -1, true},
    {"iq1_m", GGML_TYPE_IQ1_M, -1, true},     {"iq2_xxs", GGML_TYPE_IQ2_XXS, -1, true},
    {"iq2_xs", GGML_TYPE_IQ2_XS, -1, true},   {"iq2_s", GGML_TYPE_IQ2_S, -1, true},
    {"iq3_xxs", GGML_TYPE_IQ3_XXS, -1, true}, {"iq3_s", GGML_TYPE_IQ3_S, -1, true},
};

enum { N_MIXES = sizeof(mixes) / sizeof(mixes[0]), N_TYPES = sizeof(types) / sizeof(types[0]) };

static const struct rf_synth_mix *entry(size_t index) {
    return index < N_MIXES ? &mixes[index] : &types[index - N_MIXES];
}

bool rf_synth_mix_find(const char *name, struct rf_synth_mix *mix) {
    for (size_t i = 0; i < N_MIXES + N_TYPES; i++) {
        if (strcasecmp(name, entry(i)->name) == 0) {
            *mix = *entry(i);
            return true;
        }
    }
    return false;
}

void rf_synth_mix_names(char *text, size_t size) {
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < N_MIXES + N_TYPES && used < size; i++) {
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? " " : "", entry(i)->name);
    }
}

/* In which layers a rule holds; `layers` below is their number. */
enum when {
    ALWAYS,
    FIRST_2,
    FIRST_4,
    FIRST_EIGHTH,
    FIRST_SIXTEENTH,
    MORE_BITS,   /* the first and the last eighth, and every third layer between */
    SHARED_BY_4, /* at least four query heads share a key and value head */
};

/* `mix` is a prefix: "q5_k_m" names one mix, "iq4_" two. */
static const struct rule {
    const char *mix;
    enum rf_synth_role role;
    enum when when;
    enum ggml_type type;
} rules[] = {
    {"q2_k", RF_SYNTH_V, SHARED_BY_4, GGML_TYPE_Q4_K},
    {"q2_k", RF_SYNTH_V, ALWAYS, GGML_TYPE_Q3_K},
    {"q2_k", RF_SYNTH_DOWN, ALWAYS, GGML_TYPE_Q3_K},
    {"q2_k", RF_SYNTH_ATTN_OUT, ALWAYS, GGML_TYPE_Q3_K},
    {"q3_k_m", RF_SYNTH_V, FIRST_2, GGML_TYPE_Q5_K},
    {"q3_k_m", RF_SYNTH_V, ALWAYS, GGML_TYPE_Q4_K},
    {"q3_k_m", RF_SYNTH_DOWN, FIRST_SIXTEENTH, GGML_TYPE_Q5_K},
    {"q3_k_m", RF_SYNTH_DOWN, ALWAYS, GGML_TYPE_Q4_K},
    {"q3_k_m", RF_SYNTH_ATTN_OUT, ALWAYS, GGML_TYPE_Q4_K},
    {"q3_k_l", RF_SYNTH_V, ALWAYS, GGML_TYPE_Q5_K},
    {"q3_k_l", RF_SYNTH_DOWN, ALWAYS, GGML_TYPE_Q5_K},
    {"q3_k_l", RF_SYNTH_ATTN_OUT, ALWAYS, GGML_TYPE_Q5_K},
    {"q4_k_s", RF_SYNTH_V, FIRST_4, GGML_TYPE_Q5_K},
    {"q4_k_s", RF_SYNTH_DOWN, FIRST_EIGHTH, GGML_TYPE_Q5_K},
    {"q4_k_m", RF_SYNTH_V, MORE_BITS, GGML_TYPE_Q6_K},
    {"q4_k_m", RF_SYNTH_DOWN, MORE_BITS, GGML_TYPE_Q6_K},
    {"q5_k_m", RF_SYNTH_V, MORE_BITS, GGML_TYPE_Q6_K},
    {"q5_k_m", RF_SYNTH_DOWN, MORE_BITS, GGML_TYPE_Q6_K},
    {"iq4_", RF_SYNTH_V, SHARED_BY_4, GGML_TYPE_Q5_K},
    {"iq4_", RF_SYNTH_DOWN, FIRST_EIGHTH, GGML_TYPE_Q5_K},
};

static bool holds(enum when when, int64_t layer, const struct rf_synth_shape *shape) {
    int64_t layers = shape->layers;

    switch (when) {
    case ALWAYS:
        return true;
    case FIRST_2:
        return layer < 2;
    case FIRST_4:
        return layer < 4;
    case FIRST_EIGHTH:
        return layer < layers / 8;
    case FIRST_SIXTEENTH:
        return layer < layers / 16;
    case MORE_BITS:
        return rf_qwen2_more_bits(layer, layers);
    case SHARED_BY_4:
        return shape->heads / shape->heads_kv >= 4;
    }
    return false;
}

static enum ggml_type wanted_in_layer(const struct rf_synth_mix *mix, const struct rf_synth_shape *shape,
                                      const struct rf_synth_tensor *tensor) {
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        const struct rule *rule = &rules[i];
        if (rule->role == tensor->role && strncmp(mix->name, rule->mix, strlen(rule->mix)) == 0 &&
            holds(rule->when, tensor->layer, shape)) {
            return rule->type;
        }
    }
    return mix->base;
}

static enum ggml_type wanted(const struct rf_synth_mix *mix, const struct rf_synth_shape *shape,
                             const struct rf_synth_tensor *tensor) {
    bool head = tensor->role == RF_SYNTH_HEAD || (tensor->role == RF_SYNTH_EMBD && !shape->untied);

    if (mix->pure || !ggml_is_quantized(mix->base)) {
        return mix->base;
    }
    if (head && tensor->cols % ggml_blck_size(mix->base) != 0) {
        return GGML_TYPE_Q8_0;
    }
    if (head) {
        return mix->base == GGML_TYPE_Q8_0 ? GGML_TYPE_Q8_0 : GGML_TYPE_Q6_K;
    }
    enum ggml_type type = wanted_in_layer(mix, shape, tensor);
    /* llama.cpp takes 80 layers for the 72B model, whose small attn_v deserves more bits. */
    if (tensor->role == RF_SYNTH_V && shape->layers == 80 && (type == GGML_TYPE_Q3_K || type == GGML_TYPE_Q4_K)) {
        type = GGML_TYPE_Q5_K;
    }
    return type;
}

/* The type with blocks of 32 that stands in for one with larger blocks; the type itself where there is none. */
static enum ggml_type smaller_block(enum ggml_type type) {
    switch (type) {
    case GGML_TYPE_Q2_K:
    case GGML_TYPE_Q3_K:
    case GGML_TYPE_Q2_0:
    case GGML_TYPE_TQ1_0:
    case GGML_TYPE_TQ2_0:
        return GGML_TYPE_Q4_0;
    case GGML_TYPE_Q4_K:
        return GGML_TYPE_Q5_0;
    case GGML_TYPE_Q5_K:
        return GGML_TYPE_Q5_1;
    case GGML_TYPE_Q6_K:
        return GGML_TYPE_Q8_0;
    case GGML_TYPE_IQ1_S:
    case GGML_TYPE_IQ1_M:
    case GGML_TYPE_IQ2_XXS:
    case GGML_TYPE_IQ2_XS:
    case GGML_TYPE_IQ2_S:
    case GGML_TYPE_IQ3_XXS:
    case GGML_TYPE_IQ3_S:
    case GGML_TYPE_IQ4_XS:
        return GGML_TYPE_IQ4_NL;
    default:
        return type;
    }
}

int rf_synth_mix_type(const struct rf_synth_mix *mix, const struct rf_synth_shape *shape,
                      const struct rf_synth_tensor *tensor, enum ggml_type *type) {
    if (tensor->role == RF_SYNTH_NORM || tensor->role == RF_SYNTH_BIAS) {
        *type = GGML_TYPE_F32;
        return RF_SYNTH_OK;
    }
    enum ggml_type first = wanted(mix, shape, tensor);
    *type = first;
    if (tensor->cols % ggml_blck_size(first) != 0) {
        *type = smaller_block(first);
    }
    /* llama-quantize would fall back once more, to F16. A benchmark asked for one type and given another of four times
     * its size measures the wrong thing, so that is refused here. */
    if (tensor->cols % ggml_blck_size(*type) != 0) {
        return rf_synth_fail(RF_SYNTH_USAGE,
                             "%s has rows of %" PRId64 " elements, which %s cannot hold (blocks of %" PRId64
                             "): change --embd or --ff, or take --mix f16",
                             tensor->name, tensor->cols, ggml_type_name(*type), ggml_blck_size(*type));
    }
    return RF_SYNTH_OK;
}
