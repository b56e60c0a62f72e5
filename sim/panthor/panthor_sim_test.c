// SPDX-License-Identifier: MIT
// Runs the tests. An argument is a part of the names of those to run. Ends in "N passed, N failed".
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_MS INT64_C(1000000)

static int failures; // of this process

void test_check(bool good, const char *file, int line, const char *condition) {
    if (good)
        return;
    failures++;
    fprintf(stderr, "%s:%d: not so: %s\n", file, line, condition);
}

void test_check_equal(int64_t value, int64_t wanted, const char *file, int line, const char *expression) {
    if (value == wanted)
        return;
    failures++;
    fprintf(stderr, "%s:%d: %s is %lld, not %lld\n", file, line, expression, (long long)value, (long long)wanted);
}

double test_report_number(const struct outcome *outcome, const char *name) {
    char key[64];
    snprintf(key, sizeof key, "\"%s\": ", name);
    const char *at = strstr(outcome->report, key);
    return at != NULL ? strtod(at + strlen(key), NULL) : -1;
}

bool test_ended_well(const struct outcome *outcome) {
    return WIFEXITED(outcome->status) && WEXITSTATUS(outcome->status) == 0;
}

int call(int node, unsigned long request, void *argument) {
    return ioctl(node, request, argument) >= 0 ? 0 : -errno;
}

int bo_create(int node, uint64_t bytes, uint32_t flags, uint32_t vm, uint32_t *handle) {
    struct drm_panthor_bo_create create = {.size = bytes, .flags = flags, .exclusive_vm_id = vm};
    int result = call(node, DRM_IOCTL_PANTHOR_BO_CREATE, &create);
    *handle = create.handle;
    return result;
}

uint32_t bo_new(int node, uint64_t bytes) {
    uint32_t handle;
    CHECK_EQUAL(bo_create(node, bytes, 0, 0, &handle), 0);
    return handle;
}

int bo_close(int node, uint32_t handle) {
    struct drm_gem_close close = {.handle = handle};
    return call(node, DRM_IOCTL_GEM_CLOSE, &close);
}

uint32_t vm_new(int node) {
    struct drm_panthor_vm_create create = {0};
    CHECK_EQUAL(call(node, DRM_IOCTL_PANTHOR_VM_CREATE, &create), 0);
    return create.id;
}

int vm_bind(int node, uint32_t vm, uint32_t flags, const struct drm_panthor_vm_bind_op *ops, uint32_t count) {
    struct drm_panthor_vm_bind bind = {.vm_id = vm, .flags = flags, .ops = DRM_PANTHOR_OBJ_ARRAY(count, ops)};
    return call(node, DRM_IOCTL_PANTHOR_VM_BIND, &bind);
}

int vm_map(int node, uint32_t vm, uint32_t bo, uint64_t offset, uint64_t address, uint64_t bytes) {
    struct drm_panthor_vm_bind_op op = {
        .flags = DRM_PANTHOR_VM_BIND_OP_TYPE_MAP, .bo_handle = bo, .bo_offset = offset, .va = address, .size = bytes};
    return vm_bind(node, vm, 0, &op, 1);
}

int vm_unmap(int node, uint32_t vm, uint64_t address, uint64_t bytes) {
    struct drm_panthor_vm_bind_op op = {.flags = DRM_PANTHOR_VM_BIND_OP_TYPE_UNMAP, .va = address, .size = bytes};
    return vm_bind(node, vm, 0, &op, 1);
}

uint32_t sync_new(int node, bool signalled) {
    struct drm_syncobj_create create = {.flags = signalled ? DRM_SYNCOBJ_CREATE_SIGNALED : 0};
    CHECK_EQUAL(call(node, DRM_IOCTL_SYNCOBJ_CREATE, &create), 0);
    return create.handle;
}

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 * NS_PER_MS + now.tv_nsec;
}

int64_t now_ms(void) {
    return now_ns() / NS_PER_MS;
}

int sync_wait(int node, uint32_t handle, uint64_t point, uint32_t flags, int64_t timeout_ms) {
    struct drm_syncobj_timeline_wait wait = {.handles = (uintptr_t)&handle,
                                             .points = (uintptr_t)&point,
                                             .count_handles = 1,
                                             .flags = flags,
                                             .timeout_nsec =
                                                 timeout_ms < 0 ? INT64_MAX : now_ns() + timeout_ms * NS_PER_MS};
    return call(node, DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, &wait);
}

uint32_t group_new(int node, uint32_t vm) {
    struct drm_panthor_queue_create queues[2] = {{.ringbuf_size = 65536}, {.ringbuf_size = 65536}};
    struct drm_panthor_group_create create = {.queues = DRM_PANTHOR_OBJ_ARRAY(2, queues),
                                              .vm_id = vm,
                                              .priority = PANTHOR_GROUP_PRIORITY_MEDIUM,
                                              .max_compute_cores = 4,
                                              .compute_core_mask = 0x50005};
    CHECK_EQUAL(call(node, DRM_IOCTL_PANTHOR_GROUP_CREATE, &create), 0);
    return create.group_handle;
}

static _Noreturn void child_run(const struct test *test, const char *folder) {
    char path[256], report[300];
    snprintf(path, sizeof path, "%s/errors", folder);
    snprintf(report, sizeof report, "PANTHOR_SIM_REPORT=%s/report", folder);
    failures = 0; // of the tests before
    if (freopen(path, "w", stderr) == NULL)
        exit(3);
    putenv(report);
    for (int i = 0; i < 3 && test->environment[i] != NULL; i++)
        putenv((char *)test->environment[i]);
    int node = test->no_node ? -1 : open(NODE, O_RDWR | O_CLOEXEC);
    CHECK(test->no_node || node >= 0);
    test->run(node);
    exit(failures > 0 ? 1 : 0);
}

// The whole file, "" when there is none; to be freed.
static char *file_read(const char *folder, const char *name) {
    char path[256], *text = calloc(1, 1 << 20);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    if (text == NULL)
        abort();
    if (file != NULL) {
        text[fread(text, 1, (1 << 20) - 1, file)] = '\0';
        fclose(file);
    }
    unlink(path);
    return text;
}

static bool test_run(const struct test *test, const char *folder) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        child_run(test, folder);
    int status = 0;
    waitpid(child, &status, 0);
    char *errors = file_read(folder, "errors"), *report = file_read(folder, "report");
    struct outcome outcome = {.status = status, .errors = errors, .report = report};
    failures = 0;
    if (test->after != NULL) {
        test->after(&outcome);
    } else {
        CHECK(test_ended_well(&outcome));
        CHECK(strcmp(errors, "") == 0);
    }
    bool good = failures == 0;
    if (!good)
        printf("failed: %s (status 0x%x)\n%s%s", test->name, (unsigned)status, errors, report);
    free(errors);
    free(report);
    return good;
}

int main(int argc, char **argv) {
    static const struct test *const tables[] = {memory_tests, sync_tests, group_tests, exec_tests, report_tests};
    char folder[] = "/tmp/panthor-sim-test-XXXXXX";
    int passed = 0, failed = 0;
    if (mkdtemp(folder) == NULL) {
        perror(folder);
        return 1;
    }
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        for (const struct test *test = tables[i]; test->name != NULL; test++) {
            if (argc > 1 && strstr(test->name, argv[1]) == NULL)
                continue;
            bool good = test_run(test, folder);
            passed += good;
            failed += !good;
        }
    rmdir(folder);
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0 || passed == 0;
}
