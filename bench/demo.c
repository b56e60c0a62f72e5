// SPDX-License-Identifier: MIT

// rockfill-demo: the same prompt, answered with and without rockfill by an unmodified llama.cpp. See --help.
//
// bench/prompt.txt tells a story and asks for its first paragraph again. The right answer then stands in the prompt,
// so it can only come out if attention finds the right places in what the device computed; and models this small give
// it with clear probabilities, where a free answer soon meets two words that are equally likely.

#include "demo_options.h"
#include "demo_worker.h"
#include "result.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The CPU and the device round differently, so two tokens that the CPU itself holds equally likely may change places.
// Above this difference in probability it is no rounding any more.
static const double margin_max = 0.02;

enum { REPETITIONS_MAX = 99 };

struct run {
    const struct rf_demo_options *options;
    const char *path;
    char name[128];
    struct rf_demo_worker accelerated, cpu;
    struct rf_demo_reply device; // of OPEN
    struct rf_demo_reply accelerated_answer, cpu_answer;
    double pp_cpu, pp_accelerated, tg_cpu, tg_accelerated; // medians, tokens a second
};

static void model_name_set(struct run *run) {
    const char *slash = strrchr(run->path, '/');
    snprintf(run->name, sizeof run->name, "%s", slash ? slash + 1 : run->path);
    char *suffix = strrchr(run->name, '.');
    if (suffix && suffix != run->name && strcmp(suffix, ".gguf") == 0) {
        *suffix = '\0';
    }
}

static void no_device_explain(const struct rf_demo_options *options) {
    fprintf(stderr,
            "error: %s offers no device named %s. What to do:\n"
            "  - see that a Vulkan driver is installed and works (vulkaninfo --summary), and that you may open\n"
            "    /dev/dri/renderD* (group render)\n"
            "  - to try it without a GPU, install Mesa's software device (Debian: mesa-vulkan-drivers) and run again\n"
            "    with --software llvmpipe, or with %s=llvmpipe in the environment\n",
            options->library, options->registry, RF_DEMO_DEVICE_VARIABLE);
}

static bool worker_open(struct rf_demo_worker *worker, const struct run *run, bool accelerated, bool software,
                        struct rf_demo_reply *reply) {
    const struct rf_demo_request request = {.kind = RF_DEMO_OPEN, .software = software};
    reply->status = RF_DEMO_FAILED;
    if (!rf_demo_worker_start(worker, run->options, run->path, accelerated)) {
        return false;
    }
    rf_demo_worker_ask(worker, &request, reply);
    if (reply->status != RF_DEMO_DONE) {
        rf_demo_worker_stop(worker);
    }
    return reply->status == RF_DEMO_DONE;
}

static bool accelerated_open(struct run *run) {
    const struct rf_demo_options *options = run->options;
    fprintf(stderr, "%s: loading with %s\n", run->name, options->library);
    if (worker_open(&run->accelerated, run, true, false, &run->device)) {
        return true;
    }
    bool may_ask = options->software && !getenv(RF_DEMO_DEVICE_VARIABLE);
    if (run->device.status == RF_DEMO_NO_DEVICE && may_ask) {
        fprintf(stderr, "%s: no GPU; asking for the software device %s\n", run->name, options->software);
        return worker_open(&run->accelerated, run, true, true, &run->device);
    }
    return false;
}

static bool answers_get(struct run *run) {
    struct rf_demo_request request = {.kind = RF_DEMO_ANSWER};
    printf("\n-- %s with %s on %s:\n", run->name, run->options->registry, run->device.device);
    fflush(stdout);
    rf_demo_worker_ask(&run->accelerated, &request, &run->accelerated_answer);
    if (run->accelerated_answer.status != RF_DEMO_DONE) {
        return false;
    }
    request.compare = true;
    memcpy(request.expected, run->accelerated_answer.tokens, sizeof request.expected);
    printf("\n\n-- %s on the CPU alone:\n", run->name);
    fflush(stdout);
    rf_demo_worker_ask(&run->cpu, &request, &run->cpu_answer);
    printf("\n\n");
    fflush(stdout);
    return run->cpu_answer.status == RF_DEMO_DONE;
}

static bool speed_take(struct rf_demo_worker *worker, enum rf_demo_request_kind kind, double *speed) {
    const struct rf_demo_request request = {.kind = kind};
    struct rf_demo_reply reply;
    rf_demo_worker_ask(worker, &request, &reply);
    *speed = reply.tokens_per_second;
    return reply.status == RF_DEMO_DONE;
}

// In turns, so that a computer that grows warm or busy meanwhile slows both alike.
static bool speeds_measure(struct run *run) {
    double pp_cpu[REPETITIONS_MAX], pp_accelerated[REPETITIONS_MAX];
    double tg_cpu[REPETITIONS_MAX], tg_accelerated[REPETITIONS_MAX];
    size_t count = (size_t)run->options->repetitions;
    if (count == 0) {
        return true;
    }
    for (size_t i = 0; i < count; i++) {
        fprintf(stderr, "%s: measuring, %zu of %zu\n", run->name, i + 1, count);
        if (!speed_take(&run->cpu, RF_DEMO_PROMPT_SPEED, &pp_cpu[i]) ||
            !speed_take(&run->accelerated, RF_DEMO_PROMPT_SPEED, &pp_accelerated[i]) ||
            !speed_take(&run->cpu, RF_DEMO_DECODE_SPEED, &tg_cpu[i]) ||
            !speed_take(&run->accelerated, RF_DEMO_DECODE_SPEED, &tg_accelerated[i])) {
            return false;
        }
    }
    run->pp_cpu = rf_result_median(pp_cpu, count);
    run->pp_accelerated = rf_result_median(pp_accelerated, count);
    run->tg_cpu = rf_result_median(tg_cpu, count);
    run->tg_accelerated = rf_result_median(tg_accelerated, count);
    return true;
}

static bool answers_agree(const struct run *run) {
    // NaN compares false, so that it would not pass for a small margin.
    return run->cpu_answer.first_difference < 0 || run->cpu_answer.margin <= margin_max;
}

static void verdict_print(const struct run *run) {
    const struct rf_demo_reply *cpu = &run->cpu_answer;
    printf("prompt: %d tokens%s\n", cpu->prompt_tokens, cpu->templated ? " in the model's chat template" : "");
    if (cpu->first_difference < 0) {
        printf("tokens: all %d equal\n", run->options->new_tokens);
    } else {
        printf("tokens: equal up to new token %d of %d; there the CPU prefers its own by %.3f %%: %s\n",
               cpu->first_difference, run->options->new_tokens, 100.0 * cpu->margin,
               answers_agree(run) ? "rounding" : "FAILURE, this is more than rounding (2 %)");
    }
    fflush(stdout);
}

static void speeds_print(const struct run *run) {
    if (run->options->repetitions > 0) {
        printf("tokens a second (median of %d)   pp%d    tg%d\n", run->options->repetitions, RF_DEMO_PROMPT_TOKENS,
               RF_DEMO_NEW_TOKENS);
        printf("  CPU                        %9.1f %7.1f\n", run->pp_cpu, run->tg_cpu);
        printf("  %-26s %9.1f %7.1f\n", run->options->registry, run->pp_accelerated, run->tg_accelerated);
    }
    printf("device: %s\n", run->device.device);
    if (run->device.software_device) {
        printf("This device is a software rasteriser: a CPU program posing as a GPU. Its speed means nothing.\n");
    }
    if (run->device.gemma) {
        printf("Gemma is provided under and subject to the Gemma Terms of Use found at ai.google.dev/gemma/terms\n");
    }
    fflush(stdout);
}

static json_t *run_describe(const struct run *run) {
    const struct rf_demo_reply *cpu = &run->cpu_answer;
    json_t *difference = cpu->first_difference < 0 ? json_null()
                                                   : json_pack("{s:i, s:f}", "position", (int)cpu->first_difference,
                                                               "cpu_margin", cpu->margin);
    json_t *description = json_pack("{s:s, s:s, s:b, s:i, s:i, s:b, s:o}", "model", run->name, "device",
                                    run->device.device, "software_device", (int)run->device.software_device,
                                    "prompt_tokens", (int)cpu->prompt_tokens, "new_tokens", run->options->new_tokens,
                                    "tokens_equal", cpu->first_difference < 0, "first_difference", difference);
    if (description && run->options->repetitions > 0) {
        json_object_set_new(description, "pp_cpu", json_real(run->pp_cpu));
        json_object_set_new(description, "pp_rockfill", json_real(run->pp_accelerated));
        json_object_set_new(description, "tg_cpu", json_real(run->tg_cpu));
        json_object_set_new(description, "tg_rockfill", json_real(run->tg_accelerated));
    }
    return description;
}

static enum rf_demo_exit run_compute(struct run *run, json_t *runs) {
    struct rf_demo_reply opened;
    if (!accelerated_open(run)) {
        return run->device.status == RF_DEMO_NO_DEVICE ? RF_DEMO_EXIT_NO_DEVICE : RF_DEMO_EXIT_FAILED;
    }
    fprintf(stderr, "%s: loading on the CPU alone\n", run->name);
    bool both = worker_open(&run->cpu, run, false, false, &opened);
    bool done = both && answers_get(run);
    if (done) {
        verdict_print(run);
        done = speeds_measure(run);
    }
    done = (both ? rf_demo_worker_stop(&run->cpu) : false) && done;
    done = rf_demo_worker_stop(&run->accelerated) && done;
    if (!done) {
        return RF_DEMO_EXIT_FAILED;
    }
    speeds_print(run);
    json_array_append_new(runs, run_describe(run));
    return answers_agree(run) ? RF_DEMO_EXIT_EQUAL : RF_DEMO_EXIT_DIFFERENT;
}

// Runs every model, for a difference in one says nothing about the next; but stops where nothing more can work.
static enum rf_demo_exit models_compute(const struct rf_demo_options *options, json_t *runs) {
    enum rf_demo_exit worst = RF_DEMO_EXIT_EQUAL;
    for (int i = 0; i < options->model_count; i++) {
        struct run run = {.options = options, .path = options->models[i]};
        model_name_set(&run);
        enum rf_demo_exit exit_status = run_compute(&run, runs);
        if (exit_status == RF_DEMO_EXIT_NO_DEVICE) {
            no_device_explain(options);
            return exit_status;
        }
        worst = exit_status > worst ? exit_status : worst;
    }
    return worst;
}

int main(int argc, char **argv) {
    struct rf_demo_options options;
    switch (rf_demo_options_parse(&options, argc, argv)) {
    case RF_DEMO_OPTIONS_HELP_SHOWN:
        return RF_DEMO_EXIT_EQUAL;
    case RF_DEMO_OPTIONS_BAD:
        return RF_DEMO_EXIT_BAD_INPUT;
    case RF_DEMO_OPTIONS_GO:
        break;
    }
    signal(SIGPIPE, SIG_IGN); // a worker that died is reported, see demo_worker.h
    json_t *result = rf_result_create();
    json_t *runs = json_array();
    enum rf_demo_exit exit_status = models_compute(&options, runs);
    json_object_set_new(result, "runs", runs);
    if (exit_status == RF_DEMO_EXIT_EQUAL || exit_status == RF_DEMO_EXIT_DIFFERENT) {
        if (rf_result_write(result, options.out)) {
            printf("\nwritten: %s\n", options.out);
        } else {
            exit_status = RF_DEMO_EXIT_FAILED;
        }
    }
    json_decref(result);
    free(options.prompt);
    return exit_status;
}
