// SPDX-License-Identifier: MIT
// rockfill-ops: single operators on a device against a reference in double precision. What its files share.
//
// Everything runs in one thread. Buffers are host memory (is_host), so that results are read where they lie.
#ifndef RF_OPS_H
#define RF_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ggml-alloc.h>
#include <ggml-backend.h>
#include <ggml.h>

#include "cases.h"

// The arithmetic that GGML_ROCKFILL_PATH asked for; AUTO: unknown, the loosest limits hold.
enum ops_path { OPS_PATH_AUTO, OPS_PATH_INT8, OPS_PATH_FP16, OPS_PATH_FP32 };

struct ops_world {
    ggml_backend_dev_t device, cpu;
    enum ops_path path;
    uint64_t seed;
    int runs_limit; // of a case's repetitions
};

// What became of a case. The first failure stays.
struct ops_report {
    bool failed, refused;
    char why[400];
    double nmse;      // the largest of the case's products
    double row_nmse;  // ... of one result column
    double worst;     // the largest error of an element as a part of its bound
    int64_t products; // that were checked
};

void ops_fail(struct ops_report *report, const char *format, ...) __attribute__((format(printf, 2, 3)));

// ops_world.c

// Loads ggml's CPU backend from beside libggml and the library, and picks the device (NULL: the first of the
// library's). False after one line on stderr.
bool ops_world_open(struct ops_world *world, const char *library, const char *device);

// How often a CPU backend was created so far: the device fell back to the CPU when it grows during a computation.
int ops_world_cpu_count(void);

// ops_scene.c

// Where tensors lie.
enum ops_place {
    OPS_WEIGHTS, // the device's buffers, marked as weights
    OPS_COMPUTE, // the device's buffers
    OPS_FOREIGN, // plain CPU memory
    OPS_PLACES
};

// Tensors in three buffers full of NaN, a guard on both sides of each tensor, and a graph over them.
struct ops_scene {
    const struct ops_world *world;
    struct ops_report *report;
    struct ggml_context *contexts[OPS_PLACES];
    ggml_backend_buffer_t buffers[OPS_PLACES]; // NULL: nothing lies there
    struct ggml_cgraph *graph;
    ggml_backend_t backend;
    char *snapshots[OPS_PLACES]; // what the buffers must hold after the next computation
};

// A scene reports its own failures; after one all its functions return false and do nothing.
bool ops_scene_open(struct ops_scene *scene, const struct ops_world *world, struct ops_report *report);
void ops_scene_close(struct ops_scene *scene);

// Gives every tensor without a view its place; to be called once all are made, before they are filled.
bool ops_scene_allocate(struct ops_scene *scene);

// Computes the graph `runs` times. Fails when bytes outside the products' results change, when a run differs from the
// first one in any bit, and when the device let the CPU do it.
bool ops_scene_compute(struct ops_scene *scene, int runs);

// Computes on the CPU backend, unguarded.
bool ops_scene_compute_cpu(struct ops_scene *scene);

// Whether the device claims all products of the graph. One that it does not claim is a failure unless `may_refuse`.
bool ops_scene_supported(struct ops_scene *scene, bool may_refuse);

// Compares the results of all products of the graph with the reference, each from its operands as they lie in memory.
bool ops_scene_check(struct ops_scene *scene);

bool ops_is_product(const struct ggml_tensor *node);

// ops_fill.c

struct ops_random {
    uint64_t state;
};

// A sequence that depends on the seed and the name alone, so that a filtered run repeats what a full run did.
struct ops_random ops_random_of(const struct ops_world *world, const char *name);
double ops_random_signed(struct ops_random *random); // in [-1, 1)
uint32_t ops_random_below(struct ops_random *random, uint32_t limit);

// Rounds to the tensor's type and writes through ggml; what a view leaves of its storage becomes NaN.
void ops_fill(const struct ggml_tensor *tensor, enum rf_case_fill fill, double value, struct ops_random *random);

// For each token different experts in random order.
void ops_fill_ids(const struct ggml_tensor *ids, int64_t experts, struct ops_random *random);

// ops_reference.c

// Compares a product's result with the sum in double precision over the operands as they lie in memory.
void ops_reference_check(const struct ops_world *world, const struct ggml_tensor *node, struct ops_report *report);

// NMSE of the result against the reference; without limits.
double ops_reference_nmse(const struct ops_world *world, const struct ggml_tensor *node);

// ops_product.c

// The product of a case: operands made in the scene, result in the graph.
struct ggml_tensor *ops_product_build(struct ops_scene *scene, const struct rf_case *item);
// Fills what ops_product_build made.
void ops_product_fill(const struct ops_scene *scene, const struct ggml_tensor *node, const struct rf_case *item);
void ops_product_run(const struct ops_world *world, const struct rf_case *item, struct ops_report *report);

// ops_graphs.c: cases that are more than one product.
struct ops_graph_case {
    const char *name;
    void (*run)(const struct ops_world *world, struct ops_report *report);
};
extern const struct ops_graph_case ops_graph_cases[];
extern const size_t ops_graph_case_count;

#endif
