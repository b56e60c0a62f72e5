/* SPDX-License-Identifier: MIT
 *
 * Random weights. Quantising hundreds of millions of floats takes minutes for some types, so it is done once for a pool
 * of about a million weights of each type and scale, and every tensor is drawn from its pool block by block. A block
 * (256 weights for k-quants, 32 for most others) is what a type encodes on its own, so any sequence of blocks is valid
 * data, and rows differ although their blocks recur: a row of 768 in q4_K is one of 4096^3.
 *
 * Scale: a standard deviation of 1/sqrt(row length) keeps normalised activations near 1 through every layer. Two kinds
 * have four times that, or the greedy answer would be one token for ever: what attn_output and ffn_down add must
 * outweigh the token itself, which a tied output matrix would find again; and the output matrix must spread the logits
 * as far as a trained model's, so that one token leads. Doubling q and k as well made the model chaotic: the KL
 * divergence between plain and repacked CPU kernels on the 100m shape in q4_k_m then was 0.19, against 0.005 now;
 * SmolLM2 135M in Q4_0 has 0.005, too.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "synth.h"

enum {
    POOL_ELEMS = 1 << 20,
    POOL_ROW_ELEMS = 1024, /* any multiple of the largest block */
    UNIT_LEAST_ELEMS = 32, /* float types have blocks of 1, too small to be drawn singly */
};

struct rf_synth_pool {
    struct rf_synth_pool *next;
    enum ggml_type type;
    float mean;
    float deviation;
    size_t unit_bytes;
    uint64_t n_units; /* a power of two */
    uint8_t *data;
};

/* One step of the splitmix64 generator. */
static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint64_t mix_seed(uint64_t seed, uint64_t value) {
    uint64_t state = seed ^ value;

    return next_random(&state);
}

/* Nearly normal, deviation 1: the sum of eight uniform 16-bit numbers. No libm, so equal everywhere. */
static float next_normal(uint64_t *state) {
    int64_t sum = 0;

    for (int i = 0; i < 2; i++) {
        for (uint64_t bits = next_random(state), lane = 0; lane < 4; lane++, bits >>= 16) {
            sum += (int64_t)(bits & 0xffff);
        }
    }
    /* mean 8 * 65535 / 2, variance 8 * 65536^2 / 12 */
    return ((float)sum - 262140.0f) * 1.8688e-5f;
}

/* The mean and the standard deviation of a tensor's weights; why these, see the top. */
static void choose_scale(const struct rf_synth_tensor *tensor, float *mean, float *deviation) {
    float unit = 1.0f / sqrtf((float)tensor->cols);

    *mean = tensor->role == RF_SYNTH_NORM ? 1.0f : 0.0f;
    switch (tensor->role) {
    case RF_SYNTH_NORM:
        *deviation = 0.05f;
        return;
    case RF_SYNTH_BIAS:
        *deviation = 0.02f;
        return;
    case RF_SYNTH_ATTN_OUT:
    case RF_SYNTH_DOWN:
    case RF_SYNTH_EMBD:
    case RF_SYNTH_HEAD:
        *deviation = 4.0f * unit;
        return;
    default:
        *deviation = unit;
        return;
    }
}

/* Quantises the pool's floats into pool->data. False: out of memory. */
static bool fill_pool(struct rf_synth_pool *pool, uint64_t seed) {
    float *floats = malloc(POOL_ELEMS * sizeof(*floats));
    float *importance = malloc(POOL_ROW_ELEMS * sizeof(*importance));
    bool ok = floats && importance;

    if (ok) {
        for (int64_t i = 0; i < POOL_ELEMS; i++) {
            floats[i] = pool->mean + pool->deviation * next_normal(&seed);
        }
        for (int64_t i = 0; i < POOL_ROW_ELEMS; i++) {
            importance[i] = 1.0f;
        }
        bool weighted = ggml_quantize_requires_imatrix(pool->type);
        ggml_quantize_chunk(pool->type, floats, pool->data, 0, POOL_ELEMS / POOL_ROW_ELEMS, POOL_ROW_ELEMS,
                            weighted ? importance : NULL);
    }
    free(importance);
    free(floats);
    return ok;
}

static struct rf_synth_pool *make_pool(enum ggml_type type, float mean, float deviation, uint64_t seed) {
    struct rf_synth_pool *pool = calloc(1, sizeof(*pool));
    int64_t block = ggml_blck_size(type);
    int64_t unit = block > UNIT_LEAST_ELEMS ? block : UNIT_LEAST_ELEMS;

    if (!pool) {
        return NULL;
    }
    pool->type = type;
    pool->mean = mean;
    pool->deviation = deviation;
    pool->unit_bytes = ggml_row_size(type, unit);
    pool->n_units = (uint64_t)(POOL_ELEMS / unit);
    pool->data = malloc(ggml_row_size(type, POOL_ELEMS));
    if (!pool->data || !fill_pool(pool, seed)) {
        free(pool->data);
        free(pool);
        return NULL;
    }
    return pool;
}

/* A pool's content must not depend on which tensors came before, so its seed comes from its key. */
static uint64_t pool_seed(uint64_t seed, enum ggml_type type, float mean, float deviation) {
    uint32_t bits[2];

    memcpy(&bits[0], &mean, sizeof(bits[0]));
    memcpy(&bits[1], &deviation, sizeof(bits[1]));
    return mix_seed(mix_seed(seed, (uint64_t)type), (uint64_t)bits[0] << 32 | bits[1]);
}

int rf_synth_weights_start(struct rf_synth_weights *weights, const struct rf_synth_tensor *tensor, int64_t index,
                           enum ggml_type type, struct rf_synth_stream *stream) {
    float mean, deviation;
    choose_scale(tensor, &mean, &deviation);

    struct rf_synth_pool *pool = weights->pools;
    while (pool && (pool->type != type || pool->mean != mean || pool->deviation != deviation)) {
        pool = pool->next;
    }
    if (!pool) {
        pool = make_pool(type, mean, deviation, pool_seed(weights->seed, type, mean, deviation));
        if (!pool) {
            return rf_synth_fail(RF_SYNTH_IO, "out of memory for a pool of %s weights", ggml_type_name(type));
        }
        pool->next = weights->pools;
        weights->pools = pool;
    }
    stream->pool = pool;
    /* Offset by a constant, or tensor 0 of seed s would repeat in every stream that mixes to the same value. */
    stream->state = mix_seed(weights->seed + 0x5bd1e995u, (uint64_t)index);
    return RF_SYNTH_OK;
}

size_t rf_synth_weights_step(const struct rf_synth_stream *stream, size_t limit_bytes) {
    return limit_bytes / stream->pool->unit_bytes * stream->pool->unit_bytes;
}

void rf_synth_weights_read(struct rf_synth_stream *stream, uint8_t *data, size_t data_bytes) {
    const struct rf_synth_pool *pool = stream->pool;

    for (size_t done = 0; done < data_bytes; done += pool->unit_bytes) {
        uint64_t unit = next_random(&stream->state) & (pool->n_units - 1);
        size_t left = data_bytes - done;
        memcpy(data + done, pool->data + unit * pool->unit_bytes, left < pool->unit_bytes ? left : pool->unit_bytes);
    }
}

void rf_synth_weights_free(struct rf_synth_weights *weights) {
    while (weights->pools) {
        struct rf_synth_pool *next = weights->pools->next;
        free(weights->pools->data);
        free(weights->pools);
        weights->pools = next;
    }
    ggml_quantize_free();
}
