// SPDX-License-Identifier: MIT
#include "divergence.h"
#include "logits.h"

#include <math.h>
#include <stdlib.h>

bool rf_divergence_create(struct rf_divergence *divergence, size_t capacity) {
    *divergence = (struct rf_divergence){.values = calloc(capacity, sizeof *divergence->values), .capacity = capacity};
    return divergence->values != NULL;
}

void rf_divergence_free(struct rf_divergence *divergence) {
    free(divergence->values);
    *divergence = (struct rf_divergence){0};
}

void rf_divergence_add(struct rf_divergence *divergence, const float *reference, const float *other, size_t size) {
    divergence->values[divergence->count++] = rf_logits_divergence(reference, other, size);
    divergence->same_top += rf_logits_top(reference, size) == rf_logits_top(other, size);
}

static int value_compare(const void *left, const void *right) {
    double a = *(const double *)left;
    double b = *(const double *)right;
    return (a > b) - (a < b);
}

struct rf_divergence_summary rf_divergence_summarise(struct rf_divergence *divergence) {
    const double *values = divergence->values;
    size_t count = divergence->count;
    struct rf_divergence_summary summary = {.same_top = (double)divergence->same_top / (double)count};
    for (size_t i = 0; i < count; i++) {
        summary.mean += values[i] / (double)count;
        if (isnan(values[i])) {
            return (struct rf_divergence_summary){NAN, NAN, NAN, i, summary.same_top};
        }
        if (values[i] > values[summary.max_position]) {
            summary.max_position = i;
        }
    }
    summary.max = values[summary.max_position];
    qsort(divergence->values, count, sizeof *values, value_compare);
    // The nearest rank: with fewer than 1000 positions that is the largest.
    summary.p999 = values[(size_t)ceil(0.999 * (double)count) - 1];
    return summary;
}
