// SPDX-License-Identifier: MIT
#include "ops.h"

#include <dlfcn.h>
#include <libgen.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ggml-backend-impl.h>

void ops_fail(struct ops_report *report, const char *format, ...) {
    if (report->failed) {
        return;
    }
    report->failed = true;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(report->why, sizeof report->why, format, arguments);
    va_end(arguments);
}

// The CPU device's own init function, behind one that counts.
static ggml_backend_t (*cpu_init)(ggml_backend_dev_t device, const char *params);
static int cpu_count;

static ggml_backend_t cpu_init_counted(ggml_backend_dev_t device, const char *params) {
    cpu_count++;
    return cpu_init(device, params);
}

int ops_world_cpu_count(void) {
    return cpu_count;
}

static bool cpu_load(struct ops_world *world) {
    Dl_info info;
    char *path = NULL;
    if (dladdr((void *)(uintptr_t)ggml_backend_load_all_from_path, &info) != 0) {
        path = realpath(info.dli_fname, NULL);
    }
    // The environment's own plug-in would be one device too many.
    unsetenv("GGML_BACKEND_PATH");
    ggml_backend_load_all_from_path(path != NULL ? dirname(path) : NULL);
    world->cpu = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
    if (world->cpu == NULL) {
        fprintf(stderr, "error: no CPU backend of ggml (libggml-cpu*.so) in %s\n", path != NULL ? path : "its folders");
    } else {
        cpu_init = world->cpu->iface.init_backend;
        world->cpu->iface.init_backend = cpu_init_counted;
    }
    free(path);
    return world->cpu != NULL;
}

static bool device_pick(struct ops_world *world, const char *library, const char *name) {
    char *path = realpath(library, NULL);
    if (path == NULL) {
        fprintf(stderr, "error: %s: no such library; build it, or name another with --library\n", library);
        return false;
    }
    ggml_backend_reg_t registry = ggml_backend_load(path);
    free(path);
    size_t count = registry != NULL ? ggml_backend_reg_dev_count(registry) : 0;
    for (size_t i = 0; i < count && world->device == NULL; i++) {
        ggml_backend_dev_t device = ggml_backend_reg_dev_get(registry, i);
        if (name == NULL || strcmp(ggml_backend_dev_name(device), name) == 0) {
            world->device = device;
        }
    }
    if (world->device == NULL) {
        fprintf(stderr, "error: %s has no device %s (%zu in all); GGML_ROCKFILL_DEVICE names software devices\n",
                library, name != NULL ? name : "at all", count);
    }
    return world->device != NULL;
}

static enum ops_path path_of_environment(void) {
    static const char *const names[] = {"auto", "int8", "fp16", "fp32"};
    const char *text = getenv("GGML_ROCKFILL_PATH");
    for (int i = 0; text != NULL && i < 4; i++) {
        if (strcmp(text, names[i]) == 0) {
            return (enum ops_path)i;
        }
    }
    return OPS_PATH_AUTO;
}

bool ops_world_open(struct ops_world *world, const char *library, const char *device) {
    world->path = path_of_environment();
    // Few columns are tested, too. Read when the library is loaded.
    setenv("GGML_ROCKFILL_MIN_BATCH", "1", 0);
    return cpu_load(world) && device_pick(world, library, device);
}
