// SPDX-License-Identifier: MIT
// A micro-batch of a whole model: rockfill's products on the GPU, everything else on the CPU, one after the other.
// Pure. Formulae: docs/speed-model.md.
#pragma once

#include "sm_list.h"
#include "sm_shape.h"

struct sm_graph_request {
    const struct sm_shape *shape;
    enum rf_path path;
    int ubatch;
    int prompt;           // tokens; attention looks back over half of them on average, the output matrix is read once
    int splits_per_layer; // changes between CPU and GPU
};

struct sm_graph {
    double tps_raw, tps_products, tps_modelled, tps_derated;
    // Seconds of a micro-batch; `share` in JSON are these over their sum.
    double quantise_s, unpack_s, matmul_s, attention_s, other_s, cpu_s, submit_s;
    int dispatches, submissions, splits;
    double matmul_dram_s; // of matmul_s, what DRAM alone would take: whether it bounds
};

// false, with a line in `error`, when the list lacks a kernel that the micro-batch needs.
bool sm_graph_run(const struct sm_graph_request *request, const struct sm_list *list,
                  const struct sm_constants *constants, struct sm_graph *graph, char *error, size_t error_bytes);

// Adds what the micro-batch runs to `list`, without the machine code. false: out of memory.
bool sm_graph_needs(const struct sm_graph_request *request, struct sm_list *list);

// Tokens a second of Qwen2.5-3B with all products in the tiles of the list's points of this name, products alone, at
// micro-batches of 512. Formats that the name's points lack take the first of them. 0 when there are none.
double sm_graph_point(const char *name, const struct sm_list *list, const struct sm_constants *constants);
