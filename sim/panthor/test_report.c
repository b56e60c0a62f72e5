// SPDX-License-Identifier: MIT
// What the device says about itself, the knobs, what is said of unknown calls, and the report in every kind of end.
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <xf86drm.h>

static int query(int node, uint32_t type, uint32_t *bytes, void *answer) {
    struct drm_panthor_dev_query query = {.type = type, .size = *bytes, .pointer = (uintptr_t)answer};
    int result = call(node, DRM_IOCTL_PANTHOR_DEV_QUERY, &query);
    *bytes = query.size;
    return result;
}

static void run_queries(int node) {
    char name[8] = "", info[sizeof(struct drm_panthor_gpu_info) + 8];
    struct drm_version version = {.name = name, .name_len = sizeof name};
    CHECK_EQUAL(call(node, DRM_IOCTL_VERSION, &version), 0);
    CHECK(strcmp(name, "panthor") == 0);
    CHECK_EQUAL(version.version_minor, 7);
    uint32_t bytes = 0;
    CHECK_EQUAL(query(node, DRM_PANTHOR_DEV_QUERY_GPU_INFO, &bytes, NULL), 0);
    CHECK_EQUAL(bytes, sizeof(struct drm_panthor_gpu_info));
    memset(info, 1, sizeof info);
    bytes = 4; // no more than there is place for
    CHECK_EQUAL(query(node, DRM_PANTHOR_DEV_QUERY_GPU_INFO, &bytes, info), 0);
    CHECK(((struct drm_panthor_gpu_info *)info)->gpu_id == 0xa8670005 && info[4] == 1);
    bytes = sizeof info; // and zeros after the end
    CHECK_EQUAL(query(node, DRM_PANTHOR_DEV_QUERY_GPU_INFO, &bytes, info), 0);
    CHECK_EQUAL(((struct drm_panthor_gpu_info *)info)->shader_present, 0x50005);
    CHECK_EQUAL(info[sizeof info - 1], 0);
    struct drm_get_cap cap = {.capability = DRM_CAP_SYNCOBJ_TIMELINE};
    CHECK_EQUAL(call(node, DRM_IOCTL_GET_CAP, &cap), 0);
    CHECK_EQUAL(cap.value, 1);
}

// Of another GPU, with an older driver: what came later is unknown.
static void run_old_driver(int node) {
    struct drm_panthor_gpu_info info;
    uint32_t bytes = sizeof info, group_bytes = 4, priorities;
    CHECK_EQUAL(query(node, DRM_PANTHOR_DEV_QUERY_GPU_INFO, &bytes, &info), 0);
    CHECK_EQUAL(info.gpu_id, 0xd8300015);
    CHECK_EQUAL(query(node, DRM_PANTHOR_DEV_QUERY_GROUP_PRIORITIES_INFO, &group_bytes, &priorities), -EINVAL);
    struct drm_panthor_bo_set_label label = {.handle = bo_new(node, 4096), .label = (uintptr_t) "x"};
    CHECK_EQUAL(call(node, DRM_IOCTL_PANTHOR_BO_SET_LABEL, &label), -EINVAL);
}

static void after_old_driver(const struct outcome *outcome) {
    CHECK(test_ended_well(outcome));
    CHECK(strstr(outcome->errors, "not simulated: DEV_QUERY of type 3 of panthor 1.1") != NULL);
    CHECK_EQUAL(test_report_number(outcome, "unknown_ioctls"), 1);
    CHECK(strstr(outcome->report, "\"gpu\": \"g725\"") != NULL);
}

static void run_unknown(int node) {
    uint64_t anything = 0;
    CHECK_EQUAL(call(node, _IOWR('d', 0x7f, uint64_t), &anything), -EINVAL);
    uint32_t handle;
    CHECK_EQUAL(bo_create(node, 4096, 1 << 30, 0, &handle), -EINVAL);
}

static void after_unknown(const struct outcome *outcome) {
    CHECK(test_ended_well(outcome));
    CHECK(strstr(outcome->errors, "[panthor-sim] not simulated: ioctl 0xc008647f (number 0x7f)") != NULL);
    CHECK(strstr(outcome->errors, "not simulated: BO_CREATE flags 0x40000000") != NULL);
    CHECK_EQUAL(test_report_number(outcome, "unknown_ioctls"), 1);
    CHECK_EQUAL(test_report_number(outcome, "refused"), 2);
}

// Everything that does not concern the node goes on to the kernel.
static void run_files(int node) {
    struct stat status;
    struct sysinfo info;
    int bytes, pair[2];
    CHECK(stat(NODE, &status) == 0 && S_ISCHR(status.st_mode) && status.st_rdev == makedev(226, 128));
    CHECK(stat("/", &status) == 0 && S_ISDIR(status.st_mode));
    CHECK(open("/does/not/exist", O_RDONLY) == -1 && errno == ENOENT);
    CHECK(pipe(pair) == 0 && write(pair[1], "abc", 3) == 3 && ioctl(pair[0], FIONREAD, &bytes) == 0 && bytes == 3);
    CHECK(sysinfo(&info) == 0 && info.totalram * info.mem_unit == 8192 * MIB);
    CHECK_EQUAL(sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE), 8192 * MIB);
    void *registers = mmap(NULL, 4096, PROT_READ, MAP_SHARED, node, (off_t)DRM_PANTHOR_USER_FLUSH_ID_MMIO_OFFSET);
    CHECK(registers != MAP_FAILED && *(uint32_t *)registers == 0);
    CHECK(mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, node, (off_t)DRM_PANTHOR_USER_FLUSH_ID_MMIO_OFFSET) == MAP_FAILED);
    drmDevicePtr devices[2], same;
    CHECK_EQUAL(drmGetDevices2(0, devices, 2), 1);
    CHECK(strcmp(devices[0]->nodes[DRM_NODE_RENDER], NODE) == 0);
    CHECK(strcmp(devices[0]->deviceinfo.platform->compatible[0], "rockchip,rk3588-mali") == 0);
    CHECK_EQUAL(drmGetDevice2(node, 0, &same), 0);
    CHECK_EQUAL(drmGetDevice2(pair[0], 0, &devices[1]), -ENODEV);
    drmFreeDevices(devices, 1);
    drmFreeDevice(&same);
    CHECK(same == NULL);
}

static void run_abort(int node) {
    bo_new(node, 3 * MIB);
    abort();
}

static void after_abort(const struct outcome *outcome) {
    CHECK(WIFSIGNALED(outcome->status) && WTERMSIG(outcome->status) == SIGABRT);
    CHECK(strstr(outcome->report, "\"ended\": \"abort\"") != NULL);
    CHECK_EQUAL(test_report_number(outcome, "bo_peak_mib"), 3);
    CHECK(strstr(outcome->errors, "ended by abort\n") != NULL); // LOG=1 asks for the text
}

static void run_terminated(int node) {
    bo_new(node, 3 * MIB);
    raise(SIGTERM);
}

static void after_terminated(const struct outcome *outcome) {
    CHECK(WIFSIGNALED(outcome->status) && WTERMSIG(outcome->status) == SIGTERM);
    CHECK(strstr(outcome->report, "\"ended\": \"SIGTERM\"") != NULL);
    CHECK(strcmp(outcome->errors, "") == 0);
}

static void run_crash(int none) {
    (void)none;
    signal(SIGSEGV, SIG_DFL); // a sanitizer has its own
    int node = open(NODE, O_RDWR);
    bo_new(node, 3 * MIB);
    // Inside the driver, which holds its lock: an array of operations at an address that is not there.
    struct drm_panthor_bo_sync sync = {.ops = {.stride = 24, .count = 1, .array = 64}};
    call(node, DRM_IOCTL_PANTHOR_BO_SYNC, &sync);
}

static void after_crash(const struct outcome *outcome) {
    CHECK(WIFSIGNALED(outcome->status) && WTERMSIG(outcome->status) == SIGSEGV);
    CHECK(strstr(outcome->report, "\"ended\": \"a crash\"") != NULL);
    CHECK_EQUAL(test_report_number(outcome, "bo_peak_mib"), 3);
}

static void own_handler(int signal) {
    (void)signal;
    _exit(42);
}

// A handler that was there before the device was opened is still called.
static void run_own_handler(int none) {
    (void)none;
    signal(SIGTERM, own_handler);
    bo_new(open(NODE, O_RDWR), MIB);
    raise(SIGTERM);
}

static void after_own_handler(const struct outcome *outcome) {
    CHECK(WIFEXITED(outcome->status) && WEXITSTATUS(outcome->status) == 42);
    CHECK(strstr(outcome->report, "\"ended\": \"SIGTERM\"") != NULL);
}

static void run_nothing(int node) {
    (void)node;
}

static void after_unused(const struct outcome *outcome) {
    CHECK(test_ended_well(outcome));
    CHECK(strcmp(outcome->report, "") == 0);
}

// A child that did not open the device itself has nothing to report, and must not replace the parent's report.
static void run_fork(int node) {
    bo_new(node, 5 * MIB);
    pid_t child = fork();
    if (child == 0)
        exit(0);
    waitpid(child, NULL, 0);
    CHECK(access(getenv("PANTHOR_SIM_REPORT"), F_OK) != 0);
}

static void after_fork(const struct outcome *outcome) {
    CHECK(test_ended_well(outcome));
    CHECK_EQUAL(test_report_number(outcome, "bo_peak_mib"), 5);
}

// %p in the name.
static void run_pid(int none) {
    (void)none;
    static char variable[300];
    char path[280], plain[256];
    snprintf(plain, sizeof plain, "%s", getenv("PANTHOR_SIM_REPORT"));
    snprintf(variable, sizeof variable, "PANTHOR_SIM_REPORT=%s.%%p", plain);
    putenv(variable);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        exit(open(NODE, O_RDWR) < 0);
    waitpid(child, NULL, 0);
    snprintf(path, sizeof path, "%s.%d", plain, child);
    CHECK_EQUAL(unlink(path), 0);
}

static void after_unwritable(const struct outcome *outcome) {
    CHECK(test_ended_well(outcome));
    CHECK(strstr(outcome->errors, "the report cannot be written to PANTHOR_SIM_REPORT=/does/not/exist") != NULL);
}

static void after_bad_knob(const struct outcome *outcome) {
    CHECK(WIFEXITED(outcome->status) && WEXITSTATUS(outcome->status) == 2);
    CHECK(strstr(outcome->errors, "[panthor-sim] PANTHOR_SIM_") == outcome->errors);
    CHECK(strstr(outcome->errors, "makes no sense") != NULL || strstr(outcome->errors, "is not a knob") != NULL);
}

#define BAD_KNOB(setting)                                                                                              \
    { .name = "knob " setting, .environment = {"PANTHOR_SIM_" setting}, .run = run_nothing, .after = after_bad_knob }

const struct test report_tests[] = {
    {.name = "queries", .run = run_queries},
    {.name = "older driver, other GPU",
     .environment = {"PANTHOR_SIM_MINOR=1", "PANTHOR_SIM_GPU=g725"},
     .run = run_old_driver,
     .after = after_old_driver},
    {.name = "unknown ioctl", .run = run_unknown, .after = after_unknown},
    {.name = "files", .environment = {"PANTHOR_SIM_RAM_MIB=8192"}, .run = run_files},
    {.name = "report: abort", .environment = {"PANTHOR_SIM_LOG=1"}, .run = run_abort, .after = after_abort},
    {.name = "report: terminated", .run = run_terminated, .after = after_terminated},
    {.name = "report: crash", .run = run_crash, .after = after_crash, .no_node = true},
    {.name = "report: own handler", .run = run_own_handler, .after = after_own_handler, .no_node = true},
    {.name = "report: device not used", .run = run_nothing, .after = after_unused, .no_node = true},
    {.name = "report: fork", .run = run_fork, .after = after_fork},
    {.name = "report: process id", .run = run_pid, .no_node = true},
    {.name = "report: unwritable",
     .environment = {"PANTHOR_SIM_REPORT=/does/not/exist"},
     .run = run_nothing,
     .after = after_unwritable},
    BAD_KNOB("GPU=g999"),
    BAD_KNOB("MINOR=10"),
    BAD_KNOB("RAM_MIB=-5"),
    BAD_KNOB("LOSE_AT=3x"),
    BAD_KNOB("LOSE_ATT=3"),
    {0}};
