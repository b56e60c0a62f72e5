// SPDX-License-Identifier: MIT

#include "host.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

// Copies the text after "KEY<blanks>: " of the first such line of /proc/cpuinfo.
static bool cpuinfo_find(const char *key, char *value, size_t size) {
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[512];
    bool found = false;
    while (file && !found && fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        if (colon && strncmp(line, key, strlen(key)) == 0) {
            char *text = colon + 1 + strspn(colon + 1, " \t");
            text[strcspn(text, "\n")] = '\0';
            snprintf(value, size, "%s", text);
            found = text[0] != '\0';
        }
    }
    if (file) {
        fclose(file);
    }
    return found;
}

static bool board_name_read(char *name, size_t size) {
    FILE *file = fopen("/proc/device-tree/model", "r");
    if (!file) {
        return false;
    }
    size_t length = fread(name, 1, size - 1, file);
    fclose(file);
    name[length] = '\0';
    return name[0] != '\0';
}

void rf_host_cpu_name(char *name, size_t size) {
    struct utsname system;
    if (cpuinfo_find("model name", name, size) || board_name_read(name, size)) {
        return;
    }
    snprintf(name, size, "%s", uname(&system) == 0 ? system.machine : "unknown");
}

int rf_host_cores_count(void) {
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
        long online = sysconf(_SC_NPROCESSORS_ONLN);
        return online > 0 ? (int)online : 1;
    }
    return CPU_COUNT(&allowed);
}

// The kernel's measure of one processor's speed (1024 = the fastest of the chip); 0 where all are alike.
static int cpu_capacity_read(int cpu) {
    char path[96];
    int capacity = 0;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpu_capacity", cpu);
    FILE *file = fopen(path, "r");
    if (file) {
        if (fscanf(file, "%d", &capacity) != 1) {
            capacity = 0;
        }
        fclose(file);
    }
    return capacity;
}

int rf_host_threads_default(void) {
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
        return rf_host_cores_count();
    }
    int fastest = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        int capacity = CPU_ISSET(cpu, &allowed) ? cpu_capacity_read(cpu) : 0;
        fastest = capacity > fastest ? capacity : fastest;
    }
    int count = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        // Half separates big from little; the clusters of big cores may differ by a few percent.
        if (CPU_ISSET(cpu, &allowed) && 2 * cpu_capacity_read(cpu) >= fastest) {
            count++;
        }
    }
    return count > 0 ? count : 1;
}

long rf_host_memory_mib(void) {
    long pages = sysconf(_SC_PHYS_PAGES);
    long page_bytes = sysconf(_SC_PAGESIZE);
    return pages > 0 && page_bytes > 0 ? (long)((double)pages * (double)page_bytes / (1024.0 * 1024.0)) : 0;
}
