// SPDX-License-Identifier: MIT
// Preloaded into an unmodified llama.cpp: makes ggml answer the plug-in, and nobody else, like another release would.
// SCENARIO_HOST=version, overhead, op or type says in what it differs.
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include <ggml.h>

// Whether the plug-in made the call that returns to `address`, and the test wants the answer `what` to differ.
static bool lie_wanted(const char *what, void *address) {
    const char *wanted = getenv("SCENARIO_HOST");
    Dl_info info;
    return wanted != NULL && strcmp(wanted, what) == 0 && dladdr(address, &info) != 0 && info.dli_fname != NULL &&
           strstr(info.dli_fname, "rockfill") != NULL;
}

static void *next(const char *name) {
    return dlsym(RTLD_NEXT, name);
}

const char *ggml_version(void) {
    const char *(*real)(void);
    *(void **)&real = next("ggml_version");
    return lie_wanted("version", __builtin_return_address(0)) ? "0.9.9" : real();
}

size_t ggml_tensor_overhead(void) {
    size_t (*real)(void);
    *(void **)&real = next("ggml_tensor_overhead");
    return lie_wanted("overhead", __builtin_return_address(0)) ? 400 : real();
}

const char *ggml_op_name(enum ggml_op op) {
    const char *(*real)(enum ggml_op);
    *(void **)&real = next("ggml_op_name");
    // An operation more before it shifts all numbers.
    return real(lie_wanted("op", __builtin_return_address(0)) ? (enum ggml_op)(op - 1) : op);
}

const char *ggml_type_name(enum ggml_type type) {
    const char *(*real)(enum ggml_type);
    *(void **)&real = next("ggml_type_name");
    return real(lie_wanted("type", __builtin_return_address(0)) ? (enum ggml_type)(type - 1) : type);
}
