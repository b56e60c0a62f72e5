// SPDX-License-Identifier: MIT
#pragma once

// A child process that holds one model, either on the accelerated devices or on the CPU alone, and answers the demo's
// requests one at a time. Separate processes because
//   - the one for the CPU never loads the library, so it truly is the CPU alone, whatever kind of device the library
//   is,
//   - all memory of a model goes back when its worker ends,
//   - an abort in a driver ends a worker and is reported, not the demo.
// The demo asks one worker at a time: ggml's threads wait busily and would ruin each other's speed. It must ignore
// SIGPIPE, or a worker's death would be its own.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { RF_DEMO_NEW_TOKENS = 64, RF_DEMO_PROMPT_TOKENS = 512, RF_DEMO_PROMPT_TOKENS_MIN = 256 };

// Where the library looks for the device that its user asks for by name.
#define RF_DEMO_DEVICE_VARIABLE "GGML_ROCKFILL_DEVICE"

// What the command line asks for; strings belong to main and outlive the workers.
struct rf_demo_options {
    const char *library;  // backend library to load for the accelerated worker
    const char *registry; // name of its backend in ggml's registry
    const char *software; // software device to ask the library for when there is no GPU; NULL: none
    const char *ggml;     // folder of ggml's backends; NULL: where libggml lies
    char *prompt;         // the user's text, allocated
    const char *out;      // measurement file
    char *const *models;
    int model_count;
    int repetitions; // of each speed; 0: only the answers
    int new_tokens;  // of an answer, at most RF_DEMO_NEW_TOKENS
    int threads;     // 0: rf_host_threads_default()
    bool verbose;
};

enum rf_demo_request_kind {
    RF_DEMO_OPEN, // first, and once
    RF_DEMO_ANSWER,
    RF_DEMO_PROMPT_SPEED,
    RF_DEMO_DECODE_SPEED,
    RF_DEMO_CLOSE // has no reply; sent by rf_demo_worker_stop
};

struct rf_demo_request {
    enum rf_demo_request_kind kind;
    bool software;                        // OPEN: ask the library for the software device by name
    bool compare;                         // ANSWER: compare with `expected`
    int32_t expected[RF_DEMO_NEW_TOKENS]; // tokens of the other worker's answer
};

enum rf_demo_status { RF_DEMO_DONE, RF_DEMO_FAILED, RF_DEMO_NO_DEVICE };

struct rf_demo_reply {
    enum rf_demo_status status;
    // OPEN
    char device[256]; // descriptions of the devices, comma-separated; empty for the CPU alone
    bool software_device;
    bool gemma;
    // ANSWER
    bool templated; // prompt was put in the model's chat template
    int32_t prompt_tokens;
    int32_t tokens[RF_DEMO_NEW_TOKENS];
    int32_t first_difference; // index of the first new token that is not the expected one; -1: none
    double margin;            // this worker's probability of its own token there less that of the expected one
    // PROMPT_SPEED, DECODE_SPEED
    double tokens_per_second;
};

struct rf_demo_worker {
    pid_t pid;
    int request_fd, reply_fd;
    const char *name; // for messages
};

// Starts a worker for one model. False after a line on stderr.
bool rf_demo_worker_start(struct rf_demo_worker *worker, const struct rf_demo_options *options, const char *model,
                          bool accelerated);

// Sends one request and waits for its reply. When the worker fails or dies, says so and sets reply->status FAILED.
void rf_demo_worker_ask(struct rf_demo_worker *worker, const struct rf_demo_request *request,
                        struct rf_demo_reply *reply);

// Ends the worker and waits for it. False when it did not end cleanly (crashed while giving back its resources).
bool rf_demo_worker_stop(struct rf_demo_worker *worker);
