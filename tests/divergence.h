// SPDX-License-Identifier: MIT
#pragma once

// Statistics of the Kullback-Leibler divergence of one set of logits from another, position by position. Pure.

#include <stdbool.h>
#include <stddef.h>

struct rf_divergence {
    double *values; // nats, one a position; NaN where a logit is no number
    size_t count, capacity;
    size_t same_top; // positions where both hold the same token most probable
};

struct rf_divergence_summary {
    double mean, p999, max; // nats; NaN when any position's is
    size_t max_position;    // the first NaN if there is one
    double same_top;        // share, 0 to 1
};

// Makes room for `capacity` positions; false when memory is short. Freed by rf_divergence_free (NULL-safe inside).
bool rf_divergence_create(struct rf_divergence *divergence, size_t capacity);
void rf_divergence_free(struct rf_divergence *divergence);

// Adds the next position: rows of `size` logits each. At most `capacity` times.
void rf_divergence_add(struct rf_divergence *divergence, const float *reference, const float *other, size_t size);

// Sorts the values, so it may be called once, after the last position. At least one position must have been added.
struct rf_divergence_summary rf_divergence_summarise(struct rf_divergence *divergence);
