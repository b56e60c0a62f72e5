// SPDX-License-Identifier: MIT
#include "logits.h"

#include <math.h>

size_t rf_logits_top(const float *logits, size_t count) {
    size_t top = 0;
    for (size_t i = 1; i < count; i++) {
        if (logits[i] > logits[top]) {
            top = i;
        }
    }
    return top;
}

double rf_logits_log_sum(const float *logits, size_t count) {
    double largest = logits[rf_logits_top(logits, count)];
    double sum = 0.0;
    for (size_t i = 0; i < count; i++) {
        sum += exp(logits[i] - largest);
    }
    return largest + log(sum);
}

double rf_logits_probability(const float *logits, size_t count, size_t index) {
    return exp(logits[index] - rf_logits_log_sum(logits, count));
}

double rf_logits_divergence(const float *reference, const float *other, size_t count) {
    double reference_sum = rf_logits_log_sum(reference, count);
    double other_sum = rf_logits_log_sum(other, count);
    double divergence = 0.0;
    for (size_t i = 0; i < count; i++) {
        double log_p = reference[i] - reference_sum;
        double log_q = other[i] - other_sum;
        // p ln(p/q) - p + q: the same sum, for both add to one, but no term is negative, so small divergences keep
        // their digits.
        double p = exp(log_p);
        divergence += p * (log_p - log_q) - p + exp(log_q);
    }
    return isfinite(divergence) ? (divergence > 0.0 ? divergence : 0.0) : NAN;
}
