/* SPDX-License-Identifier: MIT
 *
 * Metadata: the GGUF header, the list of tensors with their places in the file, and the vocabulary. The tensors here
 * never have data: only their names, types and sizes matter.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "synth.h"

/* Token types of GGUF's tokenizer.ggml.token_type. */
enum { TOKEN_NORMAL = 1, TOKEN_UNKNOWN = 2, TOKEN_CONTROL = 3, TOKEN_BYTE = 6 };

enum { TOKEN_TEXT_BYTES = 24 };

/* Tokens 0-2 are special, 3-258 the bytes, 259 the space mark, the rest words that no text spells: input becomes byte
 * tokens, output is readable and tells the token's number. Every text is distinct, as llama.cpp demands. */
static int32_t describe_token(int64_t id, char *text) {
    static const char *const special[] = {"<unk>", "<s>", "</s>"};

    if (id < 3) {
        snprintf(text, TOKEN_TEXT_BYTES, "%s", special[id]);
        return id == 0 ? TOKEN_UNKNOWN : TOKEN_CONTROL;
    }
    if (id < RF_SYNTH_VOCAB_SPM_MIN - 1) {
        snprintf(text, TOKEN_TEXT_BYTES, "<0x%02X>", (unsigned)(id - 3));
        return TOKEN_BYTE;
    }
    if (id == RF_SYNTH_VOCAB_SPM_MIN - 1) {
        snprintf(text, TOKEN_TEXT_BYTES, "\xe2\x96\x81");
        return TOKEN_NORMAL;
    }
    snprintf(text, TOKEN_TEXT_BYTES, "\xe2\x96\x81w%" PRId64, id);
    return TOKEN_NORMAL;
}

static int add_spm_vocab(struct gguf_context *gguf, int64_t vocab) {
    size_t n = (size_t)vocab;
    char *text = malloc(n * TOKEN_TEXT_BYTES);
    const char **tokens = malloc(n * sizeof(*tokens));
    float *scores = malloc(n * sizeof(*scores));
    int32_t *kinds = malloc(n * sizeof(*kinds));
    int code = RF_SYNTH_OK;

    if (!text || !tokens || !scores || !kinds) {
        code = rf_synth_fail(RF_SYNTH_IO, "out of memory for a vocabulary of %" PRId64 " tokens", vocab);
        goto done;
    }
    for (int64_t i = 0; i < vocab; i++) {
        tokens[i] = text + i * TOKEN_TEXT_BYTES;
        kinds[i] = describe_token(i, text + i * TOKEN_TEXT_BYTES);
        scores[i] = -(float)i;
    }
    gguf_set_val_str(gguf, "tokenizer.ggml.model", "llama");
    gguf_set_arr_str(gguf, "tokenizer.ggml.tokens", tokens, n);
    gguf_set_arr_data(gguf, "tokenizer.ggml.scores", GGUF_TYPE_FLOAT32, scores, n);
    gguf_set_arr_data(gguf, "tokenizer.ggml.token_type", GGUF_TYPE_INT32, kinds, n);
    gguf_set_val_u32(gguf, "tokenizer.ggml.unknown_token_id", 0);
    gguf_set_val_u32(gguf, "tokenizer.ggml.bos_token_id", 1);
    gguf_set_val_u32(gguf, "tokenizer.ggml.eos_token_id", 2);
done:
    free(kinds);
    free(scores);
    free(tokens);
    free(text);
    return code;
}

static int add_vocab(struct gguf_context *gguf, const struct rf_synth_shape *shape, enum rf_synth_vocab vocab) {
    if (vocab == RF_SYNTH_VOCAB_NONE) {
        gguf_set_val_str(gguf, "tokenizer.ggml.model", "no_vocab");
        gguf_set_val_u32(gguf, "qwen2.vocab_size", (uint32_t)shape->vocab);
        return RF_SYNTH_OK;
    }
    if (shape->vocab < RF_SYNTH_VOCAB_SPM_MIN) {
        return rf_synth_fail(RF_SYNTH_USAGE,
                             "--vocab %" PRId64 " is too small for the byte tokens: at least %d, or --vocab-kind none",
                             shape->vocab, RF_SYNTH_VOCAB_SPM_MIN);
    }
    return add_spm_vocab(gguf, shape->vocab);
}

static void add_dimensions(struct gguf_context *gguf, const struct rf_synth_shape *shape) {
    gguf_set_val_u32(gguf, "qwen2.block_count", (uint32_t)shape->layers);
    gguf_set_val_u32(gguf, "qwen2.context_length", 32768);
    gguf_set_val_u32(gguf, "qwen2.embedding_length", (uint32_t)shape->embd);
    gguf_set_val_u32(gguf, "qwen2.feed_forward_length", (uint32_t)shape->ff);
    gguf_set_val_u32(gguf, "qwen2.attention.head_count", (uint32_t)shape->heads);
    gguf_set_val_u32(gguf, "qwen2.attention.head_count_kv", (uint32_t)shape->heads_kv);
    gguf_set_val_f32(gguf, "qwen2.attention.layer_norm_rms_epsilon", 1e-6f);
    gguf_set_val_f32(gguf, "qwen2.rope.freq_base", 1e6f);
}

static int add_tensors(struct rf_synth_model *model, const struct rf_synth_shape *shape,
                       const struct rf_synth_mix *mix) {
    for (int64_t i = 0; i < model->n_tensors; i++) {
        struct rf_synth_tensor tensor;
        rf_synth_shape_tensor(shape, i, &tensor);
        int code = rf_synth_mix_type(mix, shape, &tensor, &model->types[i]);
        if (code != RF_SYNTH_OK) {
            return code;
        }
        bool vector = tensor.role == RF_SYNTH_NORM || tensor.role == RF_SYNTH_BIAS;
        struct ggml_tensor *t = vector ? ggml_new_tensor_1d(model->names, model->types[i], tensor.cols)
                                       : ggml_new_tensor_2d(model->names, model->types[i], tensor.cols, tensor.rows);
        ggml_set_name(t, tensor.name);
        gguf_add_tensor(model->gguf, t);
        model->n_params += tensor.cols * tensor.rows;
    }
    return RF_SYNTH_OK;
}

static size_t planned_bytes(const struct rf_synth_model *model) {
    int64_t last = model->n_tensors - 1;
    size_t align = gguf_get_alignment(model->gguf);
    size_t end =
        model->meta_bytes + gguf_get_tensor_offset(model->gguf, last) + gguf_get_tensor_size(model->gguf, last);

    return (end + align - 1) / align * align;
}

int rf_synth_meta_plan(struct rf_synth_model *model, const struct rf_synth_shape *shape, const struct rf_synth_mix *mix,
                       enum rf_synth_vocab vocab, const char *description) {
    memset(model, 0, sizeof(*model));
    model->n_tensors = rf_synth_shape_count(shape);

    size_t n = (size_t)model->n_tensors;
    struct ggml_init_params params = {.mem_size = n * ggml_tensor_overhead(), .no_alloc = true};
    model->types = calloc(n, sizeof(*model->types));
    model->names = ggml_init(params);
    model->gguf = gguf_init_empty();
    if (!model->types || !model->names || !model->gguf) {
        return rf_synth_fail(RF_SYNTH_IO, "out of memory for the list of %zu tensors", n);
    }

    gguf_set_val_str(model->gguf, "general.architecture", "qwen2");
    gguf_set_val_str(model->gguf, "general.type", "model");
    gguf_set_val_str(model->gguf, "general.name", shape->name);
    gguf_set_val_str(model->gguf, "general.description", description);
    gguf_set_val_u32(model->gguf, "general.quantization_version", GGML_QNT_VERSION);
    if (mix->file_type >= 0) {
        gguf_set_val_u32(model->gguf, "general.file_type", (uint32_t)mix->file_type);
    }
    add_dimensions(model->gguf, shape);
    int code = add_vocab(model->gguf, shape, vocab);
    if (code == RF_SYNTH_OK) {
        code = add_tensors(model, shape, mix);
    }
    if (code == RF_SYNTH_OK) {
        model->meta_bytes = gguf_get_meta_size(model->gguf);
        model->file_bytes = planned_bytes(model);
    }
    return code;
}

void rf_synth_meta_free(struct rf_synth_model *model) {
    if (model->gguf) {
        gguf_free(model->gguf);
    }
    if (model->names) {
        ggml_free(model->names);
    }
    free(model->types);
    memset(model, 0, sizeof(*model));
}
