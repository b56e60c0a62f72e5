// SPDX-License-Identifier: MIT
// llama.cpp's "-fa auto" asks once a context whether the device of the layers would compute FLASH_ATTN_EXT; if not, all
// of attention is done by the slower unfused operations, on the CPU, too, to which rockfill leaves it
// (docs/decode-log.md has what that costs). The question is a graph of one token for each sequence that is split among
// devices but neither allocated nor computed, the first that a new context makes. There the device takes what it leaves
// to the CPU in every other small batch: the products by weights (or the scheduler would not even ask about attention)
// and FLASH_ATTN_EXT.
//
// The question is over at the first allocation, computation or other batch size. Should a graph that is computed have
// come in between (of another context, in another thread), it is right all the same: products of any size are, and the
// CPU backend takes over a graph with an operation that rockfill lacks.
#include "border.h"

enum { ENDED = -1, BEGUN = 0 }; // else: the tokens of the graph in question

void rf_ggml_probe_begin(struct rf_ggml_device *device) {
    atomic_store(&device->probe, BEGUN);
}

void rf_ggml_probe_end(struct rf_ggml_device *device) {
    atomic_store(&device->probe, ENDED);
}

// A context allocates its caches before it asks.
void rf_ggml_probe_allocated(struct rf_ggml_device *device) {
    if (atomic_load(&device->probe) != BEGUN)
        rf_ggml_probe_end(device);
}

bool rf_ggml_probed(struct rf_ggml_device *device, int64_t tokens) {
    int_least64_t known = BEGUN;
    if (tokens < rf_plugin_env()->min_batch &&
        (atomic_compare_exchange_strong(&device->probe, &known, tokens) || known == tokens))
        return true;
    rf_ggml_probe_end(device);
    return false;
}
