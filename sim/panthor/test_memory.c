// SPDX-License-Identifier: MIT
// Buffer objects, address spaces, and what the report says about them.
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static uint64_t mmap_offset(int node, uint32_t bo) {
    struct drm_panthor_bo_mmap_offset offset = {.handle = bo};
    CHECK_EQUAL(call(node, DRM_IOCTL_PANTHOR_BO_MMAP_OFFSET, &offset), 0);
    return offset.offset;
}

static void *map_cpu(int node, uint32_t bo, size_t bytes) {
    return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, node, (off_t)mmap_offset(node, bo));
}

static void run_bo(int node) {
    struct drm_panthor_bo_create create = {.size = 5000};
    CHECK_EQUAL(call(node, DRM_IOCTL_PANTHOR_BO_CREATE, &create), 0);
    CHECK_EQUAL(create.size, 8192);
    uint32_t other = bo_new(node, 8192);
    char *one = map_cpu(node, create.handle, 8192), *again = map_cpu(node, create.handle, 8192);
    char *two = map_cpu(node, other, 8192);
    CHECK(one != MAP_FAILED && again != MAP_FAILED && two != MAP_FAILED);
    memset(one, 7, 8192);
    CHECK_EQUAL(again[8191], 7);
    CHECK_EQUAL(two[0], 0);
    CHECK(map_cpu(node, create.handle, 8193) == MAP_FAILED);
    CHECK_EQUAL(errno, EINVAL);
    CHECK(mmap(NULL, 4096, PROT_READ, MAP_SHARED, node, 1 << 30) == MAP_FAILED);
    CHECK_EQUAL(bo_close(node, create.handle), 0);
    CHECK_EQUAL(bo_close(node, create.handle), -EINVAL);
    // What a new object holds is zero, even where an old one was.
    CHECK_EQUAL(((char *)map_cpu(node, bo_new(node, 8192), 8192))[0], 0);
}

static void run_bo_refusals(int node) {
    uint32_t handle, vm = vm_new(node);
    CHECK_EQUAL(bo_create(node, 0, 0, 0, &handle), -EINVAL);
    CHECK_EQUAL(bo_create(node, 4096, 0, vm + 1, &handle), -EINVAL);
    CHECK_EQUAL(bo_create(node, UINT64_MAX, 0, 0, &handle), -ENOMEM);
    CHECK_EQUAL(bo_create(node, 4096, DRM_PANTHOR_BO_NO_MMAP, vm, &handle), 0);
    struct drm_panthor_bo_mmap_offset offset = {.handle = handle};
    CHECK_EQUAL(call(node, DRM_IOCTL_PANTHOR_BO_MMAP_OFFSET, &offset), -EPERM);
    struct drm_panthor_bo_sync_op op = {.handle = handle, .offset = 1, .size = 4095};
    struct drm_panthor_bo_sync sync = {.ops = DRM_PANTHOR_OBJ_ARRAY(1, &op)};
    CHECK_EQUAL(call(node, DRM_IOCTL_PANTHOR_BO_SYNC, &sync), 0);
    op.size = 4096;
    CHECK_EQUAL(call(node, DRM_IOCTL_PANTHOR_BO_SYNC, &sync), -EINVAL);
    struct drm_panthor_bo_query_info info = {.handle = handle};
    CHECK_EQUAL(call(node, DRM_IOCTL_PANTHOR_BO_QUERY_INFO, &info), 0);
    CHECK_EQUAL(info.create_flags, DRM_PANTHOR_BO_NO_MMAP);
    struct drm_panthor_bo_set_label label = {.handle = 99, .label = (uintptr_t) "x"};
    CHECK_EQUAL(call(node, DRM_IOCTL_PANTHOR_BO_SET_LABEL, &label), -ENOENT);
}

// An object without a handle holds its memory while it is mapped.
static void run_bo_limit(int node) {
    uint32_t refused, vm = vm_new(node), bo = bo_new(node, 48 * MIB);
    CHECK_EQUAL(vm_map(node, vm, bo, 0, 64 * MIB, 48 * MIB), 0);
    CHECK_EQUAL(bo_create(node, 32 * MIB, 0, 0, &refused), -ENOMEM);
    CHECK_EQUAL(bo_close(node, bo), 0);
    CHECK_EQUAL(bo_create(node, 32 * MIB, 0, 0, &refused), -ENOMEM);
    CHECK_EQUAL(vm_unmap(node, vm, 64 * MIB, 48 * MIB), 0);
    bo_new(node, 32 * MIB);
}

static void after_bo_limit(const struct outcome *outcome) {
    CHECK(test_ended_well(outcome));
    CHECK_EQUAL(test_report_number(outcome, "bo_peak_mib"), 48);
    CHECK_EQUAL(test_report_number(outcome, "pinned_mib"), 48);
    CHECK_EQUAL(test_report_number(outcome, "refused"), 2);
}

// 16 MiB lose 4 in the middle; with 32 more the peak is 44, in parts of 6, 6 and 32; 8 at another place are not below
// 4 GiB, and of 4 that cross the border 1 is.
static void run_accounting(int node) {
    uint32_t vm = vm_new(node), a = bo_new(node, 16 * MIB), b = bo_new(node, 32 * MIB), c = bo_new(node, 8 * MIB);
    struct drm_panthor_bo_set_label label = {.handle = b, .label = (uintptr_t) "say \"spill\"\n"};
    CHECK_EQUAL(call(node, DRM_IOCTL_PANTHOR_BO_SET_LABEL, &label), 0);
    CHECK_EQUAL(vm_map(node, vm, a, 0, 64 * MIB, 16 * MIB), 0);
    CHECK_EQUAL(vm_unmap(node, vm, 70 * MIB, 4 * MIB), 0);
    CHECK_EQUAL(vm_map(node, vm, c, 0, 8192 * MIB, 8 * MIB), 0);
    CHECK_EQUAL(vm_map(node, vm, c, 4 * MIB, 4095 * MIB, 4 * MIB), 0);
    CHECK_EQUAL(vm_map(node, vm, b, 0, 128 * MIB, 32 * MIB), 0);
    CHECK_EQUAL(vm_unmap(node, vm, 0, 4096 * MIB), 0);
    CHECK_EQUAL(vm_map(node, vm, a, 0, 64 * MIB, 16 * MIB), 0);
}

static void after_accounting(const struct outcome *outcome) {
    CHECK(test_ended_well(outcome));
    CHECK_EQUAL(test_report_number(outcome, "heap_peak_mib"), 45);
    CHECK(strstr(outcome->report, "\"heap_by_size\": [{\"mib\": 32.000000, \"count\": 1}, {\"mib\": 6.000000, "
                                  "\"count\": 2}, {\"mib\": 4.000000, \"count\": 1}]") != NULL);
    CHECK_EQUAL(test_report_number(outcome, "heap_largest_hole_mib"), 4095 - 160);
    CHECK(strstr(outcome->report, "{\"label\": \"say \\\"spill\\\" \", \"mib\": 32.000}") != NULL);
    CHECK_EQUAL(test_report_number(outcome, "mapped_peak_mib"), 12 + 8 + 4 + 32);
    CHECK_EQUAL(test_report_number(outcome, "pinned_mib"), 56);
    CHECK_EQUAL(test_report_number(outcome, "bo_peak_mib"), 56);
    CHECK_EQUAL(test_report_number(outcome, "bo_count_peak"), 3);
    CHECK_EQUAL(test_report_number(outcome, "binds"), 7);
}

// Scratch is what lies below 4 GiB and the CPU never maps.
static void run_scratch(int node) {
    uint32_t vm = vm_new(node), hidden, plain = bo_new(node, 16 * MIB);
    CHECK_EQUAL(bo_create(node, 8 * MIB, DRM_PANTHOR_BO_NO_MMAP, 0, &hidden), 0);
    CHECK_EQUAL(vm_map(node, vm, plain, 0, 64 * MIB, 16 * MIB), 0);
    CHECK_EQUAL(vm_map(node, vm, hidden, 0, 8192 * MIB, 8 * MIB), 0);
    CHECK_EQUAL(vm_map(node, vm, hidden, 0, 128 * MIB, 8 * MIB), 0);
    CHECK_EQUAL(vm_unmap(node, vm, 130 * MIB, 3 * MIB), 0);
    CHECK_EQUAL(vm_map(node, vm, hidden, 0, 256 * MIB, 2 * MIB), 0);
}

static void after_scratch(const struct outcome *outcome) {
    CHECK(test_ended_well(outcome));
    CHECK_EQUAL(test_report_number(outcome, "scratch_peak_mib"), 8);
    CHECK_EQUAL(test_report_number(outcome, "heap_peak_mib"), 24);
}

// A mapping over others takes their place; the fullest of two address spaces counts, not their sum.
static void run_overlap(int node) {
    uint32_t vm = vm_new(node), other = vm_new(node), a = bo_new(node, 16 * MIB), b = bo_new(node, 8 * MIB);
    CHECK_EQUAL(vm_map(node, other, a, 0, 64 * MIB, 16 * MIB), 0);
    CHECK_EQUAL(vm_map(node, vm, a, 0, 64 * MIB, 16 * MIB), 0);
    CHECK_EQUAL(vm_map(node, vm, b, 0, 60 * MIB, 8 * MIB), 0);
    CHECK_EQUAL(vm_map(node, vm, b, 0, 76 * MIB, 8 * MIB), 0);
    struct drm_panthor_vm_destroy destroy = {.id = other};
    CHECK_EQUAL(call(node, DRM_IOCTL_PANTHOR_VM_DESTROY, &destroy), 0);
    CHECK_EQUAL(call(node, DRM_IOCTL_PANTHOR_VM_DESTROY, &destroy), -EINVAL);
}

static void after_overlap(const struct outcome *outcome) {
    CHECK(test_ended_well(outcome));
    CHECK_EQUAL(test_report_number(outcome, "heap_peak_mib"), 24);
    CHECK(strstr(outcome->report, "[{\"mib\": 8.000000, \"count\": 3}]") != NULL);
}

static void run_vm_refusals(int node) {
    uint32_t vm = vm_new(node), other = vm_new(node), bo = bo_new(node, MIB), own, sync = sync_new(node, true);
    CHECK_EQUAL(bo_create(node, MIB, 0, other, &own), 0);
    CHECK_EQUAL(vm_map(node, 63, bo, 0, MIB, MIB), -EINVAL);
    CHECK_EQUAL(vm_map(node, vm, bo + 9, 0, MIB, MIB), -EINVAL);
    CHECK_EQUAL(vm_map(node, vm, own, 0, MIB, MIB), -EINVAL);
    CHECK_EQUAL(vm_map(node, vm, bo, 0, MIB + 1, MIB), -EINVAL);
    CHECK_EQUAL(vm_map(node, vm, bo, 4096, MIB, MIB), -EINVAL);
    CHECK_EQUAL(vm_map(node, vm, bo, 0, MIB, 0), -EINVAL);
    CHECK_EQUAL(vm_map(node, vm, bo, 0, UINT64_C(1) << 47, MIB), -EINVAL);
    CHECK_EQUAL(vm_unmap(node, vm, UINT64_C(0) - 4096, 8192), -EINVAL);
    struct drm_panthor_sync_op op = {.flags = (uint32_t)DRM_PANTHOR_SYNC_OP_SIGNAL, .handle = sync};
    struct drm_panthor_vm_bind_op with_sync = {
        .flags = DRM_PANTHOR_VM_BIND_OP_TYPE_UNMAP, .size = MIB, .syncs = DRM_PANTHOR_OBJ_ARRAY(1, &op)};
    CHECK_EQUAL(vm_bind(node, vm, 0, &with_sync, 1), -EINVAL);
    CHECK_EQUAL(vm_bind(node, vm, DRM_PANTHOR_VM_BIND_ASYNC, &with_sync, 1), 0);
    op = (struct drm_panthor_sync_op){.handle = sync_new(node, false)}; // a wait, and nothing to wait for
    CHECK_EQUAL(vm_bind(node, vm, DRM_PANTHOR_VM_BIND_ASYNC, &with_sync, 1), -EINVAL);
    // All or nothing: the second operation is wrong, so the first is not done either (the report shows it).
    struct drm_panthor_vm_bind_op pair[2] = {{.bo_handle = bo, .va = MIB, .size = MIB}, {.bo_handle = 77, .size = MIB}};
    CHECK_EQUAL(vm_bind(node, vm, DRM_PANTHOR_VM_BIND_ASYNC, pair, 2), -EINVAL);
}

static void after_vm_refusals(const struct outcome *outcome) {
    CHECK(test_ended_well(outcome));
    CHECK_EQUAL(test_report_number(outcome, "refused"), 11);
    CHECK_EQUAL(test_report_number(outcome, "maps"), 0);
    CHECK_EQUAL(test_report_number(outcome, "heap_peak_mib"), 0);
}

static void run_heap_limit(int node) {
    uint32_t vm = vm_new(node), bo = bo_new(node, 16 * MIB);
    CHECK_EQUAL(vm_map(node, vm, bo, 0, 64 * MIB, 16 * MIB), 0);
    CHECK_EQUAL(vm_map(node, vm, bo, 0, 128 * MIB, 8 * MIB), -ENOMEM);
    CHECK_EQUAL(vm_map(node, vm, bo, 0, 8192 * MIB, 16 * MIB), 0);
}

static void *make_and_drop(void *argument) {
    int node = *(int *)argument;
    uint32_t vm = vm_new(node);
    for (int i = 0; i < 500; i++) {
        uint32_t bo = bo_new(node, MIB);
        CHECK_EQUAL(vm_map(node, vm, bo, 0, 64 * MIB, MIB), 0);
        CHECK_EQUAL(bo_close(node, bo), 0);
        CHECK_EQUAL(vm_unmap(node, vm, 64 * MIB, MIB), 0);
    }
    return NULL;
}

static void run_threads(int node) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        CHECK_EQUAL(pthread_create(&threads[i], NULL, make_and_drop, &node), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

static void after_threads(const struct outcome *outcome) {
    CHECK(test_ended_well(outcome));
    CHECK_EQUAL(test_report_number(outcome, "bo_created"), 2000);
    CHECK_EQUAL(test_report_number(outcome, "maps"), 2000);
    CHECK_EQUAL(test_report_number(outcome, "heap_peak_mib"), 1);
    CHECK(test_report_number(outcome, "bo_count_peak") <= 4);
}

const struct test memory_tests[] = {
    {.name = "buffer object", .run = run_bo},
    {.name = "buffer object: refusals", .run = run_bo_refusals},
    {.name = "buffer object: limit",
     .environment = {"PANTHOR_SIM_BO_LIMIT_MIB=64"},
     .run = run_bo_limit,
     .after = after_bo_limit},
    {.name = "address space: accounting", .run = run_accounting, .after = after_accounting},
    {.name = "address space: scratch", .run = run_scratch, .after = after_scratch},
    {.name = "address space: overlap", .run = run_overlap, .after = after_overlap},
    {.name = "address space: refusals", .run = run_vm_refusals, .after = after_vm_refusals},
    {.name = "address space: limit", .environment = {"PANTHOR_SIM_HEAP_LIMIT_MIB=20"}, .run = run_heap_limit},
    {.name = "threads", .run = run_threads, .after = after_threads},
    {0}};
