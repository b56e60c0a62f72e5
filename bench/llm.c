// SPDX-License-Identifier: MIT

#include "llm.h"
#include "host.h"
#include "logits.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

enum { LAYERS_ALL = 999, BATCH_TOKENS_DEFAULT = 512, DEVICES_MAX = 16 };

struct rf_llm {
    struct llama_model *model;
    struct llama_context *context;
    const struct llama_vocab *vocabulary;
    struct llama_batch batch; // room for batch_tokens, used where every position's logits are wanted
    int32_t batch_tokens;
    bool every_output;
};

static enum ggml_log_level log_threshold = GGML_LOG_LEVEL_ERROR;

static void log_print(enum ggml_log_level level, const char *text, void *user) {
    static bool last_was_shown;
    (void)user;
    // A continued line belongs to the one before it. NONE carries plain output (no level), which counts as info.
    bool shown = level == GGML_LOG_LEVEL_CONT
                     ? last_was_shown
                     : (level == GGML_LOG_LEVEL_NONE ? GGML_LOG_LEVEL_INFO : level) >= log_threshold;
    last_was_shown = shown;
    if (shown) {
        fputs(text, stderr);
    }
}

void rf_llm_log_set(bool everything) {
    log_threshold = everything ? GGML_LOG_LEVEL_DEBUG : GGML_LOG_LEVEL_ERROR;
    llama_log_set(log_print, NULL);
}

// Folder of the libggml in use, without a slash at the end; the caller frees it.
static char *ggml_folder_find(void) {
    Dl_info info;
    void *symbol = dlsym(RTLD_DEFAULT, "ggml_backend_load_all_from_path");
    if (!symbol || dladdr(symbol, &info) == 0 || !info.dli_fname) {
        return NULL;
    }
    const char *slash = strrchr(info.dli_fname, '/');
    return slash ? strndup(info.dli_fname, (size_t)(slash - info.dli_fname)) : strdup(".");
}

static bool backend_is_uninvited(ggml_backend_reg_t backend) {
    for (size_t i = 0; i < ggml_backend_reg_dev_count(backend); i++) {
        if (ggml_backend_dev_type(ggml_backend_reg_dev_get(backend, i)) == GGML_BACKEND_DEVICE_TYPE_ACCEL) {
            return true;
        }
    }
    return false;
}

static void uninvited_backends_drop(void) {
    for (size_t i = ggml_backend_reg_count(); i-- > 0;) {
        ggml_backend_reg_t backend = ggml_backend_reg_get(i);
        if (backend_is_uninvited(backend)) {
            ggml_backend_unload(backend);
        }
    }
}

bool rf_llm_backends_load(const char *directory) {
    char *own_folder = directory ? NULL : ggml_folder_find();
    const char *folder = directory ? directory : own_folder;
    unsetenv("GGML_BACKEND_PATH");
    llama_log_set(log_print, NULL);
    llama_backend_init();
    ggml_backend_load_all_from_path(folder);
    uninvited_backends_drop();
    bool loaded = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU) != NULL;
    if (!loaded) {
        fprintf(stderr, "error: no CPU backend of ggml (libggml-cpu*.so) in %s; name its folder with --ggml\n",
                folder ? folder : "the default folders");
    }
    free(own_folder);
    return loaded;
}

bool rf_llm_library_load(const char *path) {
    enum ggml_log_level before = log_threshold;
    // dlopen searches the system for a name without a slash, and never the current folder.
    char *full_path = realpath(path, NULL);
    if (!full_path) {
        fprintf(stderr, "error: %s: no such library; build it, or name another with --library\n", path);
        return false;
    }
    log_threshold = before < GGML_LOG_LEVEL_INFO ? before : GGML_LOG_LEVEL_INFO;
    bool loaded = ggml_backend_load(full_path) != NULL;
    log_threshold = before;
    if (!loaded) {
        fprintf(stderr, "error: %s: ggml did not take it as a backend; the line above says why\n", full_path);
    }
    free(full_path);
    return loaded;
}

size_t rf_llm_devices_find(const char *registry, ggml_backend_dev_t *devices, size_t capacity) {
    size_t found = 0;
    for (size_t i = 0; i < ggml_backend_dev_count() && found < capacity; i++) {
        ggml_backend_dev_t device = ggml_backend_dev_get(i);
        if (strcasecmp(ggml_backend_reg_name(ggml_backend_dev_backend_reg(device)), registry) == 0) {
            devices[found++] = device;
        }
    }
    return found;
}

bool rf_llm_device_is_software(ggml_backend_dev_t device) {
    // ggml does not hand on Vulkan's device type; these are the software drivers there are.
    static const char *const names[] = {"llvmpipe", "lavapipe", "softpipe", "swiftshader"};
    const char *description = ggml_backend_dev_description(device);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcasestr(description, names[i])) {
            return true;
        }
    }
    return ggml_backend_dev_type(device) == GGML_BACKEND_DEVICE_TYPE_CPU;
}

struct rf_llm_params rf_llm_params_default(const char *path, uint32_t context_tokens) {
    return (struct rf_llm_params){
        .path = path, .context_tokens = context_tokens, .attention = LLAMA_FLASH_ATTN_TYPE_AUTO};
}

static struct llama_model *model_load(const struct rf_llm_params *params) {
    ggml_backend_dev_t devices[DEVICES_MAX + 1] = {NULL};
    if (params->device_count > DEVICES_MAX) {
        fprintf(stderr, "error: %zu devices are more than the %d this program can use\n", params->device_count,
                DEVICES_MAX);
        return NULL;
    }
    for (size_t i = 0; i < params->device_count; i++) {
        devices[i] = params->devices[i];
    }
    struct llama_model_params model_params = llama_model_default_params();
    model_params.devices = devices; // an empty list, unlike NULL, keeps every device out
    model_params.n_gpu_layers = params->device_count > 0 ? LAYERS_ALL : 0;
    model_params.use_extra_bufts = !params->plain_weights;
    struct llama_model *model = llama_model_load_from_file(params->path, model_params);
    if (!model) {
        fprintf(stderr, "error: %s: not loaded; check that it is a whole GGUF file and that memory suffices\n",
                params->path);
    }
    return model;
}

static struct llama_context *context_create(struct llama_model *model, const struct rf_llm_params *params,
                                            int32_t batch_tokens) {
    struct llama_context_params context_params = llama_context_default_params();
    context_params.n_ctx = params->context_tokens;
    context_params.n_batch = (uint32_t)batch_tokens;
    context_params.n_ubatch = (uint32_t)batch_tokens;
    // One row of logits is all that generation reads; reserving a row a token would cost half a GiB with Gemma.
    context_params.n_outputs_max = params->every_output ? (uint32_t)batch_tokens : 1;
    context_params.n_threads = params->threads > 0 ? params->threads : rf_host_threads_default();
    context_params.n_threads_batch = context_params.n_threads;
    context_params.flash_attn_type = params->attention;
    struct llama_context *context = llama_init_from_model(model, context_params);
    if (!context) {
        fprintf(stderr, "error: %s: no context of %u tokens; try a shorter one, or free memory\n", params->path,
                params->context_tokens);
    }
    return context;
}

struct rf_llm *rf_llm_open(const struct rf_llm_params *params) {
    struct rf_llm *llm = calloc(1, sizeof *llm);
    if (!llm) {
        fprintf(stderr, "error: out of memory\n");
        return NULL;
    }
    llm->batch_tokens = params->batch_tokens ? (int32_t)params->batch_tokens : BATCH_TOKENS_DEFAULT;
    llm->every_output = params->every_output;
    llm->model = model_load(params);
    llm->context = llm->model ? context_create(llm->model, params, llm->batch_tokens) : NULL;
    if (!llm->context) {
        rf_llm_close(llm);
        return NULL;
    }
    llm->vocabulary = llama_model_get_vocab(llm->model);
    llm->batch = llama_batch_init(llm->batch_tokens, 0, 1);
    return llm;
}

void rf_llm_close(struct rf_llm *llm) {
    if (!llm) {
        return;
    }
    if (llm->batch.token) {
        llama_batch_free(llm->batch);
    }
    if (llm->context) {
        llama_free(llm->context);
    }
    if (llm->model) {
        llama_model_free(llm->model);
    }
    free(llm);
}

int32_t rf_llm_vocabulary_size(const struct rf_llm *llm) {
    return llama_vocab_n_tokens(llm->vocabulary);
}

bool rf_llm_is_gemma(const struct rf_llm *llm) {
    char architecture[64];
    return llama_model_meta_val_str(llm->model, "general.architecture", architecture, sizeof architecture) > 0 &&
           strncasecmp(architecture, "gemma", 5) == 0;
}

char *rf_llm_prompt_wrap(const struct rf_llm *llm, const char *text, bool *templated) {
    const char *template = llama_model_chat_template(llm->model, NULL);
    struct llama_chat_message message = {.role = "user", .content = text};
    *templated = template != NULL;
    if (!template) {
        return strdup(text);
    }
    int32_t length = llama_chat_apply_template(template, &message, 1, true, NULL, 0);
    char *prompt = length >= 0 ? malloc((size_t)length + 1) : NULL;
    if (!prompt) {
        fprintf(stderr, "error: the model's chat template is none that libllama knows\n");
        return NULL;
    }
    llama_chat_apply_template(template, &message, 1, true, prompt, length);
    prompt[length] = '\0';
    return prompt;
}

int32_t rf_llm_text_tokenise(const struct rf_llm *llm, const char *text, bool parse_special, llama_token **tokens) {
    int32_t length = (int32_t)strlen(text);
    // A negative answer is the number of tokens there will be.
    int32_t count = -llama_tokenize(llm->vocabulary, text, length, NULL, 0, true, parse_special);
    *tokens = count > 0 ? malloc((size_t)count * sizeof **tokens) : NULL;
    if (!*tokens || llama_tokenize(llm->vocabulary, text, length, *tokens, count, true, parse_special) != count) {
        fprintf(stderr, "error: the model's tokenizer makes nothing of a text of %d bytes\n", length);
        free(*tokens);
        *tokens = NULL;
        return -1;
    }
    return count;
}

void rf_llm_token_print(const struct rf_llm *llm, llama_token token, FILE *file) {
    char piece[256];
    int32_t length = llama_token_to_piece(llm->vocabulary, token, piece, sizeof piece, 0, false);
    if (length > 0) {
        fwrite(piece, 1, (size_t)length, file);
    }
}

static bool tokens_compute(struct rf_llm *llm, const llama_token *tokens, int32_t count) {
    // llama.cpp only reads the tokens, but its batch has no const.
    int32_t status = llama_decode(llm->context, llama_batch_get_one((llama_token *)(uintptr_t)tokens, count));
    if (status != 0) {
        fprintf(stderr, "error: computing %d tokens failed (llama_decode: %d); --verbose shows the library's log\n",
                count, status);
    }
    return status == 0;
}

bool rf_llm_prompt_compute(struct rf_llm *llm, const llama_token *tokens, int32_t count) {
    llama_memory_clear(llama_get_memory(llm->context), false);
    for (int32_t done = 0; done < count; done += llm->batch_tokens) {
        int32_t part = count - done < llm->batch_tokens ? count - done : llm->batch_tokens;
        if (!tokens_compute(llm, tokens + done, part)) {
            return false;
        }
    }
    return true;
}

bool rf_llm_token_compute(struct rf_llm *llm, llama_token token) {
    return tokens_compute(llm, &token, 1);
}

const float *rf_llm_logits(const struct rf_llm *llm) {
    return llama_get_logits_ith(llm->context, -1);
}

llama_token rf_llm_greedy_token(const struct rf_llm *llm) {
    const float *logits = rf_llm_logits(llm);
    int32_t size = rf_llm_vocabulary_size(llm);
    llama_token best = -1;
    if (!isfinite(rf_logits_log_sum(logits, (size_t)size))) {
        return -1;
    }
    for (llama_token token = 0; token < size; token++) {
        if ((best < 0 || logits[token] > logits[best]) && !llama_vocab_is_eog(llm->vocabulary, token)) {
            best = token;
        }
    }
    return best;
}

static void batch_fill(struct rf_llm *llm, const llama_token *tokens, int32_t first, int32_t count) {
    llm->batch.n_tokens = count;
    for (int32_t i = 0; i < count; i++) {
        llm->batch.token[i] = tokens[first + i];
        llm->batch.pos[i] = first + i;
        llm->batch.n_seq_id[i] = 1;
        llm->batch.seq_id[i][0] = 0;
        llm->batch.logits[i] = true;
    }
}

bool rf_llm_logits_visit(struct rf_llm *llm, const llama_token *tokens, int32_t count, rf_llm_logits_visitor visit,
                         void *user) {
    if (!llm->every_output) {
        fprintf(stderr, "error: the model was not opened with every_output\n");
        return false;
    }
    llama_memory_clear(llama_get_memory(llm->context), false);
    for (int32_t done = 0; done < count; done += llm->batch_tokens) {
        int32_t part = count - done < llm->batch_tokens ? count - done : llm->batch_tokens;
        batch_fill(llm, tokens, done, part);
        int32_t status = llama_decode(llm->context, llm->batch);
        if (status != 0) {
            fprintf(stderr, "error: computing %d tokens failed (llama_decode: %d); --verbose shows the library's log\n",
                    part, status);
            return false;
        }
        for (int32_t i = 0; i < part; i++) {
            if (!visit(user, done + i, llama_get_logits_ith(llm->context, i))) {
                return false;
            }
        }
    }
    return true;
}

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// A linear congruential sequence: which tokens they are does not change a dense model's work.
static void tokens_invent(const struct rf_llm *llm, llama_token *tokens, int32_t count) {
    uint32_t state = 1;
    for (int32_t i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        tokens[i] = (llama_token)((state >> 8) % (uint32_t)rf_llm_vocabulary_size(llm));
    }
}

static bool tokens_feed(struct rf_llm *llm, const llama_token *tokens, int32_t count, bool at_once) {
    if (at_once) {
        return rf_llm_prompt_compute(llm, tokens, count);
    }
    llama_memory_clear(llama_get_memory(llm->context), false);
    for (int32_t i = 0; i < count; i++) {
        if (!rf_llm_token_compute(llm, tokens[i])) {
            return false;
        }
        // Sampling would wait for each token's logits, so the time must contain that wait.
        llama_synchronize(llm->context);
    }
    return true;
}

static double speed_measure(struct rf_llm *llm, int32_t count, bool at_once) {
    llama_token *tokens = malloc((size_t)count * sizeof *tokens);
    if (!tokens) {
        fprintf(stderr, "error: out of memory\n");
        return -1.0;
    }
    tokens_invent(llm, tokens, count);
    double start = seconds_now();
    bool computed = tokens_feed(llm, tokens, count, at_once);
    llama_synchronize(llm->context);
    double seconds = seconds_now() - start;
    free(tokens);
    return computed && seconds > 0.0 ? count / seconds : -1.0;
}

double rf_llm_prompt_speed(struct rf_llm *llm, int32_t count) {
    return speed_measure(llm, count, true);
}

double rf_llm_decode_speed(struct rf_llm *llm, int32_t count) {
    return speed_measure(llm, count, false);
}
