/* SPDX-License-Identifier: MIT
 *
 * trial_selftest LAYER_DIRECTORY [CASE...]: shows each knob of the trial layer at work, each case in its own process,
 * since the layer reads its knobs once a process. Needs a Vulkan device; any will do, lavapipe is meant.
 */
#include "selftest.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char directory[256], log_path[300], count_path[300];

const char *st_count_path(void) {
    return count_path;
}

bool st_log_has(const char *text) {
    static char log[1 << 20];
    FILE *file = fopen(log_path, "r");
    size_t length = file != NULL ? fread(log, 1, sizeof log - 1, file) : 0;
    log[length] = '\0';
    if (file != NULL) {
        fclose(file);
    }
    bool has = strstr(log, text) != NULL;
    if (!has) {
        fprintf(stderr, "the log does not have: %s\n", text);
    }
    return has;
}

void st_set_knobs(const char *knobs) {
    char copy[512], *rest = copy;
    snprintf(copy, sizeof copy, "%s", knobs);
    setenv("TRIAL_LOG", log_path, 1);
    setenv("TRIAL_COUNT_FILE", count_path, 1);
    for (char *knob; (knob = strsep(&rest, " ")) != NULL;) {
        char *equals = strchr(knob, '=');
        if (equals != NULL) {
            *equals = '\0';
            setenv(knob, equals + 1, 1);
        }
    }
}

int st_fork(const char *knobs, void (*run)(void)) {
    fflush(NULL);
    unlink(log_path);
    unlink(count_path);
    pid_t child = fork();
    if (child == 0) {
        st_set_knobs(knobs);
        run();
        exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) {
        perror("trial_selftest: fork");
        exit(2);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static bool wanted(const char *name, int count, char **names) {
    int i = 0;
    while (i < count && strcmp(names[i], name) != 0) {
        i++;
    }
    return count == 0 || i < count;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: trial_selftest LAYER_DIRECTORY [CASE...]\n");
        return 2;
    }
    const char *place = getenv("TMPDIR");
    snprintf(directory, sizeof directory, "%s/trial-selftest-XXXXXX", place != NULL ? place : P_tmpdir);
    if (mkdtemp(directory) == NULL) {
        perror("trial_selftest: mkdtemp");
        return 2;
    }
    snprintf(log_path, sizeof log_path, "%s/log.json", directory);
    snprintf(count_path, sizeof count_path, "%s/count", directory);
    setenv("VK_LAYER_PATH", argv[1], 1);
    setenv("VK_INSTANCE_LAYERS", "VK_LAYER_ROCKFILL_trial", 1);
    /* Mesa's implicit layer makes calls of its own, and bears their failing. */
    setenv("NODEVICE_SELECT", "1", 1);
    int passed = 0, failed = 0;
    for (const struct st_case *one = st_cases; one->name != NULL; one++) {
        if (!wanted(one->name, argc - 2, argv + 2)) {
            continue;
        }
        int status = st_fork(one->knobs, one->run);
        printf("%-20s %s\n", one->name, status == 0 ? "pass" : "FAIL");
        passed += status == 0;
        failed += status != 0;
    }
    unlink(log_path);
    unlink(count_path);
    rmdir(directory);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0 || passed == 0;
}
