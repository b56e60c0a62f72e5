// SPDX-License-Identifier: MIT
// What plans a product without a device: formats, tiles, splits, routes, and the list of cases.
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "format.h"
#include "kernels.h"
#include "matmul.h"
#include "routing.h"
#include "split.h"
#include "tile.h"

static void formats(void) {
    for (int i = 0; i < RF_FORMAT_COUNT; i++) {
        const struct rf_format_info *info = rf_format_info((enum rf_format)i);
        UNIT_CHECK(info->name != NULL && rf_format_by_name(info->name) == (enum rf_format)i, "format %d", i);
        UNIT_CHECK(info->block_elems == 1 || info->block_elems == 32 || info->block_elems == 256, "%s", info->name);
        UNIT_CHECK(info->is_float == (info->block_elems == 1), "%s", info->name);
        UNIT_CHECK(info->granules == 1 || info->granules == 2, "%s", info->name);
        UNIT_CHECK((rf_kernel_code((enum rf_kernel)(RF_KERNEL_UNPACK + i))->words == NULL) == info->is_float, "%s",
                   info->name);
    }
    static const char *const others[] = {"", "q", "Q4_0", "q4_0 ", "q4_2", "iq2_xxs", "q8_K", "nvfp4", "f64", "i32"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        UNIT_CHECK(rf_format_by_name(others[i]) == RF_FORMAT_COUNT, "\"%s\"", others[i]);
    }
}

static void kernels(void) {
    for (int i = 0; i < RF_KERNEL_COUNT; i++) {
        const struct rf_kernel_code *code = rf_kernel_code((enum rf_kernel)i);
        if (code->words != NULL) {
            UNIT_CHECK(code->words[0] == 0x07230203 && code->bytes % 4 == 0 && code->bytes > 20, "%s", code->name);
        }
    }
}

static void tile_check(const struct rf_tile_query *query) {
    struct rf_tile tile = rf_tile_choose(query);
    UNIT_CHECK(tile.lanes > 0 && tile.lanes % 16 == 0 && tile.lanes <= query->max_invocations && tile.tm > 0 &&
                   tile.tn > 0,
               "path %d, software %d, subgroup %u, %u invocations, %lld columns: %u lanes", query->path,
               query->software, query->subgroup_size, query->max_invocations, (long long)query->columns, tile.lanes);
}

// 64 invocations are what a device must have to be used.
static void tiles(void) {
    static const uint32_t subgroups[] = {0, 1, 4, 8, 16, 32, 64, 128}, invocations[] = {64, 128, 256, 512, 1024};
    static const int64_t sizes[] = {0, 1, 15, 16, 17, 63, 64, 127, 128, 255, 256, 1000, 262144};
    for (int path = 0; path < RF_PATH_COUNT; path++) {
        for (size_t s = 0; s < sizeof subgroups / sizeof subgroups[0]; s++) {
            for (size_t i = 0; i < sizeof invocations / sizeof invocations[0]; i++) {
                for (size_t n = 0; n < sizeof sizes / sizeof sizes[0]; n++) {
                    struct rf_tile_query query = {.path = (enum rf_path)path,
                                                  .subgroup_size = subgroups[s],
                                                  .max_invocations = invocations[i],
                                                  .rows = sizes[(n + s) % (sizeof sizes / sizeof sizes[0])],
                                                  .columns = sizes[n]};
                    tile_check(&query);
                    query.software = true;
                    tile_check(&query);
                }
            }
        }
    }
    UNIT_CHECK(rf_tile_block_bytes(RF_PATH_INT8) == 32 && rf_tile_block_bytes(RF_PATH_FP16) == 64 &&
               rf_tile_block_bytes(RF_PATH_FP32) == 128);
}

static int64_t min64(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static uint64_t round_up(uint64_t value, uint64_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

// The limits as split.h states them.
static bool piece_fits(const struct rf_split_needs *n, const struct rf_split *s) {
    uint64_t matrices = (uint64_t)(s->panels * s->matrices), columns = (uint64_t)s->columns, rows = (uint64_t)s->rows;
    return s->rows <= n->row_limit &&
           (uint64_t)s->panels * round_up(rows, n->row_multiple) * n->panel_row_bytes <= n->panel_limit &&
           (uint64_t)(s->panels - 1) * n->weights_matrix + (rows - 1) * n->weights_row + n->weights_last <=
               n->weights_limit &&
           matrices * round_up(columns, 16) * n->column_bytes <= n->column_limit &&
           (matrices - 1) * n->activations_matrix + (columns - 1) * n->activations_column + n->activations_last <=
               n->activations_limit &&
           (matrices - 1) * n->result_matrix + (columns - 1) * n->result_column + rows * 4 <= n->result_limit;
}

static struct rf_split_needs random_needs(void) {
    uint32_t tm = 1u << unit_random_below(5);
    int64_t k_blocks = 1 + unit_random_below(200), rows = 1 + unit_random_below(9000);
    int64_t columns = 1 + unit_random_below(3000);
    struct rf_split_needs needs = {.rows = rows,
                                   .columns = columns,
                                   .panels = 1 + unit_random_below(12),
                                   .matrices = 1 + unit_random_below(6),
                                   .row_limit = (int64_t)tm * (1 + unit_random_below(65535)),
                                   .row_multiple = tm,
                                   .panel_row_bytes = (uint64_t)k_blocks * (32 + unit_random_below(100)),
                                   .column_bytes = (uint64_t)k_blocks * (32 + unit_random_below(100))};
    needs.weights_row = (uint64_t)k_blocks * (18 + unit_random_below(120));
    needs.weights_last = needs.weights_row;
    needs.weights_matrix = needs.weights_row * (uint64_t)rows + unit_random_below(4096);
    needs.activations_column = (uint64_t)k_blocks * 128 + unit_random_below(64);
    needs.activations_last = (uint64_t)k_blocks * 128;
    needs.activations_matrix = needs.activations_column * (uint64_t)columns;
    needs.result_column = (uint64_t)rows * 4;
    needs.result_matrix = needs.result_column * (uint64_t)columns;
    uint64_t *limits[] = {&needs.panel_limit, &needs.column_limit, &needs.weights_limit, &needs.activations_limit,
                          &needs.result_limit};
    for (int i = 0; i < 5; i++) {
        *limits[i] = (uint64_t)(1 + unit_random_below(256)) << (6 + unit_random_below(22));
    }
    return needs;
}

static void splits(void) {
    int possible = 0, cut = 0;
    for (int i = 0; i < 20000; i++) {
        struct rf_split_needs n = random_needs();
        struct rf_split s, least = {1, 1, min64(16, n.columns), min64(n.row_multiple, n.rows)};
        bool chosen = rf_split_choose(&n, &s);
        UNIT_CHECK(chosen == piece_fits(&n, &least), "needs %d", i);
        if (!chosen) {
            continue;
        }
        possible++;
        cut += s.panels < n.panels || s.matrices < n.matrices || s.columns < n.columns || s.rows < n.rows;
        UNIT_CHECK(piece_fits(&n, &s), "needs %d", i);
        UNIT_CHECK(s.panels >= 1 && s.panels <= n.panels && s.matrices >= 1 && s.matrices <= n.matrices, "needs %d", i);
        UNIT_CHECK(s.columns >= 1 && s.rows >= 1, "needs %d", i);
        UNIT_CHECK(s.columns == n.columns || (s.columns < n.columns && s.columns % 16 == 0), "needs %d", i);
        UNIT_CHECK(s.rows == n.rows || (s.rows < n.rows && s.rows % n.row_multiple == 0), "needs %d", i);
    }
    UNIT_CHECK(possible > 1000 && cut > 500 && possible < 20000, "%d possible, %d of them cut: a poor sample", possible,
               cut);
}

static void split_whole(void) {
    struct rf_split_needs n = random_needs();
    n.panel_limit = n.column_limit = n.weights_limit = n.activations_limit = n.result_limit = UINT64_MAX;
    n.row_limit = n.rows;
    struct rf_split s;
    UNIT_CHECK(rf_split_choose(&n, &s) && s.panels == n.panels && s.matrices == n.matrices && s.columns == n.columns &&
               s.rows == n.rows);
}

static void routes_check(const struct rf_routing *routing, int64_t experts, uint64_t column_elems, uint64_t token_elems,
                         const struct rf_routes *routes) {
    int64_t total = routing->slots * routing->tokens, seen = 0;
    bool *taken = calloc((size_t)total + 1, sizeof *taken);
    UNIT_CHECK(routes->begin[0] == 0 && routes->experts == experts);
    for (int64_t e = 0; e < experts; e++) {
        int64_t begin = routes->begin[e], end = routes->begin[e + 1], count = routes->count[e];
        UNIT_CHECK(begin % 16 == 0 && end - begin == (count + 15) / 16 * 16, "expert %lld", (long long)e);
        for (int64_t i = begin; i < end; i++) {
            const struct rf_routed_column *column = &routes->columns[i];
            if (i >= begin + count) {
                UNIT_CHECK(column->source == UINT32_MAX && column->result == UINT32_MAX, "padding %lld", (long long)i);
                continue;
            }
            UNIT_CHECK(column->result < total, "column %lld", (long long)i);
            if (column->result >= total) {
                continue;
            }
            int64_t token = column->result / routing->slots, slot = column->result % routing->slots;
            int32_t id;
            memcpy(&id, (const char *)routing->ids + (size_t)slot * routing->nb[0] + (size_t)token * routing->nb[1],
                   sizeof id);
            UNIT_CHECK(id == e && !taken[column->result], "slot %u", column->result);
            UNIT_CHECK(column->source == (uint64_t)token * token_elems + (uint64_t)slot * column_elems, "slot %u",
                       column->result);
            taken[column->result] = true;
            seen++;
        }
    }
    UNIT_CHECK(seen == total, "%lld of %lld slots", (long long)seen, (long long)total);
    free(taken);
}

enum { IDS_MAX = 4096 };

// Random ids in a table with gaps, which hold garbage.
static struct rf_routing random_routing(int32_t ids[IDS_MAX], int64_t experts) {
    struct rf_routing routing = {.ids = ids, .slots = 1 + unit_random_below(8), .tokens = unit_random_below(100)};
    int64_t step = 1 + unit_random_below(3), row = step * routing.slots + unit_random_below(8);
    routing.nb[0] = (size_t)step * sizeof *ids;
    routing.nb[1] = (size_t)row * sizeof *ids;
    memset(ids, 0x7F, IDS_MAX * sizeof *ids);
    for (int64_t token = 0; token < routing.tokens; token++) {
        for (int64_t slot = 0; slot < routing.slots; slot++) {
            ids[token * row + slot * step] = (int32_t)unit_random_below((uint32_t)experts);
        }
    }
    return routing;
}

static void routes_random(void) {
    static int32_t ids[IDS_MAX];
    for (int i = 0; i < 2000; i++) {
        int64_t experts = 1 + unit_random_below(i % 2 == 0 ? 4 : 256);
        struct rf_routing routing = random_routing(ids, experts);
        uint64_t column_elems = i % 3 == 0 ? 0 : 96, token_elems = 96 * (uint64_t)routing.slots + 5;
        struct rf_routes routes;
        bool built = rf_routes_build(&routing, experts, column_elems, token_elems, &routes);
        UNIT_CHECK(built, "table %d", i);
        if (built) {
            routes_check(&routing, experts, column_elems, token_elems, &routes);
            rf_routes_free(&routes);
        }
    }
}

static void routes_bad_ids(void) {
    static const int32_t bad[] = {-1, 4, 5, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        for (int place = 0; place < 6; place++) {
            int32_t ids[6] = {0, 1, 2, 3, 0, 1};
            ids[place] = bad[i];
            struct rf_routing routing = {.ids = ids, .nb = {4, 8}, .slots = 2, .tokens = 3};
            struct rf_routes routes;
            UNIT_CHECK(!rf_routes_build(&routing, 4, 1, 2, &routes), "id %d at %d", bad[i], place);
        }
    }
}

static void routes_without_memory(void) {
    int32_t ids[6] = {0, 1, 2, 3, 0, 1};
    struct rf_routing routing = {.ids = ids, .nb = {4, 8}, .slots = 2, .tokens = 3};
    struct rf_routes routes;
    int failed = 0;
    for (int count = 1;; count++) {
        unit_allocation_fail(count);
        bool built = rf_routes_build(&routing, 4, 1, 2, &routes);
        if (!unit_allocation_fail(0)) {
            UNIT_CHECK(built);
            routes_check(&routing, 4, 1, 2, &routes);
            rf_routes_free(&routes);
            break;
        }
        UNIT_CHECK(!built, "allocation %d", count);
        failed++;
    }
    UNIT_CHECK(failed >= 3, "%d allocations", failed);
}

// A contiguous matrix.
static struct rf_matrix matrix(enum rf_format format, int64_t ne0, int64_t ne1, int64_t ne2, int64_t ne3) {
    const struct rf_format_info *info = rf_format_info(format);
    struct rf_matrix m = {.format = format, .ne = {ne0, ne1, ne2, ne3}, .nb = {info->block_bytes}};
    m.nb[1] = (size_t)ne0 / info->block_elems * info->block_bytes;
    m.nb[2] = m.nb[1] * (size_t)ne1;
    m.nb[3] = m.nb[2] * (size_t)ne2;
    return m;
}

static struct rf_product plain_product(enum rf_format format, int64_t m, int64_t n, int64_t k) {
    return (struct rf_product){.weights = matrix(format, k, m, 1, 1),
                               .activations = matrix(RF_FORMAT_F32, k, n, 1, 1),
                               .result = matrix(RF_FORMAT_F32, m, n, 1, 1)};
}

static struct rf_caps plain_caps(void) {
    return (struct rf_caps){.name = "invented",
                            .subgroup_size = 16,
                            .max_range_bytes = (uint64_t)1 << 27,
                            .max_allocation_bytes = (uint64_t)1 << 31,
                            .heap_bytes = (uint64_t)1 << 32,
                            .offset_alignment = 64,
                            .atom_bytes = 64,
                            .max_groups = {65535, 65535, 65535},
                            .max_invocations = 256};
}

static void products_possible(void) {
    struct rf_caps caps = plain_caps();
    for (int f = 0; f < RF_FORMAT_COUNT; f++) {
        struct rf_product p = plain_product((enum rf_format)f, 45, 33, 256);
        UNIT_CHECK(rf_matmul_possible(&caps, &p), "%s", rf_format_info((enum rf_format)f)->name);
        p.activations.format = RF_FORMAT_Q8_0;
        UNIT_CHECK(!rf_matmul_possible(&caps, &p), "%s", rf_format_info((enum rf_format)f)->name);
    }
    struct rf_product vocabulary = plain_product(RF_FORMAT_Q4_K, 262144, 512, 2560); // fault 10
    UNIT_CHECK(rf_matmul_possible(&caps, &vocabulary));
    struct rf_product wide = plain_product(RF_FORMAT_F32, 4, 4, (int64_t)1 << 26); // one row is more than a binding
    UNIT_CHECK(!rf_matmul_possible(&caps, &wide));
}

static void products_impossible(void) {
    struct rf_caps caps = plain_caps();
    for (int dimension = 0; dimension < 4; dimension++) {
        for (int operand = 0; operand < 3; operand++) {
            struct rf_product p = plain_product(RF_FORMAT_F16, 45, 33, 256);
            struct rf_matrix *operands[] = {&p.weights, &p.activations, &p.result};
            operands[operand]->ne[dimension] = 0;
            UNIT_CHECK(!rf_matmul_possible(&caps, &p), "operand %d without dimension %d", operand, dimension);
        }
    }
    struct rf_product p = plain_product(RF_FORMAT_F16, 45, 33, 256);
    p.weights.nb[1] += 1;
    UNIT_CHECK(!rf_matmul_possible(&caps, &p), "odd stride");
    p = plain_product(RF_FORMAT_F32, 45, 33, 256);
    p.result.nb[1] += 4;
    UNIT_CHECK(!rf_matmul_possible(&caps, &p), "result with gaps");
    p = plain_product(RF_FORMAT_F32, 45, 33, 256);
    p.activations.ne[0] = 255;
    UNIT_CHECK(!rf_matmul_possible(&caps, &p), "unequal k");
    p = plain_product(RF_FORMAT_Q4_0, 45, 33, 256);
    p.weights.nb[0] *= 2;
    UNIT_CHECK(!rf_matmul_possible(&caps, &p), "blocks apart");
    p = plain_product(RF_FORMAT_F32, 45, 33, 256);
    p.weights.ne[2] = 2;
    UNIT_CHECK(!rf_matmul_possible(&caps, &p), "fewer activation matrices than weights");
}

struct names {
    char (*all)[sizeof((struct rf_case *)0)->name];
    size_t count, capacity;
};

static bool name_take(const struct rf_case *item, void *user) {
    struct names *names = user;
    for (size_t i = 0; i < names->count; i++) {
        UNIT_CHECK(strcmp(names->all[i], item->name) != 0, "%s twice", item->name);
    }
    UNIT_CHECK(rf_format_by_name(item->type) != RF_FORMAT_COUNT, "%s: type %s", item->name, item->type);
    UNIT_CHECK(item->m > 0 && item->n > 0 && item->k > 0 && item->runs > 0, "%s", item->name);
    if (names->count < names->capacity) {
        memcpy(names->all[names->count++], item->name, sizeof item->name);
    }
    return true;
}

static void case_list(void) {
    static char all[2000][sizeof((struct rf_case *)0)->name];
    struct names names = {all, 0, sizeof all / sizeof all[0]};
    UNIT_CHECK(rf_cases_visit(RF_CASE_TEST | RF_CASE_BENCH, name_take, &names));
    UNIT_CHECK(names.count > 400 && names.count < names.capacity, "%zu cases", names.count);
}

const struct unit_test unit_product_tests[] = {
    {"formats", formats},
    {"kernels", kernels},
    {"tiles", tiles},
    {"splits", splits},
    {"split-whole", split_whole},
    {"routes-random", routes_random},
    {"routes-bad-ids", routes_bad_ids},
    {"routes-without-memory", routes_without_memory},
    {"products-possible", products_possible},
    {"products-impossible", products_impossible},
    {"case-list", case_list},
    {NULL, NULL},
};
