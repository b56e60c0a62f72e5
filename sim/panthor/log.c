// SPDX-License-Identifier: MIT
#include "log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "knobs.h"

static _Atomic uint64_t refused;

// One write a line, so that the lines of several threads do not mix.
static void line_write(const char *kind, const char *format, va_list arguments) {
    char line[512];
    int start = snprintf(line, sizeof line, "[panthor-sim] %s", kind);
    int length = start + vsnprintf(line + start, sizeof line - (size_t)start - 1, format, arguments);
    if (length > (int)sizeof line - 2)
        length = (int)sizeof line - 2;
    line[length] = '\n';
    ssize_t written = write(STDERR_FILENO, line, (size_t)length + 1);
    (void)written; // there is nowhere to say that stderr is gone
}

void ps_log(int level, const char *format, ...) {
    if (ps_knobs()->log < (uint64_t)level)
        return;
    va_list arguments;
    va_start(arguments, format);
    line_write("", format, arguments);
    va_end(arguments);
}

int ps_log_refuse(int error, const char *format, ...) {
    refused++;
    if (ps_knobs()->log >= PS_LOG_EVENTS) {
        va_list arguments;
        va_start(arguments, format);
        line_write("refused: ", format, arguments);
        va_end(arguments);
    }
    return -error;
}

int ps_log_unknown(const char *format, ...) {
    refused++;
    va_list arguments;
    va_start(arguments, format);
    line_write("not simulated: ", format, arguments);
    va_end(arguments);
    return -EINVAL;
}

uint64_t ps_log_refused(void) {
    return refused;
}
