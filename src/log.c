// SPDX-License-Identifier: MIT
#include "log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int log_verbose;

void rf_log_set_verbose(int verbose) {
    atomic_store(&log_verbose, verbose);
}

void rf_log(enum rf_log_level level, const char *format, ...) {
    if (level == RF_LOG_INFO && !atomic_load(&log_verbose))
        return;
    char line[512];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    fprintf(stderr, "rockfill: %s\n", line);
}
