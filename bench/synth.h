/* SPDX-License-Identifier: MIT
 *
 * rockfill-synth: writes synthetic Qwen2 models as GGUF, for tests and benchmarks.
 *
 * Shared between the program's own files only. Nothing here is thread safe: the program has one thread. Functions that
 * return an int return an enum rf_synth_exit; on anything but RF_SYNTH_OK they have already printed their one line.
 *
 *   synth.c          options, the order of the work
 *   synth_shape.c    named shapes, which dimensions are possible, the list of tensors
 *   synth_mix.c      which tensor gets which type
 *   synth_meta.c     the GGUF header and the vocabulary
 *   synth_weights.c  random weights
 *   synth_file.c     the output file, which appears complete or not at all
 */
#ifndef RF_SYNTH_H
#define RF_SYNTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ggml.h"
#include "gguf.h"

enum rf_synth_exit {
    RF_SYNTH_OK = 0,
    RF_SYNTH_IO = 1,    /* the file could not be written, or memory ran out */
    RF_SYNTH_USAGE = 2, /* what was asked for is impossible */
};

/* Prints "rockfill-synth: ..." as one line on stderr and returns `code`. */
int rf_synth_fail(enum rf_synth_exit code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- shape ---- */

struct rf_synth_shape {
    const char *name; /* as on the command line; "custom" when any dimension was given by hand */
    int64_t layers;
    int64_t embd;     /* row length of every matrix but ffn_down */
    int64_t ff;       /* row length of ffn_down */
    int64_t heads;    /* query heads; embd / heads is the head's width */
    int64_t heads_kv; /* divides heads */
    int64_t vocab;
    bool untied; /* output.weight is a tensor of its own; else token_embd serves as output, too */
};

enum rf_synth_role {
    RF_SYNTH_EMBD,
    RF_SYNTH_HEAD,
    RF_SYNTH_Q,
    RF_SYNTH_K,
    RF_SYNTH_V,
    RF_SYNTH_ATTN_OUT,
    RF_SYNTH_GATE,
    RF_SYNTH_UP,
    RF_SYNTH_DOWN,
    RF_SYNTH_NORM, /* this and BIAS are vectors, always F32 */
    RF_SYNTH_BIAS,
};

struct rf_synth_tensor {
    char name[GGML_MAX_NAME];
    enum rf_synth_role role;
    int64_t layer; /* -1 outside the layers */
    int64_t cols;  /* elements in a row: the product's K */
    int64_t rows;  /* 1 for vectors */
};

/* Looks a shape up by name, with or without the "qwen2.5-" in front. False: no such shape. */
bool rf_synth_shape_find(const char *name, struct rf_synth_shape *shape);

/* The names, separated by spaces, for messages. */
const char *rf_synth_shape_names(void);

/* Refuses dimensions that no Qwen2 model can have. */
int rf_synth_shape_check(const struct rf_synth_shape *shape);

int64_t rf_synth_shape_count(const struct rf_synth_shape *shape);

/* Describes tensor `index` of 0 ... count - 1. */
void rf_synth_shape_tensor(const struct rf_synth_shape *shape, int64_t index, struct rf_synth_tensor *tensor);

/* ---- mix ---- */

struct rf_synth_mix {
    const char *name;    /* static storage */
    enum ggml_type base; /* the type of most matrices */
    int file_type;       /* general.file_type, -1 when llama.cpp has no number for it */
    bool pure;           /* every matrix has the base type (or its fallback) */
};

/* Looks a mix or a weight type up by name, whatever its case. False: no such name. */
bool rf_synth_mix_find(const char *name, struct rf_synth_mix *mix);

/* Writes the known names, separated by spaces, for messages; `size` in bytes. */
void rf_synth_mix_names(char *text, size_t size);

/* Chooses the tensor's type, fallback for odd row lengths included; refuses rows that no fallback fits. */
int rf_synth_mix_type(const struct rf_synth_mix *mix, const struct rf_synth_shape *shape,
                      const struct rf_synth_tensor *tensor, enum ggml_type *type);

/* ---- meta ---- */

enum rf_synth_vocab {
    RF_SYNTH_VOCAB_SPM,  /* byte tokens and made-up words: text goes in and comes out */
    RF_SYNTH_VOCAB_NONE, /* a size only: smaller and quicker to load, but only token ids go in */
};

/* The smallest vocabulary that holds the special tokens and all bytes. */
enum { RF_SYNTH_VOCAB_SPM_MIN = 260 };

struct rf_synth_model {
    struct gguf_context *gguf;  /* metadata and tensor list; owned */
    struct ggml_context *names; /* tensors without data that the list was made from; owned */
    enum ggml_type *types;      /* one a tensor, in the order of the list; owned */
    int64_t n_tensors;
    size_t meta_bytes; /* where tensor data begins, padded */
    size_t file_bytes;
    int64_t n_params;
};

/* Plans the whole file: types, offsets, metadata. `description` goes into the file. Free in every case. */
int rf_synth_meta_plan(struct rf_synth_model *model, const struct rf_synth_shape *shape, const struct rf_synth_mix *mix,
                       enum rf_synth_vocab vocab, const char *description);

void rf_synth_meta_free(struct rf_synth_model *model);

/* ---- weights ---- */

struct rf_synth_pool;

struct rf_synth_weights {
    uint64_t seed;
    struct rf_synth_pool *pools; /* owned list */
};

/* Random data of one tensor, read from front to back. */
struct rf_synth_stream {
    const struct rf_synth_pool *pool; /* belongs to the rf_synth_weights */
    uint64_t state;
};

/* Starts tensor `index`; what it yields depends on seed, index, role, row length and type alone. */
int rf_synth_weights_start(struct rf_synth_weights *weights, const struct rf_synth_tensor *tensor, int64_t index,
                           enum ggml_type type, struct rf_synth_stream *stream);

/* The size, of at most `limit_bytes`, that rf_synth_weights_read must be called with, except for the tensor's end. */
size_t rf_synth_weights_step(const struct rf_synth_stream *stream, size_t limit_bytes);

void rf_synth_weights_read(struct rf_synth_stream *stream, uint8_t *data, size_t data_bytes);

void rf_synth_weights_free(struct rf_synth_weights *weights);

/* ---- file ---- */

struct rf_synth_file {
    const char *path; /* borrowed */
    int fd;
    size_t bytes;
};

/* Makes a temporary file of `bytes` zeros beside `path`. With `reserve` the disk space is taken at once, so that a full
 * disk shows before the work; without, the file is one hole. A signal that ends the program removes the file. */
int rf_synth_file_open(struct rf_synth_file *file, const char *path, size_t bytes, bool reserve);

int rf_synth_file_write(struct rf_synth_file *file, size_t offset_bytes, const void *data, size_t data_bytes);

/* Moves the file to its place. Only one of keep and drop is called; both close the file. keep drops on failure. */
int rf_synth_file_keep(struct rf_synth_file *file);

void rf_synth_file_drop(struct rf_synth_file *file);

#endif
