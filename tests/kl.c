// SPDX-License-Identifier: MIT

// rockfill-kl: how far a device's logits are from the CPU's over a text. See --help.

#include "divergence.h"
#include "kl_options.h"
#include "llm.h"
#include "text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kl_exit { EXIT_WITHIN = 0, EXIT_BEYOND = 1, EXIT_NO_DEVICE = 2, EXIT_BAD_INPUT = 3, EXIT_FAILED = 4 };
enum { DEVICES_MAX = 16, REFERENCES_MAX = 2 };

// Logits of every position, count rows of `vocabulary` floats.
struct logits {
    float *rows;
    int32_t count, vocabulary;
};

// One model computed over the text: where its logits go, and what they are compared with on the way.
struct pass {
    struct logits *keep;                              // NULL: they are not kept
    const struct logits *reference[REFERENCES_MAX];   // NULL: none
    struct rf_divergence *divergence[REFERENCES_MAX]; // from the reference beside it
    int32_t count, vocabulary;
};

struct comparison {
    const struct rf_kl_options *options;
    char *text;
    struct logits exact, cpu;
    struct rf_divergence cpu_from_exact, device_from_exact, device_from_cpu;
};

static bool position_take(void *user, int32_t position, const float *logits) {
    struct pass *pass = user;
    size_t size = (size_t)pass->vocabulary;
    for (int i = 0; i < REFERENCES_MAX; i++) {
        if (pass->reference[i]) {
            rf_divergence_add(pass->divergence[i], pass->reference[i]->rows + (size_t)position * size, logits, size);
        }
    }
    if (pass->keep) {
        memcpy(pass->keep->rows + (size_t)position * size, logits, size * sizeof *logits);
    }
    if ((position + 1) % 64 == 0 || position + 1 == pass->count) {
        fprintf(stderr, "  %d of %d positions\n", position + 1, pass->count);
    }
    return true;
}

static bool room_make(struct pass *pass) {
    bool made = true;
    if (pass->keep) {
        float *rows = malloc((size_t)pass->count * (size_t)pass->vocabulary * sizeof *rows);
        *pass->keep = (struct logits){rows, pass->count, pass->vocabulary};
        made = rows != NULL;
    }
    for (int i = 0; i < REFERENCES_MAX && made; i++) {
        made = !pass->reference[i] || rf_divergence_create(pass->divergence[i], (size_t)pass->count);
    }
    if (!made) {
        fprintf(stderr, "error: no memory for %d x %d logits; ask for fewer --tokens\n", pass->count, pass->vocabulary);
    }
    return made;
}

static bool references_match(const struct pass *pass) {
    for (int i = 0; i < REFERENCES_MAX; i++) {
        const struct logits *reference = pass->reference[i];
        if (reference && (reference->count != pass->count || reference->vocabulary != pass->vocabulary)) {
            fprintf(stderr, "error: --exact and --model have different vocabularies; they must be one model\n");
            return false;
        }
    }
    return true;
}

static bool pass_compute(struct pass *pass, const struct comparison *comparison, struct rf_llm *llm) {
    llama_token *tokens = NULL;
    int32_t count = rf_llm_text_tokenise(llm, comparison->text, false, &tokens);
    bool enough = count >= 2;
    if (count >= 0 && !enough) {
        fprintf(stderr, "error: %s: fewer than 2 tokens; name a longer --text\n", comparison->options->text_path);
    }
    pass->count = count < comparison->options->tokens ? count : comparison->options->tokens;
    pass->vocabulary = rf_llm_vocabulary_size(llm);
    bool computed = enough && references_match(pass) && room_make(pass) &&
                    rf_llm_logits_visit(llm, tokens, pass->count, position_take, pass);
    free(tokens);
    return computed;
}

// Opens the model on the devices (none: the CPU alone), computes the pass, and gives the model's memory back.
static bool model_compute(struct pass *pass, const struct comparison *comparison, const char *path,
                          const ggml_backend_dev_t *devices, size_t device_count) {
    const struct rf_kl_options *options = comparison->options;
    struct rf_llm_params params = rf_llm_params_default(path, (uint32_t)options->tokens);
    params.devices = devices;
    params.device_count = device_count;
    params.batch_tokens = (uint32_t)options->batch;
    params.every_output = true;
    params.threads = options->threads;
    params.attention = options->attention;
    fprintf(stderr, "%s on %s\n", path, device_count ? ggml_backend_dev_description(devices[0]) : "the CPU alone");
    struct rf_llm *llm = rf_llm_open(&params);
    bool computed = llm && pass_compute(pass, comparison, llm);
    rf_llm_close(llm);
    return computed;
}

// The library is loaded only after the CPU's turn, so that it cannot take part there whatever kind of device it has.
static bool cpu_compute(struct comparison *comparison) {
    const struct rf_kl_options *options = comparison->options;
    struct pass exact = {.keep = &comparison->exact};
    struct pass cpu = {.keep = &comparison->cpu};
    if (options->exact) {
        if (!model_compute(&exact, comparison, options->exact, NULL, 0)) {
            return false;
        }
        cpu.reference[0] = &comparison->exact;
        cpu.divergence[0] = &comparison->cpu_from_exact;
    }
    return model_compute(&cpu, comparison, options->model, NULL, 0);
}

static bool device_compute(struct comparison *comparison, const ggml_backend_dev_t *devices, size_t device_count) {
    struct pass pass = {.reference = {&comparison->cpu}, .divergence = {&comparison->device_from_cpu}};
    if (comparison->options->exact) {
        pass.reference[1] = &comparison->exact;
        pass.divergence[1] = &comparison->device_from_exact;
    }
    return model_compute(&pass, comparison, comparison->options->model, devices, device_count);
}

static struct rf_divergence_summary summary_print(const char *what, struct rf_divergence *divergence) {
    struct rf_divergence_summary summary = rf_divergence_summarise(divergence);
    printf("%-20s mean %.3e  p99.9 %.3e  max %.3e at position %zu  same top %.2f %%\n", what, summary.mean,
           summary.p999, summary.max, summary.max_position, 100.0 * summary.same_top);
    return summary;
}

static bool bound_holds(const char *name, double value, double bound) {
    // Written so that NaN is beyond every bound, even when none is given.
    if (!(value <= bound)) {
        printf("FAILURE: %s is %.3e, above the bound %.3e\n", name, value, bound);
        return false;
    }
    return true;
}

static enum kl_exit verdict_print(struct comparison *comparison) {
    const struct rf_kl_options *options = comparison->options;
    bool within = true;
    printf("divergence (nats) over %d positions of %s\n", comparison->cpu.count, options->text_path);
    if (options->exact) {
        double cpu = summary_print("CPU from exact", &comparison->cpu_from_exact).mean;
        double device = summary_print("device from exact", &comparison->device_from_exact).mean;
        double bound = isfinite(options->exact_factor) ? options->exact_factor * cpu : INFINITY;
        within = bound_holds("mean divergence of device from exact", device, bound);
    }
    struct rf_divergence_summary summary = summary_print("device from CPU", &comparison->device_from_cpu);
    within = bound_holds("mean divergence of device from CPU", summary.mean, options->bound) && within;
    within = bound_holds("largest divergence of device from CPU", summary.max, options->max_bound) && within;
    return within ? EXIT_WITHIN : EXIT_BEYOND;
}

static enum kl_exit comparison_compute(struct comparison *comparison) {
    const struct rf_kl_options *options = comparison->options;
    ggml_backend_dev_t devices[DEVICES_MAX];
    rf_llm_log_set(options->verbose);
    if (!rf_llm_backends_load(options->ggml) || !cpu_compute(comparison) || !rf_llm_library_load(options->library)) {
        return EXIT_FAILED;
    }
    size_t device_count = rf_llm_devices_find(options->registry, devices, DEVICES_MAX);
    if (device_count == 0) {
        fprintf(stderr,
                "error: %s offers no device named %s; install a Vulkan driver, or name a software device in "
                "GGML_ROCKFILL_DEVICE\n",
                options->library, options->registry);
        return EXIT_NO_DEVICE;
    }
    return device_compute(comparison, devices, device_count) ? verdict_print(comparison) : EXIT_FAILED;
}

int main(int argc, char **argv) {
    struct rf_kl_options options;
    switch (rf_kl_options_parse(&options, argc, argv)) {
    case RF_KL_OPTIONS_HELP_SHOWN:
        return EXIT_WITHIN;
    case RF_KL_OPTIONS_BAD:
        return EXIT_BAD_INPUT;
    case RF_KL_OPTIONS_GO:
        break;
    }
    struct comparison comparison = {.options = &options, .text = rf_text_read(options.text_path)};
    enum kl_exit exit_status = comparison.text ? comparison_compute(&comparison) : EXIT_BAD_INPUT;
    free(comparison.text);
    free(comparison.exact.rows);
    free(comparison.cpu.rows);
    rf_divergence_free(&comparison.cpu_from_exact);
    rf_divergence_free(&comparison.device_from_exact);
    rf_divergence_free(&comparison.device_from_cpu);
    return exit_status;
}
