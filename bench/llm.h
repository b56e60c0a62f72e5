// SPDX-License-Identifier: MIT
#pragma once

// A language model run through an unmodified libllama, for the demo, the benchmarks and the tests: which devices
// compute, what they answer, how fast. Uses the public headers only.
//
// Every function that can fail prints one line to stderr saying what failed and returns false or NULL. Nothing here
// is thread safe; and ggml's CPU threads wait busily, so no two models may compute at the same time on one computer.

#include <ggml-backend.h>
#include <llama.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Logs of llama.cpp and its backends on stderr: errors only (false, as at the start), or everything.
void rf_llm_log_set(bool everything);

// Loads ggml's CPU backend from `directory` (NULL: where libggml itself lies). Other backends that lie there and join
// every computation uninvited (BLAS) are dropped, and GGML_BACKEND_PATH is not followed: "the CPU alone" shall mean it.
bool rf_llm_backends_load(const char *directory);

// Loads one backend library by path; what it says while loading (why a device was skipped) is shown.
bool rf_llm_library_load(const char *path);

// Puts the devices of the backend named `registry` (as ggml_backend_reg_name, any case) into `devices`; returns how
// many there are, at most `capacity`.
size_t rf_llm_devices_find(const char *registry, ggml_backend_dev_t *devices, size_t capacity);

// True when the device is a program posing as a GPU: its speed says nothing about any GPU.
bool rf_llm_device_is_software(ggml_backend_dev_t device);

struct rf_llm_params {
    const char *path;                  // GGUF file
    const ggml_backend_dev_t *devices; // compute here with every layer offloaded; not read when device_count is 0
    size_t device_count;               // 0: the CPU alone, nothing offloaded
    uint32_t context_tokens;           // longest text, prompt and answer together
    uint32_t batch_tokens;             // most tokens computed at once; 0: 512, as llama.cpp
    bool every_output;                 // logits for every token (rf_llm_logits_visit) instead of a batch's last;
                                       // costs batch_tokens x vocabulary floats
    int threads;                       // CPU threads; 0: rf_host_threads_default()
    enum llama_flash_attn_type attention;
    bool plain_weights; // keep the CPU from repacking weights into its own layouts
};

// Parameters as llama.cpp's own programs default them, for the CPU alone.
struct rf_llm_params rf_llm_params_default(const char *path, uint32_t context_tokens);

struct rf_llm;

// Loads the model and makes a context. NULL on failure. Free with rf_llm_close, which gives all its memory back.
struct rf_llm *rf_llm_open(const struct rf_llm_params *params);
void rf_llm_close(struct rf_llm *llm); // NULL is fine

int32_t rf_llm_vocabulary_size(const struct rf_llm *llm);

// True for models under the Gemma terms, of which users must be told.
bool rf_llm_is_gemma(const struct rf_llm *llm);

// The user's text as the model wants it: in its chat template if it has one, else as it is. `*templated` says which.
// The caller frees the string. NULL on failure.
char *rf_llm_prompt_wrap(const struct rf_llm *llm, const char *text, bool *templated);

// Tokens of `text`, beginning-of-text included where the model wants one. `parse_special` reads the marks of chat
// templates as the tokens they name. Returns how many, -1 on failure; the caller frees *tokens.
int32_t rf_llm_text_tokenise(const struct rf_llm *llm, const char *text, bool parse_special, llama_token **tokens);

// Writes the token's text to `file`, bytes as the model gave them (a character may span tokens).
void rf_llm_token_print(const struct rf_llm *llm, llama_token token, FILE *file);

// Forgets everything, then computes `count` tokens in batches. Logits of the last are in rf_llm_logits.
bool rf_llm_prompt_compute(struct rf_llm *llm, const llama_token *tokens, int32_t count);

// Computes one more token.
bool rf_llm_token_compute(struct rf_llm *llm, llama_token token);

// Logits after the last token computed: rf_llm_vocabulary_size floats, valid until the next computation.
const float *rf_llm_logits(const struct rf_llm *llm);

// The most probable token that does not end the text (so that every run has the same length, as --ignore-eos does).
// -1 when the logits hold a NaN or an infinity.
llama_token rf_llm_greedy_token(const struct rf_llm *llm);

// Called for each position in order with the logits after that token; false stops.
typedef bool (*rf_llm_logits_visitor)(void *user, int32_t position, const float *logits);

// Forgets everything, computes `count` tokens and hands the logits of every position to `visit`. The model must have
// been opened with every_output. False when computing failed or the visitor stopped.
bool rf_llm_logits_visit(struct rf_llm *llm, const llama_token *tokens, int32_t count, rf_llm_logits_visitor visit,
                         void *user);

// Tokens a second for a prompt of `count` tokens from an empty context, and for `count` single tokens (decode) from
// an empty context: what llama-bench calls ppN and tgN. Token values are pseudo-random, the same each time; nothing
// is sampled. Returns a negative number on failure.
double rf_llm_prompt_speed(struct rf_llm *llm, int32_t count);
double rf_llm_decode_speed(struct rf_llm *llm, int32_t count);
