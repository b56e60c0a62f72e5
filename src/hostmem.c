// SPDX-License-Identifier: MIT
#include "hostmem.h"

#include <inttypes.h>
#include <stdio.h>

uint64_t rf_hostmem_available(void) {
    FILE *file = fopen("/proc/meminfo", "re");
    if (file == NULL)
        return UINT64_MAX;
    uint64_t kib = UINT64_MAX >> 10;
    char line[128];
    while (fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "MemAvailable: %" SCNu64, &kib) == 1)
            break;
    fclose(file);
    return kib << 10;
}
