// SPDX-License-Identifier: MIT

#include "demo_worker.h"
#include "llm.h"
#include "logits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEVICES_MAX = 16, CONTEXT_TOKENS = 1024 };

struct worker_state {
    const struct rf_demo_options *options;
    const char *model;
    bool accelerated;
    struct rf_llm *llm;
};

static bool bytes_read(int fd, void *bytes, size_t size) {
    for (size_t done = 0; done < size;) {
        ssize_t part = read(fd, (char *)bytes + done, size - done);
        if (part == 0 || (part < 0 && errno != EINTR)) {
            return false;
        }
        done += part > 0 ? (size_t)part : 0;
    }
    return true;
}

static bool bytes_write(int fd, const void *bytes, size_t size) {
    for (size_t done = 0; done < size;) {
        ssize_t part = write(fd, (const char *)bytes + done, size - done);
        if (part < 0 && errno != EINTR) {
            return false;
        }
        done += part > 0 ? (size_t)part : 0;
    }
    return true;
}

static void devices_describe(const ggml_backend_dev_t *devices, size_t count, struct rf_demo_reply *reply) {
    size_t used = 0;
    for (size_t i = 0; i < count && used < sizeof reply->device; i++) {
        int length = snprintf(reply->device + used, sizeof reply->device - used, "%s%s", i ? ", " : "",
                              ggml_backend_dev_description(devices[i]));
        used += length > 0 ? (size_t)length : 0;
        reply->software_device = reply->software_device || rf_llm_device_is_software(devices[i]);
    }
}

static void model_open(struct worker_state *state, bool software, struct rf_demo_reply *reply) {
    const struct rf_demo_options *options = state->options;
    ggml_backend_dev_t devices[DEVICES_MAX];
    struct rf_llm_params params = rf_llm_params_default(state->model, CONTEXT_TOKENS);
    rf_llm_log_set(options->verbose);
    if (software && setenv(RF_DEMO_DEVICE_VARIABLE, options->software, 1) != 0) {
        fprintf(stderr, "error: out of memory\n");
        return;
    }
    if (!rf_llm_backends_load(options->ggml) || (state->accelerated && !rf_llm_library_load(options->library))) {
        return;
    }
    if (state->accelerated) {
        params.devices = devices;
        params.device_count = rf_llm_devices_find(options->registry, devices, DEVICES_MAX);
        devices_describe(devices, params.device_count, reply);
        if (params.device_count == 0) {
            reply->status = RF_DEMO_NO_DEVICE;
            return;
        }
    }
    params.threads = options->threads;
    state->llm = rf_llm_open(&params);
    if (state->llm) {
        reply->gemma = rf_llm_is_gemma(state->llm);
        reply->status = RF_DEMO_DONE;
    }
}

// Writes the answer token by token as it comes, and notes the first that differs from the expected answer. From there
// on the two have different texts before them, so later differences mean nothing.
static bool answer_generate(struct rf_llm *llm, int count, const struct rf_demo_request *request,
                            struct rf_demo_reply *reply) {
    size_t size = (size_t)rf_llm_vocabulary_size(llm);
    for (int i = 0; i < count; i++) {
        llama_token token = rf_llm_greedy_token(llm);
        if (token < 0) {
            fprintf(stderr, "error: new token %d: the logits hold a NaN or an infinity\n", i);
            return false;
        }
        if (request->compare && reply->first_difference < 0 && token != request->expected[i]) {
            const float *logits = rf_llm_logits(llm);
            reply->first_difference = i;
            reply->margin = rf_logits_probability(logits, size, (size_t)token) -
                            rf_logits_probability(logits, size, (size_t)request->expected[i]);
        }
        reply->tokens[i] = token;
        rf_llm_token_print(llm, token, stdout);
        fflush(stdout);
        if (i + 1 < count && !rf_llm_token_compute(llm, token)) {
            return false;
        }
    }
    return true;
}

static bool prompt_is_long_enough(int32_t count) {
    if (count < RF_DEMO_PROMPT_TOKENS_MIN || count > CONTEXT_TOKENS - RF_DEMO_NEW_TOKENS) {
        fprintf(stderr, "error: the prompt has %d tokens; the demo wants %d to %d, choose another text with --prompt\n",
                count, RF_DEMO_PROMPT_TOKENS_MIN, CONTEXT_TOKENS - RF_DEMO_NEW_TOKENS);
        return false;
    }
    return true;
}

static void prompt_answer(struct worker_state *state, const struct rf_demo_request *request,
                          struct rf_demo_reply *reply) {
    llama_token *tokens = NULL;
    char *prompt = rf_llm_prompt_wrap(state->llm, state->options->prompt, &reply->templated);
    reply->first_difference = -1;
    reply->prompt_tokens = prompt ? rf_llm_text_tokenise(state->llm, prompt, reply->templated, &tokens) : -1;
    if (reply->prompt_tokens >= 0 && prompt_is_long_enough(reply->prompt_tokens) &&
        rf_llm_prompt_compute(state->llm, tokens, reply->prompt_tokens) &&
        answer_generate(state->llm, state->options->new_tokens, request, reply)) {
        reply->status = RF_DEMO_DONE;
    }
    free(tokens);
    free(prompt);
}

static void request_serve(struct worker_state *state, const struct rf_demo_request *request,
                          struct rf_demo_reply *reply) {
    reply->status = RF_DEMO_FAILED;
    switch (request->kind) {
    case RF_DEMO_OPEN:
        model_open(state, request->software, reply);
        return;
    case RF_DEMO_ANSWER:
        prompt_answer(state, request, reply);
        return;
    case RF_DEMO_PROMPT_SPEED:
        reply->tokens_per_second = rf_llm_prompt_speed(state->llm, RF_DEMO_PROMPT_TOKENS);
        break;
    case RF_DEMO_DECODE_SPEED:
        reply->tokens_per_second = rf_llm_decode_speed(state->llm, RF_DEMO_NEW_TOKENS);
        break;
    case RF_DEMO_CLOSE:
        return;
    }
    reply->status = reply->tokens_per_second > 0.0 ? RF_DEMO_DONE : RF_DEMO_FAILED;
}

static int worker_run(struct worker_state *state, int request_fd, int reply_fd) {
    struct rf_demo_request request;
    // End of file: the demo has died. It would not do as the goodbye, for a younger worker holds the same end open.
    while (bytes_read(request_fd, &request, sizeof request) && request.kind != RF_DEMO_CLOSE) {
        struct rf_demo_reply reply;
        memset(&reply, 0, sizeof reply);
        request_serve(state, &request, &reply);
        if (!bytes_write(reply_fd, &reply, sizeof reply)) {
            break;
        }
    }
    rf_llm_close(state->llm);
    return 0;
}

static void ends_close(const int ends[2]) {
    close(ends[0]);
    close(ends[1]);
}

static bool pipes_make(int request[2], int reply[2]) {
    if (pipe(request) != 0) {
        return false;
    }
    if (pipe(reply) != 0) {
        ends_close(request);
        return false;
    }
    return true;
}

bool rf_demo_worker_start(struct rf_demo_worker *worker, const struct rf_demo_options *options, const char *model,
                          bool accelerated) {
    int request[2], reply[2];
    bool piped = pipes_make(request, reply);
    fflush(NULL); // or the child would print the parent's buffers again
    worker->pid = piped ? fork() : -1;
    if (worker->pid == 0) {
        struct worker_state state = {.options = options, .model = model, .accelerated = accelerated};
        close(request[1]);
        close(reply[0]);
        exit(worker_run(&state, request[0], reply[1]));
    }
    if (worker->pid < 0) {
        fprintf(stderr, "error: no process for %s: %s; free some memory or processes\n", model, strerror(errno));
        if (piped) {
            ends_close(request);
            ends_close(reply);
        }
        return false;
    }
    close(request[0]);
    close(reply[1]);
    *worker = (struct rf_demo_worker){worker->pid, request[1], reply[0], accelerated ? "accelerated" : "CPU"};
    return true;
}

void rf_demo_worker_ask(struct rf_demo_worker *worker, const struct rf_demo_request *request,
                        struct rf_demo_reply *reply) {
    if (!bytes_write(worker->request_fd, request, sizeof *request) ||
        !bytes_read(worker->reply_fd, reply, sizeof *reply)) {
        memset(reply, 0, sizeof *reply);
        reply->status = RF_DEMO_FAILED;
        fprintf(stderr, "error: the %s run ended before it answered\n", worker->name);
    }
}

bool rf_demo_worker_stop(struct rf_demo_worker *worker) {
    const struct rf_demo_request goodbye = {.kind = RF_DEMO_CLOSE};
    int status = 0;
    bytes_write(worker->request_fd, &goodbye, sizeof goodbye); // fails only when it has ended, which waitpid reports
    close(worker->request_fd);
    close(worker->reply_fd);
    while (waitpid(worker->pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFSIGNALED(status)) {
        fprintf(stderr, "error: the %s run was ended by signal %d (%s)\n", worker->name, WTERMSIG(status),
                strsignal(WTERMSIG(status)));
    } else if (WEXITSTATUS(status) != 0) {
        fprintf(stderr, "error: the %s run ended with status %d\n", worker->name, WEXITSTATUS(status));
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
