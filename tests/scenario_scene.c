// SPDX-License-Identifier: MIT
#include "scenario.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "llm.h"

#define GRAPH_NODES 2048

bool rf_scene_cpu_load(void) {
    rf_llm_log_set(false);
    return rf_llm_backends_load(NULL);
}

bool rf_scene_library_load(const char *path) {
    return rf_llm_library_load(path);
}

ggml_backend_dev_t rf_scene_device_find(void) {
    ggml_backend_dev_t devices[16] = {NULL};
    size_t count = rf_llm_devices_find("ROCKFILL", devices, 16);
    printf("devices count=%zu", count);
    for (size_t i = 0; i < count; i++)
        printf(" name%zu=%s", i, ggml_backend_dev_name(devices[i]));
    printf("\n");
    return devices[0];
}

static void threads_set(ggml_backend_t cpu, int threads) {
    ggml_backend_reg_t registry = ggml_backend_dev_backend_reg(ggml_backend_get_device(cpu));
    ggml_backend_set_n_threads_t set =
        (ggml_backend_set_n_threads_t)ggml_backend_reg_get_proc_address(registry, "ggml_backend_set_n_threads");
    if (set != NULL)
        set(cpu, threads);
}

bool rf_scene_open(struct rf_scene *scene, ggml_backend_dev_t device, int cpu_threads) {
    *scene = (struct rf_scene){0};
    if (device != NULL)
        scene->backends[scene->count++] = ggml_backend_dev_init(device, NULL);
    ggml_backend_t cpu = ggml_backend_init_by_type(GGML_BACKEND_DEVICE_TYPE_CPU, NULL);
    scene->backends[scene->count++] = cpu;
    if (cpu == NULL || scene->backends[0] == NULL) {
        fprintf(stderr, "error: no backend on the %s\n", cpu == NULL ? "CPU" : "device");
        rf_scene_close(scene);
        return false;
    }
    threads_set(cpu, cpu_threads);
    scene->sched = ggml_backend_sched_new(scene->backends, NULL, scene->count, GRAPH_NODES, false, true);
    return scene->sched != NULL;
}

void rf_scene_close(struct rf_scene *scene) {
    if (scene->sched != NULL)
        ggml_backend_sched_free(scene->sched);
    for (int i = 0; i < scene->count; i++)
        if (scene->backends[i] != NULL)
            ggml_backend_free(scene->backends[i]);
    *scene = (struct rf_scene){0};
}

ggml_backend_buffer_type_t rf_scene_buffer_type(const struct rf_scene *scene) {
    return ggml_backend_get_default_buffer_type(scene->backends[0]);
}
