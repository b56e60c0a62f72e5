// SPDX-License-Identifier: MIT
// One line on stderr for what a user must know; more with GGML_ROCKFILL_DEBUG.
#pragma once

enum rf_log_level { RF_LOG_ERROR, RF_LOG_WARN, RF_LOG_INFO };

// Prints "rockfill: <message>\n" on stderr. Errors and warnings are always shown (llama.cpp's programs silence the
// host's own log, and a device that fell back to the CPU must not go unnoticed); INFO only when rf_log_set_verbose(1)
// was called. Thread-safe: one write per line.
void rf_log(enum rf_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

void rf_log_set_verbose(int verbose);
