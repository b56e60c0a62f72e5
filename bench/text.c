// SPDX-License-Identifier: MIT
#include "text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES_MAX = 1 << 20 };

static const char *contents_fault(size_t size, const char *text) {
    if (size == 0) {
        return "is empty";
    }
    if (size > TEXT_BYTES_MAX) {
        return "is larger than 1 MiB";
    }
    return strlen(text) != size ? "holds a zero byte, so it is no text" : NULL;
}

char *rf_text_read(const char *path) {
    FILE *file = fopen(path, "r");
    char *text = file ? malloc(TEXT_BYTES_MAX + 2) : NULL;
    if (!text) {
        fprintf(stderr, "error: %s: %s; name a text file that can be read\n", path, strerror(errno));
        if (file) {
            fclose(file);
        }
        return NULL;
    }
    size_t size = fread(text, 1, TEXT_BYTES_MAX + 1, file);
    const char *fault = ferror(file) ? "cannot be read" : NULL;
    fclose(file);
    text[size] = '\0';
    fault = fault ? fault : contents_fault(size, text);
    if (fault) {
        fprintf(stderr, "error: %s: %s; name another text file\n", path, fault);
        free(text);
        return NULL;
    }
    while (size > 0 && (text[size - 1] == '\n' || text[size - 1] == '\r')) {
        text[--size] = '\0';
    }
    return text;
}
