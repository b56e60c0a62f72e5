// SPDX-License-Identifier: MIT

#include "result.h"
#include "host.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static void commit_read(char *commit, size_t size) {
    // --exclude '*' keeps tags out, so that the answer is always a commit.
    FILE *git = popen("git describe --always --dirty --abbrev=12 --exclude '*' 2>/dev/null", "r");
    commit[0] = '\0';
    if (git) {
        if (!fgets(commit, (int)size, git)) {
            commit[0] = '\0';
        }
        pclose(git);
    }
    commit[strcspn(commit, "\n")] = '\0';
    if (commit[0] == '\0') {
        snprintf(commit, size, "unknown");
    }
}

static void date_read(char *date, size_t size) {
    time_t now = time(NULL);
    struct tm utc;
    if (!gmtime_r(&now, &utc) || strftime(date, size, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0) {
        snprintf(date, size, "unknown");
    }
}

static json_t *host_describe(void) {
    struct utsname system;
    char cpu[256];
    char release[2 * sizeof system.sysname + 2] = "unknown";
    const char *machine = "unknown";
    if (uname(&system) == 0) {
        snprintf(release, sizeof release, "%s %s", system.sysname, system.release);
        machine = system.machine;
    }
    rf_host_cpu_name(cpu, sizeof cpu);
    return json_pack("{s:s, s:s, s:s, s:i, s:I}", "system", release, "machine", machine, "cpu", cpu, "cores",
                     rf_host_cores_count(), "memory_mib", (json_int_t)rf_host_memory_mib());
}

json_t *rf_result_create(void) {
    char commit[128];
    char date[32];
    commit_read(commit, sizeof commit);
    date_read(date, sizeof date);
    return json_pack("{s:i, s:s, s:s, s:o}", "version", RF_RESULT_VERSION, "commit", commit, "date", date, "host",
                     host_describe());
}

// Makes every folder that `path` names before its last slash.
static bool folders_make(const char *path) {
    char *folder = strdup(path);
    bool made = folder != NULL;
    for (char *slash = made ? strchr(folder + 1, '/') : NULL; made && slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        made = mkdir(folder, 0777) == 0 || errno == EEXIST;
        *slash = '/';
    }
    free(folder);
    return made;
}

static bool file_write(const json_t *result, const char *path) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!file) {
        if (fd >= 0) {
            close(fd);
        }
        return false;
    }
    // Six digits are more than any of these measurements repeats, and keep the files readable.
    bool written = json_dumpf(result, file, JSON_INDENT(2) | JSON_REAL_PRECISION(6)) == 0;
    written = fputc('\n', file) != EOF && written;
    written = fflush(file) == 0 && fsync(fd) == 0 && written;
    return fclose(file) == 0 && written;
}

bool rf_result_write(const json_t *result, const char *path) {
    size_t size = strlen(path) + 32;
    char *beside = malloc(size);
    bool written = false;
    if (beside && result) {
        snprintf(beside, size, "%s.%ld.tmp", path, (long)getpid());
        errno = 0;
        written = folders_make(path) && file_write(result, beside) && rename(beside, path) == 0;
        if (!written) {
            fprintf(stderr, "error: %s: not written: %s; see that its folder can be written to and has space left\n",
                    path, errno ? strerror(errno) : "a value has no JSON form (NaN or infinite)");
            unlink(beside);
        }
    } else {
        fprintf(stderr, "error: %s: not written: out of memory\n", path);
    }
    free(beside);
    return written;
}

static int value_compare(const void *left, const void *right) {
    double a = *(const double *)left;
    double b = *(const double *)right;
    return (a > b) - (a < b);
}

double rf_result_median(double *values, size_t count) {
    if (count == 0) {
        return 0.0;
    }
    qsort(values, count, sizeof *values, value_compare);
    return count % 2 ? values[count / 2] : 0.5 * (values[count / 2 - 1] + values[count / 2]);
}
