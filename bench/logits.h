// SPDX-License-Identifier: MIT
#pragma once

// Arithmetic on one row of logits (natural log odds, one float a vocabulary entry). Pure: no ggml, no allocation, safe
// in any thread. Sums are in double, so that a vocabulary of 262144 adds no error of its own.

#include <stdbool.h>
#include <stddef.h>

// ln(sum(exp(logits))), so that logits[i] minus this is the log probability of i. NaN when a logit is NaN.
double rf_logits_log_sum(const float *logits, size_t count);

// Probability of entry `index`.
double rf_logits_probability(const float *logits, size_t count, size_t index);

// The largest entry; the lowest index among equals, as greedy sampling takes it.
size_t rf_logits_top(const float *logits, size_t count);

// Kullback-Leibler divergence sum(p ln(p / q)) of `other` (q) from `reference` (p), in nats. NaN when either holds a
// NaN or an infinity: such logits are wrong, and no bound compares true with NaN. Rounding cannot make it negative.
double rf_logits_divergence(const float *reference, const float *other, size_t count);
