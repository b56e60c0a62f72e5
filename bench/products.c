// SPDX-License-Identifier: MIT
// rockfill-products: times matrix products of one or two ggml backends side by side and checks a sample of each result.
// See --help.
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ggml-alloc.h>
#include <ggml-backend.h>
#include <ggml.h>

#include "llm.h"
#include "result.h"

enum { EXIT_USAGE = 2, REPEATS_MAX = 99, SAMPLES = 256, SIDES = 2 };

// A GPU needs a while to leave its idle clocks: each sample follows a stretch of the same work and covers another.
static const double warm_s = 0.1, sample_s = 0.1;

struct product_case {
    enum ggml_type type;
    int64_t m, n, k;
};

struct options {
    const char *library[SIDES], *registry[SIDES]; // rockfill's, and the rival's or NULL
    const char *out;
    int repeats;
    struct product_case cases[256];
    int case_count;
};

// One backend with one product on it.
struct side {
    ggml_backend_t backend;
    struct ggml_context *context;
    struct ggml_cgraph *graph;
    ggml_backend_buffer_t weights_buffer, buffer;
    struct ggml_tensor *weights, *activations, *result;
    double seconds[REPEATS_MAX];
    double nmse;
};

static void usage(FILE *file) {
    fputs("usage: rockfill-products --library L [--rival L] [--out F] [--repeats N] TYPE:M:N:K ...\n"
          "\n"
          "Times result[N][M] = activations[N][K] * weights[M][K] on the first device of each library, in turn, and\n"
          "compares a sample of each result with a product in double precision. G is 10^9 multiply-accumulates.\n"
          "  --library L      rockfill's plug-in\n"
          "  --rival L        another backend's (libggml-vulkan.so)\n"
          "  --out F          also writes F, as JSON with fields device, rival_device, cases[]\n"
          "  --repeats N      timed runs a case after one warm-up, at most 99 (default 5)\n"
          "example: rockfill-products --library build/libggml-rockfill.so q4_K:2048:512:2048 f16:896:512:896\n",
          file);
}

static enum ggml_type type_find(const char *name) {
    for (int t = 0; t < GGML_TYPE_COUNT; t++)
        if (ggml_type_name(t) != NULL && strcmp(ggml_type_name(t), name) == 0)
            return (enum ggml_type)t;
    return GGML_TYPE_COUNT;
}

static bool case_parse(const char *text, struct product_case *c) {
    char type[32];
    long long m, n, k;
    int end = 0;
    if (sscanf(text, "%31[^:]:%lld:%lld:%lld%n", type, &m, &n, &k, &end) != 4 || text[end] != '\0' || m < 1 || n < 1 ||
        k < 1)
        return false;
    *c = (struct product_case){type_find(type), m, n, k};
    return c->type != GGML_TYPE_COUNT && k % ggml_blck_size(c->type) == 0;
}

static bool options_parse(int argc, char **argv, struct options *options) {
    static const struct option names[] = {
        {"library", required_argument, NULL, 'l'}, {"rival", required_argument, NULL, 'r'},
        {"out", required_argument, NULL, 'o'},     {"repeats", required_argument, NULL, 'n'},
        {"help", no_argument, NULL, 'h'},          {0}};
    *options = (struct options){.registry = {"ROCKFILL", "Vulkan"}, .repeats = 5};
    for (int c; (c = getopt_long(argc, argv, "", names, NULL)) != -1;) {
        switch (c) {
        case 'l':
            options->library[0] = optarg;
            break;
        case 'r':
            options->library[1] = optarg;
            break;
        case 'o':
            options->out = optarg;
            break;
        case 'n':
            options->repeats = atoi(optarg);
            break;
        case 'h':
            usage(stdout);
            exit(0);
        default:
            return false;
        }
    }
    for (; optind < argc; optind++, options->case_count++)
        if (options->case_count == (int)(sizeof options->cases / sizeof options->cases[0]) ||
            !case_parse(argv[optind], &options->cases[options->case_count])) {
            fprintf(stderr, "error: \"%s\" is no TYPE:M:N:K, or K is no multiple of the type's block\n", argv[optind]);
            return false;
        }
    return options->library[0] != NULL && options->case_count > 0 && options->repeats >= 1 &&
           options->repeats <= REPEATS_MAX;
}

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

// Uniform in [-1, 1), the same sequence in each run.
static float random_next(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (float)((double)(*state >> 40) / (double)(1 << 23) - 1.0);
}

// Weights in a buffer of their own with the usage that models' weights have, so that backends treat them as such.
static bool side_build(struct side *side, const struct product_case *c) {
    struct ggml_init_params params = {ggml_tensor_overhead() * 8 + ggml_graph_overhead(), NULL, true};
    side->context = ggml_init(params);
    side->weights = ggml_new_tensor_2d(side->context, c->type, c->k, c->m);
    side->activations = ggml_new_tensor_2d(side->context, GGML_TYPE_F32, c->k, c->n);
    side->result = ggml_mul_mat(side->context, side->weights, side->activations);
    side->graph = ggml_new_graph(side->context);
    ggml_build_forward_expand(side->graph, side->result);
    if (!ggml_backend_supports_op(side->backend, side->result))
        return false;
    ggml_backend_buffer_type_t type = ggml_backend_get_default_buffer_type(side->backend);
    side->weights_buffer = ggml_backend_buft_alloc_buffer(type, ggml_backend_buft_get_alloc_size(type, side->weights));
    if (side->weights_buffer == NULL)
        return false;
    ggml_backend_buffer_set_usage(side->weights_buffer, GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
    ggml_backend_tensor_alloc(side->weights_buffer, side->weights, ggml_backend_buffer_get_base(side->weights_buffer));
    side->buffer = ggml_backend_alloc_ctx_tensors(side->context, side->backend);
    return side->buffer != NULL;
}

static void side_clear(struct side *side) {
    ggml_backend_buffer_free(side->weights_buffer);
    ggml_backend_buffer_free(side->buffer);
    ggml_free(side->context);
    side->weights_buffer = side->buffer = NULL;
    side->context = NULL;
}

// Error of a sample of the result against double precision, normalised by the sample's energy.
static double side_nmse(const struct side *side, const struct product_case *c, const void *weights,
                        const float *activations) {
    const struct ggml_type_traits *traits = ggml_get_type_traits(c->type);
    size_t row_bytes = ggml_row_size(c->type, c->k);
    float *row = malloc((size_t)c->k * sizeof *row);
    uint64_t state = 7;
    double error = 0, energy = 0;
    for (int i = 0; i < SAMPLES; i++) {
        int64_t m = (int64_t)((random_next(&state) + 1) / 2 * (float)c->m), n = i % c->n;
        m = m < c->m ? m : c->m - 1;
        const char *packed = (const char *)weights + (size_t)m * row_bytes;
        if (c->type == GGML_TYPE_F32)
            memcpy(row, packed, row_bytes);
        else
            traits->to_float(packed, row, c->k);
        double exact = 0;
        for (int64_t k = 0; k < c->k; k++)
            exact += (double)row[k] * (double)activations[n * c->k + k];
        float got;
        ggml_backend_tensor_get(side->result, &got, (size_t)(n * c->m + m) * sizeof got, sizeof got);
        error += (got - exact) * (got - exact);
        energy += exact * exact;
    }
    free(row);
    return error / energy;
}

// Computes for at least `seconds`; returns the time of one computation.
static double side_run(struct side *side, double seconds) {
    double begin = now_s(), elapsed;
    int runs = 0;
    do {
        ggml_backend_graph_compute(side->backend, side->graph);
        runs++;
        elapsed = now_s() - begin;
    } while (elapsed < seconds);
    return elapsed / runs;
}

// Times the sides in turn. Returns how many computed the case (a bit a side).
static unsigned case_run(struct side sides[SIDES], const struct product_case *c, int repeats) {
    size_t weight_bytes = ggml_row_size(c->type, c->k) * (size_t)c->m;
    float *values = malloc((size_t)(c->k * (c->m > c->n ? c->m : c->n)) * sizeof *values);
    void *weights = malloc(weight_bytes);
    uint64_t state = 1;
    for (int64_t i = 0; i < c->k * c->m; i++)
        values[i] = random_next(&state);
    ggml_quantize_chunk(c->type, values, weights, 0, c->m, c->k, NULL);
    for (int64_t i = 0; i < c->k * c->n; i++)
        values[i] = random_next(&state);

    unsigned good = 0;
    for (int s = 0; s < SIDES; s++) {
        if (sides[s].backend == NULL || !side_build(&sides[s], c))
            continue;
        ggml_backend_tensor_set(sides[s].weights, weights, 0, weight_bytes);
        ggml_backend_tensor_set(sides[s].activations, values, 0, (size_t)(c->k * c->n) * sizeof *values);
        good |= (ggml_backend_graph_compute(sides[s].backend, sides[s].graph) == GGML_STATUS_SUCCESS) << s;
    }
    for (int r = 0; r < repeats; r++)
        for (int s = 0; s < SIDES; s++) {
            if (!(good >> s & 1))
                continue;
            side_run(&sides[s], warm_s);
            sides[s].seconds[r] = side_run(&sides[s], sample_s);
        }
    for (int s = 0; s < SIDES; s++) {
        if (good >> s & 1)
            sides[s].nmse = side_nmse(&sides[s], c, weights, values);
        if (sides[s].backend != NULL)
            side_clear(&sides[s]);
    }
    free(values);
    free(weights);
    return good;
}

static json_t *case_report(struct side sides[SIDES], const struct product_case *c, unsigned good, int repeats) {
    double macs = (double)c->m * (double)c->n * (double)c->k * 1e-9, rate[SIDES] = {0};
    for (int s = 0; s < SIDES; s++)
        if (good >> s & 1)
            rate[s] = macs / rf_result_median(sides[s].seconds, (size_t)repeats);
    printf("%-8s %6lld %6lld %6lld", ggml_type_name(c->type), (long long)c->m, (long long)c->n, (long long)c->k);
    json_t *row = json_pack("{s:s, s:I, s:I, s:I}", "type", ggml_type_name(c->type), "m", (json_int_t)c->m, "n",
                            (json_int_t)c->n, "k", (json_int_t)c->k);
    const char *rates[] = {"gmacs", "rival_gmacs"}, *errors[] = {"nmse", "rival_nmse"};
    for (int s = 0; s < SIDES; s++) {
        if (!(good >> s & 1)) {
            printf(" %10s %8s", "-", "-");
            continue;
        }
        printf(" %10.2f %8.1e", rate[s], sides[s].nmse);
        json_object_set_new(row, rates[s], json_real(rate[s]));
        json_object_set_new(row, errors[s], json_real(sides[s].nmse));
    }
    if (good == 3) {
        printf(" %6.2fx", rate[0] / rate[1]);
        json_object_set_new(row, "ratio", json_real(rate[0] / rate[1]));
    }
    printf("\n");
    fflush(stdout);
    return row;
}

static bool side_open(struct side *side, const char *library, const char *registry, json_t *report, const char *field) {
    ggml_backend_dev_t device;
    if (!rf_llm_library_load(library))
        return false;
    if (rf_llm_devices_find(registry, &device, 1) == 0) {
        fprintf(stderr, "error: %s offers no device\n", library);
        return false;
    }
    side->backend = ggml_backend_dev_init(device, NULL);
    printf("%s: %s\n", field, ggml_backend_dev_description(device));
    json_object_set_new(report, field, json_string(ggml_backend_dev_description(device)));
    return side->backend != NULL;
}

int main(int argc, char **argv) {
    struct options options;
    if (!options_parse(argc, argv, &options)) {
        usage(stderr);
        return EXIT_USAGE;
    }
    json_t *report = rf_result_create(), *cases = json_array();
    struct side sides[SIDES] = {0};
    if (!rf_llm_backends_load(NULL) ||
        !side_open(&sides[0], options.library[0], options.registry[0], report, "device") ||
        (options.library[1] != NULL &&
         !side_open(&sides[1], options.library[1], options.registry[1], report, "rival_device")))
        return 1;
    printf("%-8s %6s %6s %6s %10s %8s %10s %8s\n", "type", "m", "n", "k", "GMAC/s", "nmse", "rival", "nmse");
    int failed = 0;
    for (int i = 0; i < options.case_count; i++) {
        unsigned good = case_run(sides, &options.cases[i], options.repeats);
        failed += !(good & 1);
        json_array_append_new(cases, case_report(sides, &options.cases[i], good, options.repeats));
    }
    json_object_set_new(report, "cases", cases);
    bool written = options.out == NULL || rf_result_write(report, options.out);
    json_decref(report);
    for (int s = 0; s < SIDES; s++)
        ggml_backend_free(sides[s].backend);
    return failed > 0 || !written;
}
