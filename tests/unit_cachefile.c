// SPDX-License-Identifier: MIT
// The pipeline cache's file (fault 26: a corrupt or foreign one is ignored).
#include "unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cachefile.h"

static char folder[256]; // fresh for each test
static char path[4096];  // of the cache file
static struct rf_cachefile_owner owner;

static void open_folder(void) {
    unit_folder_make(folder, sizeof folder);
    memset(&owner, 0, sizeof owner);
    owner.vendor_id = 0x13B5;
    owner.device_id = 0xA8670000;
    owner.driver_version = 42;
    for (int i = 0; i < 16; i++) {
        owner.uuid[i] = (uint8_t)(i * 16);
    }
    setenv("XDG_CACHE_HOME", folder, 1);
    UNIT_CHECK(rf_cachefile_path(&owner, path, sizeof path));
}

static void close_folder(void) {
    unsetenv("XDG_CACHE_HOME");
    unit_folder_remove(folder);
}

// Whether the file gives exactly these bytes.
static bool reads_as(const void *data, size_t bytes) {
    size_t got_bytes = 12345;
    char *got = rf_cachefile_read(path, &owner, &got_bytes);
    bool same = got != NULL && got_bytes == bytes && memcmp(got, data, bytes) == 0;
    free(got);
    return same;
}

static bool reads_as_nothing(void) {
    size_t bytes = 12345;
    void *got = rf_cachefile_read(path, &owner, &bytes);
    free(got);
    return got == NULL && bytes == 0;
}

// The file's bytes as they are; *bytes of them.
static char *file_load(size_t *bytes) {
    FILE *file = fopen(path, "rb");
    static char content[65536];
    *bytes = file != NULL ? fread(content, 1, sizeof content, file) : 0;
    if (file != NULL) {
        fclose(file);
    }
    return content;
}

static void file_store(const char *content, size_t bytes) {
    FILE *file = fopen(path, "wb");
    UNIT_CHECK(file != NULL && fwrite(content, 1, bytes, file) == bytes);
    if (file != NULL) {
        fclose(file);
    }
}

static void round_trip(void) {
    open_folder();
    UNIT_CHECK(reads_as_nothing(), "before the first write");
    static char data[100000];
    for (size_t i = 0; i < sizeof data; i++) {
        data[i] = (char)unit_random();
    }
    static const size_t sizes[] = {0, 1, 2, 63, 64, 65, 4096, sizeof data, 5};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        UNIT_CHECK(rf_cachefile_write(path, &owner, data, sizes[i]), "%zu bytes", sizes[i]);
        UNIT_CHECK(reads_as(data, sizes[i]), "%zu bytes", sizes[i]);
    }
    char inner[512];
    snprintf(inner, sizeof inner, "%s/rockfill", folder);
    UNIT_CHECK(unit_folder_count(inner) == 1, "%d files are left", unit_folder_count(inner));
    close_folder();
}

static void foreign_owner(void) {
    open_folder();
    UNIT_CHECK(rf_cachefile_write(path, &owner, "driver", 6) && reads_as("driver", 6));
    struct rf_cachefile_owner own = owner;
    for (size_t i = 0; i < sizeof owner; i++) {
        owner = own;
        ((unsigned char *)&owner)[i] ^= 1;
        UNIT_CHECK(reads_as_nothing(), "byte %zu of the owner", i);
    }
    close_folder();
}

static void damaged_file(void) {
    open_folder();
    const char data[] = "bytes of a driver";
    UNIT_CHECK(rf_cachefile_write(path, &owner, data, sizeof data));
    size_t bytes;
    char *content = file_load(&bytes), copy[1024];
    UNIT_CHECK(bytes > sizeof data && bytes < sizeof copy);
    memcpy(copy, content, bytes);
    for (size_t length = 0; length < bytes; length++) {
        file_store(copy, length);
        UNIT_CHECK(reads_as_nothing(), "cut to %zu bytes", length);
    }
    for (size_t i = 0; i < bytes; i++) {
        for (int bit = 0; bit < 8; bit++) {
            copy[i] ^= (char)(1 << bit);
            file_store(copy, bytes);
            copy[i] ^= (char)(1 << bit);
            // A bit that means nothing may change; the data may not.
            UNIT_CHECK(reads_as_nothing() || (i < bytes - sizeof data && reads_as(data, sizeof data)),
                       "bit %d of byte %zu", bit, i);
        }
    }
    copy[bytes] = 0;
    file_store(copy, bytes + 1);
    UNIT_CHECK(reads_as_nothing(), "one byte more");
    file_store(copy, bytes);
    UNIT_CHECK(reads_as(data, sizeof data), "restored");
    close_folder();
}

// Something else where the file or its folder should be: nothing is written, nothing is left behind.
static void unwritable_folder(void) {
    open_folder();
    char inner[512];
    snprintf(inner, sizeof inner, "%s/rockfill", folder);
    FILE *file = fopen(inner, "wb");
    UNIT_CHECK(file != NULL);
    if (file != NULL) {
        fclose(file);
    }
    UNIT_CHECK(!rf_cachefile_write(path, &owner, "driver", 6), "a file in the folder's place");
    UNIT_CHECK(reads_as_nothing());
    unlink(inner);
    UNIT_CHECK(mkdir(inner, 0700) == 0 && mkdir(path, 0700) == 0);
    UNIT_CHECK(!rf_cachefile_write(path, &owner, "driver", 6), "a folder in the file's place");
    UNIT_CHECK(reads_as_nothing(), "a folder in the file's place");
    UNIT_CHECK(unit_folder_count(inner) == 1, "%d files are left", unit_folder_count(inner));
    static char deep[5000];
    memset(deep, 'a', sizeof deep - 1);
    deep[0] = '/';
    UNIT_CHECK(!rf_cachefile_write(deep, &owner, "driver", 6), "a path too long");
    close_folder();
}

// A folder without write permission: root writes everywhere, so the test gives its rights up in a child.
static void read_only_folder(void) {
    open_folder();
    UNIT_CHECK(rf_cachefile_write(path, &owner, "old", 3));
    char inner[512];
    snprintf(inner, sizeof inner, "%s/rockfill", folder);
    UNIT_CHECK(chmod(folder, 0755) == 0 && chmod(inner, 0555) == 0 && chmod(path, 0644) == 0);
    pid_t child = fork();
    if (child == 0) {
        bool dropped = geteuid() != 0 || setuid(65534) == 0;
        _exit(!dropped ? 2 : rf_cachefile_write(path, &owner, "new", 3) ? 1 : 0);
    }
    int status = -1;
    UNIT_CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0,
               "status %d", status);
    UNIT_CHECK(reads_as("old", 3), "the old file stays");
    UNIT_CHECK(unit_folder_count(inner) == 1, "%d files are left", unit_folder_count(inner));
    chmod(inner, 0700);
    close_folder();
}

enum { WRITERS = 4, WRITES = 60, DATA_BYTES = 20000 };
static atomic_int writers_done;

static void *writer_run(void *argument) {
    char *data = malloc(DATA_BYTES);
    bool good = data != NULL;
    for (int i = 0; good && i < WRITES; i++) {
        memset(data, (int)(intptr_t)argument * WRITES + i, DATA_BYTES);
        good = rf_cachefile_write(path, &owner, data, DATA_BYTES);
    }
    free(data);
    atomic_fetch_add(&writers_done, 1);
    return good ? argument : NULL;
}

// A reader sees some writer's whole file, never a mixture and never none.
static void concurrent_writers(void) {
    open_folder();
    static char data[DATA_BYTES];
    UNIT_CHECK(rf_cachefile_write(path, &owner, data, DATA_BYTES));
    pthread_t threads[WRITERS];
    atomic_store(&writers_done, 0);
    for (intptr_t i = 0; i < WRITERS; i++) {
        UNIT_CHECK(pthread_create(&threads[i], NULL, writer_run, (void *)(i + 1)) == 0);
    }
    int reads = 0;
    for (; reads == 0 || atomic_load(&writers_done) < WRITERS; reads++) {
        size_t bytes;
        char *got = rf_cachefile_read(path, &owner, &bytes);
        UNIT_CHECK(got != NULL && bytes == DATA_BYTES && memcmp(got, got + 1, DATA_BYTES - 1) == 0, "read %d", reads);
        free(got);
    }
    for (intptr_t i = 0; i < WRITERS; i++) {
        void *result;
        UNIT_CHECK(pthread_join(threads[i], &result) == 0 && result != NULL, "writer %d", (int)i);
    }
    char inner[512];
    snprintf(inner, sizeof inner, "%s/rockfill", folder);
    UNIT_CHECK(unit_folder_count(inner) == 1, "%d files are left", unit_folder_count(inner));
    close_folder();
}

static void paths(void) {
    open_folder();
    char *home = getenv("HOME") != NULL ? strdup(getenv("HOME")) : NULL;
    char other[4096];
    UNIT_CHECK(strncmp(path, folder, strlen(folder)) == 0 && strstr(path, "/rockfill/") != NULL, "%s", path);
    setenv("HOME", "/somewhere", 1);
    unsetenv("XDG_CACHE_HOME");
    UNIT_CHECK(rf_cachefile_path(&owner, other, sizeof other) &&
               strncmp(other, "/somewhere/.cache/rockfill/", 27) == 0);
    setenv("XDG_CACHE_HOME", "relative", 1); // to be ignored, says the XDG specification
    UNIT_CHECK(rf_cachefile_path(&owner, other, sizeof other) &&
               strncmp(other, "/somewhere/.cache/rockfill/", 27) == 0);
    setenv("XDG_CACHE_HOME", "", 1);
    UNIT_CHECK(rf_cachefile_path(&owner, other, sizeof other) &&
               strncmp(other, "/somewhere/.cache/rockfill/", 27) == 0);
    size_t length = strlen(other);
    UNIT_CHECK(rf_cachefile_path(&owner, other, length + 1), "just enough room");
    UNIT_CHECK(!rf_cachefile_path(&owner, other, length), "a byte short");
    UNIT_CHECK(!rf_cachefile_path(&owner, other, 1));
    setenv("HOME", "", 1);
    UNIT_CHECK(!rf_cachefile_path(&owner, other, sizeof other), "HOME empty");
    setenv("HOME", "relative", 1);
    UNIT_CHECK(!rf_cachefile_path(&owner, other, sizeof other), "HOME relative");
    unsetenv("HOME");
    UNIT_CHECK(!rf_cachefile_path(&owner, other, sizeof other), "no HOME");
    if (home != NULL) {
        setenv("HOME", home, 1);
    }
    free(home);
    close_folder();
}

static void path_tells_drivers_apart(void) {
    open_folder();
    char other[4096];
    for (int i = 0; i < 3; i++) {
        struct rf_cachefile_owner changed = owner;
        changed.vendor_id += i == 0;
        changed.device_id += i == 1;
        changed.uuid[15] ^= i == 2;
        UNIT_CHECK(rf_cachefile_path(&changed, other, sizeof other) && strcmp(other, path) != 0, "change %d", i);
    }
    close_folder();
}

static void without_memory(void) {
    open_folder();
    UNIT_CHECK(rf_cachefile_write(path, &owner, "driver", 6));
    unit_allocation_fail(1);
    UNIT_CHECK(reads_as_nothing());
    UNIT_CHECK(unit_allocation_fail(0), "reading allocates nothing");
    UNIT_CHECK(reads_as("driver", 6));
    close_folder();
}

const struct unit_test unit_cachefile_tests[] = {
    {"cachefile-round-trip", round_trip},
    {"fault-26-cachefile-foreign", foreign_owner},
    {"fault-26-cachefile-damaged", damaged_file},
    {"cachefile-unwritable", unwritable_folder},
    {"cachefile-read-only", read_only_folder},
    {"cachefile-concurrent", concurrent_writers},
    {"cachefile-paths", paths},
    {"cachefile-drivers-apart", path_tells_drivers_apart},
    {"cachefile-without-memory", without_memory},
    {NULL, NULL},
};
