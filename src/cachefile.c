// SPDX-License-Identifier: MIT
#include "cachefile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CACHEFILE_MAX_BYTES ((size_t)256 << 20) // a larger one is not ours

struct header {
    char magic[8];
    struct rf_cachefile_owner owner;
    uint32_t reserved;
    uint64_t data_bytes;
    uint64_t checksum;
};

static const char cachefile_magic[8] = "RFPIPE1";

// FNV-1a, 64 bits.
static uint64_t checksum(const unsigned char *data, size_t bytes) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ data[i]) * 0x100000001b3u;
    return hash;
}

bool rf_cachefile_path(const struct rf_cachefile_owner *owner, char *path, size_t path_bytes) {
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    bool has_xdg = xdg != NULL && *xdg == '/';
    if (!has_xdg && (home == NULL || *home != '/'))
        return false;
    char uuid[33];
    for (int i = 0; i < 16; i++)
        snprintf(uuid + 2 * i, 3, "%02x", owner->uuid[i]);
    int length = snprintf(path, path_bytes, "%s%s/rockfill/pipelines-%08x-%08x-%s.bin", has_xdg ? xdg : home,
                          has_xdg ? "" : "/.cache", owner->vendor_id, owner->device_id, uuid);
    return length > 0 && (size_t)length < path_bytes;
}

static bool header_valid(const struct header *header, const struct rf_cachefile_owner *owner) {
    return memcmp(header->magic, cachefile_magic, sizeof cachefile_magic) == 0 &&
           memcmp(&header->owner, owner, sizeof *owner) == 0 && header->data_bytes <= CACHEFILE_MAX_BYTES;
}

void *rf_cachefile_read(const char *path, const struct rf_cachefile_owner *owner, size_t *data_bytes) {
    *data_bytes = 0;
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    struct header header;
    unsigned char *data = NULL;
    if (fread(&header, sizeof header, 1, file) == 1 && header_valid(&header, owner)) {
        size_t bytes = (size_t)header.data_bytes;
        data = malloc(bytes + 1);
        // One byte more than announced must not be there.
        if (data != NULL && (fread(data, 1, bytes + 1, file) != bytes || checksum(data, bytes) != header.checksum)) {
            free(data);
            data = NULL;
        }
        *data_bytes = data != NULL ? bytes : 0;
    }
    fclose(file);
    return data;
}

// Creates the folders above `path`.
static bool make_folders(const char *path) {
    char folder[4096];
    size_t length = strlen(path);
    if (length >= sizeof folder)
        return false;
    memcpy(folder, path, length + 1);
    for (char *slash = strchr(folder + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(folder, 0700) != 0 && errno != EEXIST)
            return false;
        *slash = '/';
    }
    return true;
}

bool rf_cachefile_write(const char *path, const struct rf_cachefile_owner *owner, const void *data, size_t data_bytes) {
    char temporary[4096];
    int length = snprintf(temporary, sizeof temporary, "%s.XXXXXX", path);
    if (length < 0 || (size_t)length >= sizeof temporary || !make_folders(path))
        return false;
    int descriptor = mkstemp(temporary);
    if (descriptor < 0)
        return false;
    FILE *file = fdopen(descriptor, "wb");
    if (file == NULL) {
        close(descriptor);
        unlink(temporary);
        return false;
    }
    struct header header;
    memset(&header, 0, sizeof header);
    memcpy(header.magic, cachefile_magic, sizeof cachefile_magic);
    header.owner = *owner;
    header.data_bytes = data_bytes;
    header.checksum = checksum(data, data_bytes);
    bool good = fwrite(&header, sizeof header, 1, file) == 1 && fwrite(data, 1, data_bytes, file) == data_bytes;
    good = fclose(file) == 0 && good;
    good = good && rename(temporary, path) == 0;
    if (!good)
        unlink(temporary);
    return good;
}
