// SPDX-License-Identifier: MIT
#include "sm_graph.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define BLOCK 32               // values that share a scale
#define COLUMN_GROUP 16        // columns are padded to a multiple
#define COLUMNS_BLOCKS 4       // of columns.comp's workgroup, along k; 16 columns
#define UNPACK_SIDE 8          // of unpack.glsl's workgroup: blocks and rows
#define PANEL_LIMIT 67108864.0 // RF_PANEL_LIMIT of src/plan.h: larger panels are cut
#define SUBGROUP 16
#define INVOCATIONS 1024
#define POINT_COLUMNS 512

static double ceil_div(double value, double by) {
    return ceil(value / by);
}

// --- the GPU's part -------------------------------------------------------------------------------------------------

// A product as rockfill cuts it: what its kernels are given.
struct piece {
    const struct sm_graph_request *request;
    struct sm_product product;
    struct rf_tile tile;
    uint32_t granules;
    bool has_min;
    double blocks, rows, columns; // rows and columns padded
    double panel_bytes, columns_bytes, weights_bytes;
    double cuts; // pieces of the panel
};

static struct piece plan(const struct sm_graph_request *request, const struct sm_product *product) {
    const struct rf_format_info *format = rf_format_info(product->format);
    struct rf_tile_query query = {.path = request->path,
                                  .subgroup_size = SUBGROUP,
                                  .max_invocations = INVOCATIONS,
                                  .rows = product->rows,
                                  .columns = request->ubatch};
    bool fp32 = request->path == RF_PATH_FP32;
    struct piece p = {.request = request,
                      .product = *product,
                      .tile = rf_tile_choose(&query),
                      .granules = fp32 ? 0 : format->granules,
                      .has_min = !fp32 && format->has_min};
    double block_bytes = rf_tile_block_bytes(request->path);
    p.blocks = ceil_div(product->k, BLOCK);
    p.rows = ceil_div(product->rows, p.tile.tm) * p.tile.tm;
    p.columns = ceil_div(request->ubatch, COLUMN_GROUP) * COLUMN_GROUP;
    p.panel_bytes = p.rows * p.blocks * (block_bytes + 4.0 * p.granules * (p.has_min ? 2 : 1));
    p.columns_bytes = p.columns * p.blocks * (block_bytes + (fp32 ? 0 : 12));
    p.weights_bytes = (double)product->rows * product->k / format->block_elems * format->block_bytes;
    p.cuts = ceil_div(p.panel_bytes, PANEL_LIMIT);
    return p;
}

static struct sm_entry wanted(const struct piece *p, enum sm_role role) {
    return (struct sm_entry){.role = role,
                             .path = p->request->path,
                             .format = p->product.format,
                             .tile = p->tile,
                             .granules = p->granules > 1 ? p->granules : 1,
                             .has_min = p->has_min};
}

static const struct sm_kernel *find(const struct sm_list *list, enum sm_role role, const struct piece *p, char *error,
                                    size_t error_bytes) {
    struct sm_entry entry = wanted(p, role);
    const struct sm_entry *found = sm_list_find(list, &entry);
    if (found != NULL)
        return &found->kernel;
    char text[80];
    sm_list_describe(&entry, text, sizeof text);
    snprintf(error, error_bytes, "the list lacks: %s", text);
    return NULL;
}

// Workgroups that run together share what they read through the L2 cache: a wave reads the columns once, and again for
// the next wave unless they stay in the cache. Panels are read once: a row group's workgroups follow each other.
static double tile_dram_bytes(const struct piece *p, double groups, const struct sm_constants *constants) {
    double wave = constants->gpu_cores * floor(constants->threads / p->tile.lanes);
    double reads = p->columns_bytes <= constants->l2_bytes ? 1 : ceil_div(groups, wave);
    return p->panel_bytes + reads * p->columns_bytes + (double)p->product.rows * p->request->ubatch * 4;
}

static struct sm_time tile_time(const struct sm_kernel *kernel, const struct piece *p,
                                const struct sm_constants *constants) {
    double groups = ceil_div(p->columns, p->tile.lanes * p->tile.tn) * (p->rows / p->tile.tm);
    struct sm_launch launch = {.groups = groups, .dram_bytes = tile_dram_bytes(p, groups, constants)};
    for (int i = 0; i < kernel->loops.count; i++)
        launch.trips[i] = 1;
    int hot = sm_loops_hot(&kernel->loops);
    if (hot >= 0)
        launch.trips[hot] = p->blocks;
    return sm_kernel_time(kernel, &launch, constants);
}

static struct sm_time straight_time(const struct sm_kernel *kernel, double groups, double dram_bytes,
                                    const struct sm_constants *constants) {
    struct sm_launch launch = {.groups = groups, .dram_bytes = dram_bytes};
    for (int i = 0; i < kernel->loops.count; i++)
        launch.trips[i] = 1;
    return sm_kernel_time(kernel, &launch, constants);
}

struct products_time {
    double raw_s, tile_s; // tile_s without the fixed cost of a dispatch
};

static bool add_columns(const struct piece *p, const struct sm_list *list, const struct sm_constants *constants,
                        struct sm_graph *graph, char *error, size_t error_bytes) {
    const struct sm_kernel *kernel = find(list, SM_ROLE_COLUMNS, p, error, error_bytes);
    if (kernel == NULL)
        return false;
    double groups = ceil_div(p->request->ubatch, COLUMN_GROUP) * ceil_div(p->blocks, COLUMNS_BLOCKS);
    double bytes = (double)p->request->ubatch * p->product.k * 4 + p->columns_bytes;
    graph->quantise_s += straight_time(kernel, groups, bytes, constants).total_s - constants->dispatch_s;
    graph->dispatches++;
    return true;
}

static bool add_product(const struct piece *p, const struct sm_list *list, const struct sm_constants *constants,
                        struct products_time *products, struct sm_graph *graph, char *error, size_t error_bytes) {
    const struct sm_kernel *unpack = find(list, SM_ROLE_UNPACK, p, error, error_bytes);
    const struct sm_kernel *tile = unpack == NULL ? NULL : find(list, SM_ROLE_TILE, p, error, error_bytes);
    if (tile == NULL)
        return false;
    double groups = ceil_div(p->blocks, UNPACK_SIDE) * ceil_div(p->rows, UNPACK_SIDE);
    struct sm_time unpack_time = straight_time(unpack, groups, p->weights_bytes + p->panel_bytes, constants);
    struct sm_time time = tile_time(tile, p, constants);
    graph->unpack_s += unpack_time.total_s - constants->dispatch_s;
    graph->matmul_dram_s += time.dram_s;
    products->raw_s += time.raw_s;
    products->tile_s += time.total_s - constants->dispatch_s;
    graph->dispatches += 2 * (int)p->cuts;
    return true;
}

static bool add_layer(const struct sm_graph_request *request, int layer, const struct sm_list *list,
                      const struct sm_constants *constants, struct products_time *products, struct sm_graph *graph,
                      char *error, size_t error_bytes) {
    struct sm_product all[SM_PRODUCTS_A_LAYER];
    sm_shape_products(request->shape, layer, all);
    bool quantised[SM_INPUT_COUNT] = {false};
    for (int i = 0; i < SM_PRODUCTS_A_LAYER; i++) {
        struct piece p = plan(request, &all[i]);
        if (!quantised[all[i].input] && !add_columns(&p, list, constants, graph, error, error_bytes))
            return false;
        quantised[all[i].input] = true;
        if (!add_product(&p, list, constants, products, graph, error, error_bytes))
            return false;
    }
    return true;
}

bool sm_graph_needs(const struct sm_graph_request *request, struct sm_list *list) {
    for (int layer = 0; layer < request->shape->layers; layer++) {
        struct sm_product products[SM_PRODUCTS_A_LAYER];
        sm_shape_products(request->shape, layer, products);
        for (int i = 0; i < SM_PRODUCTS_A_LAYER; i++) {
            struct piece p = plan(request, &products[i]);
            for (int role = SM_ROLE_COLUMNS; role <= SM_ROLE_TILE; role++) {
                struct sm_entry entry = wanted(&p, (enum sm_role)role);
                if (!sm_list_add(list, &entry))
                    return false;
            }
        }
    }
    return true;
}

// --- the CPU's part -------------------------------------------------------------------------------------------------

// Floats that the CPU's operations of a layer read and write for one token; products apart. The terms: two norms with
// their weight (r, w), biases of q, k, v (r, w), RoPE of q and k (r, w), k and v into the cache (r, half w),
// attention's q and result (r, w), SwiGLU (2 r, w), two residual sums (2 r, w).
static double streamed_floats(const struct sm_shape *shape) {
    double embd = shape->embd, kv = sm_shape_kv(shape), ff = shape->ff;
    double norms = 2 * 2 * embd, biases = 2 * (embd + 2 * kv), rope = 2 * (embd + kv), store = 2 * kv * 1.5;
    return norms + biases + rope + store + 2 * embd + 3 * ff + 2 * 3 * embd;
}

// Scores and weighted sums over the tokens that a token sees: half the prompt on average, as the mask is causal and
// masked blocks are skipped.
static double attention_s(const struct sm_graph_request *request, const struct sm_constants *constants) {
    double seen = (request->prompt + 1) / 2.0;
    double macs = 2 * seen * request->shape->embd * request->shape->layers;
    double rate = constants->cpu_cores * constants->cpu_hz * constants->cpu_macs_per_clock * constants->cpu_efficiency;
    return request->ubatch * macs / rate;
}

static double cpu_s(const struct sm_graph_request *request, const struct sm_constants *constants) {
    const struct sm_shape *shape = request->shape;
    double clocks = constants->cpu_cores * constants->cpu_hz;
    double pairs = shape->embd / shape->heads / 2.0; // angles of a token, for q and for k
    double streams = 4 * streamed_floats(shape) / constants->cpu_bytes_per_s;
    double silu = shape->ff * constants->cpu_exp_clocks / clocks;
    double angles = 2 * pairs * constants->cpu_sincos_clocks / clocks;
    double head = sm_shape_head_bytes(shape) / constants->cpu_bytes_per_s / request->prompt;
    return request->ubatch * (shape->layers * (streams + silu + angles) + head);
}

// Where memory is not coherent, one core cleans the inputs and the results' old lines and drops the results' lines.
static double maintain_s(const struct sm_graph_request *request, const struct sm_constants *constants) {
    const struct sm_shape *shape = request->shape;
    double inputs = 3.0 * shape->embd + shape->ff;
    double results = 3.0 * shape->embd + 2.0 * sm_shape_kv(shape) + 2.0 * shape->ff;
    return request->ubatch * 4 * (inputs + 2 * results) * shape->layers / constants->maintain_bytes_per_s;
}

bool sm_graph_run(const struct sm_graph_request *request, const struct sm_list *list,
                  const struct sm_constants *constants, struct sm_graph *graph, char *error, size_t error_bytes) {
    *graph = (struct sm_graph){0};
    struct products_time products = {0};
    for (int layer = 0; layer < request->shape->layers; layer++)
        if (!add_layer(request, layer, list, constants, &products, graph, error, error_bytes))
            return false;
    graph->splits = request->splits_per_layer * request->shape->layers;
    graph->submissions = graph->splits;
    graph->matmul_s = products.tile_s;
    graph->attention_s = attention_s(request, constants);
    graph->cpu_s = cpu_s(request, constants);
    graph->other_s = maintain_s(request, constants) + 2 * graph->splits * constants->split_s;
    graph->submit_s = graph->submissions * constants->submit_s + graph->dispatches * constants->dispatch_s;
    double total = graph->quantise_s + graph->unpack_s + graph->matmul_s + graph->attention_s + graph->other_s +
                   graph->cpu_s + graph->submit_s;
    graph->tps_raw = request->ubatch / products.raw_s;
    graph->tps_products = request->ubatch / products.tile_s;
    graph->tps_modelled = request->ubatch / total;
    graph->tps_derated = graph->tps_modelled * constants->derate;
    return true;
}

// --- published points -----------------------------------------------------------------------------------------------

static const struct sm_entry *find_point(const char *name, enum rf_format format, const struct sm_list *list) {
    const struct sm_entry *first = NULL;
    for (size_t i = 0; i < list->count; i++) {
        const struct sm_entry *entry = &list->entries[i];
        if (entry->role != SM_ROLE_POINT || strcmp(entry->name, name) != 0)
            continue;
        if (entry->format == format)
            return entry;
        if (first == NULL)
            first = entry;
    }
    return first;
}

static double point_s(const struct sm_entry *entry, const struct sm_product *product,
                      const struct sm_constants *constants) {
    const struct rf_format_info *format = rf_format_info(product->format);
    struct sm_launch launch = {.groups = ceil_div(product->rows, entry->bm) * ceil_div(POINT_COLUMNS, entry->bn),
                               .dram_bytes =
                                   (double)product->rows * product->k / format->block_elems * format->block_bytes +
                                   4.0 * POINT_COLUMNS * ((double)product->rows + product->k)};
    memcpy(launch.trips, entry->trips, sizeof launch.trips);
    launch.trips[0] = ceil_div(product->k, entry->k);
    return sm_kernel_time(&entry->kernel, &launch, constants).total_s;
}

double sm_graph_point(const char *name, const struct sm_list *list, const struct sm_constants *constants) {
    const struct sm_shape *shape = sm_shape_find("3b");
    double seconds = 0;
    for (int layer = 0; layer < shape->layers; layer++) {
        struct sm_product products[SM_PRODUCTS_A_LAYER];
        sm_shape_products(shape, layer, products);
        for (int i = 0; i < SM_PRODUCTS_A_LAYER; i++) {
            const struct sm_entry *entry = find_point(name, products[i].format, list);
            if (entry == NULL)
                return 0;
            seconds += point_s(entry, &products[i], constants);
        }
    }
    return POINT_COLUMNS / seconds;
}
