// SPDX-License-Identifier: MIT
#include "scenario.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "llm.h"

enum { ANSWER_TOKENS = 8, OTHER_TOKENS = 33, PROMPT_TOKENS = 2, ROUNDS = 15 };

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static struct rf_llm *model_open(const struct rf_scenario_options *options, ggml_backend_dev_t device,
                                 enum llama_flash_attn_type attention) {
    struct rf_llm_params params = rf_llm_params_default(options->model, 512);
    params.devices = &device;
    params.device_count = device != NULL ? 1 : 0;
    params.threads = options->cpu_threads;
    params.attention = attention;
    return rf_llm_open(&params);
}

static bool answer(struct rf_llm *llm, const llama_token *prompt, int32_t count, llama_token *tokens, int32_t wanted) {
    bool computed = rf_llm_prompt_compute(llm, prompt, count);
    for (int32_t i = 0; computed && i < wanted; i++) {
        tokens[i] = rf_llm_greedy_token(llm);
        computed = tokens[i] >= 0 && rf_llm_token_compute(llm, tokens[i]);
    }
    return computed;
}

static const char question[] =
    "A mill by the river grinds rye in spring and wheat in autumn. In May forty sacks came in and thirty-one went out. "
    "Tell the miller what became of the rest. Answer:";

// One process, the same question before and after another one, then once more in a second context: all answers to it
// must be the same.
int rf_act_requests(const struct rf_scenario_options *options) {
    rf_scene_library_load(options->library);
    ggml_backend_dev_t device = rf_scene_device_find();
    llama_token answers[3][ANSWER_TOKENS], other[ANSWER_TOKENS], *prompt = NULL;
    memset(answers, 0, sizeof answers);
    bool right = true;
    for (int context = 0; right && context < 2; context++) {
        struct rf_llm *llm = model_open(options, device, LLAMA_FLASH_ATTN_TYPE_AUTO);
        int32_t count = llm != NULL ? rf_llm_text_tokenise(llm, question, false, &prompt) : -1;
        right = count > OTHER_TOKENS && answer(llm, prompt, count, answers[2 * context], ANSWER_TOKENS);
        if (right && context == 0)
            right = answer(llm, prompt, OTHER_TOKENS, other, ANSWER_TOKENS) &&
                    answer(llm, prompt, count, answers[1], ANSWER_TOKENS);
        free(prompt);
        rf_llm_close(llm);
    }
    for (int i = 0; right && i < 3; i++) {
        bool same = memcmp(answers[i], answers[0], sizeof answers[0]) == 0;
        printf("answer index=%d same=%d first=%d\n", i, same, answers[i][0]);
        right = right && same;
    }
    return !right ? RF_SCENARIO_WRONG : device != NULL ? RF_SCENARIO_RIGHT : RF_SCENARIO_NO_DEVICE;
}

// A prompt of two tokens, then `tokens` generated, timed as one. Negative on failure.
static double request_time(struct rf_llm *llm, int32_t tokens) {
    const llama_token prompt[PROMPT_TOKENS] = {100, 200};
    llama_token *generated = calloc((size_t)tokens + 1, sizeof *generated);
    double begin = now_s();
    bool computed = generated != NULL && answer(llm, prompt, PROMPT_TOKENS, generated, tokens);
    double seconds = now_s() - begin;
    free(generated);
    return computed ? seconds : -1;
}

// The CPU alone and the device in turn; whoever reads it takes each one's fastest round, the least disturbed.
int rf_act_decode(const struct rf_scenario_options *options) {
    rf_scene_library_load(options->library);
    ggml_backend_dev_t device = rf_scene_device_find();
    struct rf_llm *models[2] = {model_open(options, NULL, LLAMA_FLASH_ATTN_TYPE_AUTO),
                                model_open(options, device, LLAMA_FLASH_ATTN_TYPE_AUTO)};
    bool computed = models[0] != NULL && models[1] != NULL;
    for (int round = 0; computed && round <= ROUNDS; round++) {
        double seconds[2];
        // Whoever comes second finds the processor in the state that the first left: take turns.
        for (int i = 0; i < 2; i++) {
            int which = (i + round) % 2;
            seconds[which] = request_time(models[which], (int32_t)options->tokens);
        }
        computed = seconds[0] > 0 && seconds[1] > 0;
        // The first round warms caches up.
        if (round > 0)
            printf("decode index=%d cpu_s=%.4f device_s=%.4f\n", round, seconds[0], seconds[1]);
    }
    rf_llm_close(models[0]);
    rf_llm_close(models[1]);
    return !computed ? RF_SCENARIO_WRONG : device != NULL ? RF_SCENARIO_RIGHT : RF_SCENARIO_NO_DEVICE;
}
