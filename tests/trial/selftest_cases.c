/* SPDX-License-Identifier: MIT
 *
 * One case a knob, or a way of using it.
 */
#include "selftest.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

/* ---- the layer by itself ---- */

static void plain(void) {
    CHECK(st_whole() == VK_SUCCESS);
    CHECK(st_log_has("\"faulted\": 0"));
    CHECK(st_log_has("\"injected\": 0"));
    CHECK(st_log_has("\"dispatches\": 1, \"indirect_dispatches\": 0, \"groups\": 4, \"largest_groups\": 4"));
    CHECK(st_log_has("\"host_barriers\": 1"));
    CHECK(st_log_has("\"vkAllocateMemory\": 2"));
    CHECK(st_log_has("\"device\": {\"live\": 0, \"peak\": 1, \"created\": 1}"));
    CHECK(st_log_has("\"memory\": {\"live\": 0, \"peak\": 2, \"created\": 2}"));
    CHECK(st_log_has("\"command_buffer\": {\"live\": 0, \"peak\": 1, \"created\": 1}"));
    CHECK(st_log_has("\"pipeline\": {\"live\": 0, \"peak\": 1, \"created\": 1}"));
}

static void again(void) {
    CHECK(st_whole() == VK_SUCCESS);
    CHECK(st_whole() == VK_SUCCESS);
    CHECK(st_log_has("\"device\": {\"live\": 0, \"peak\": 1, \"created\": 2}"));
    CHECK(st_log_has("{\"index\": 2,"));
}

static void *thread_main(void *unused) {
    (void)unused;
    for (int i = 0; i < 5; i++) {
        CHECK(st_whole() == VK_SUCCESS);
    }
    return NULL;
}

static void threads(void) {
    pthread_t all[4];
    for (int i = 0; i < 4; i++) {
        CHECK(pthread_create(&all[i], NULL, thread_main, NULL) == 0);
    }
    for (int i = 0; i < 4; i++) {
        CHECK(pthread_join(all[i], NULL) == 0);
    }
    CHECK(st_log_has("\"device\": {\"live\": 0,"));
    CHECK(st_log_has("\"created\": 20}"));
}

static void bad_knob(void) {
    struct st st = {0};
    CHECK(st_open_instance(&st) == VK_ERROR_INITIALIZATION_FAILED);
}

static void leak(void) {
    struct st st = {0};
    CHECK(st_open(&st) == VK_SUCCESS);
    st.x.memory = VK_NULL_HANDLE;
    st_close(&st);
    CHECK(st_log_has("was not freed"));
}

/* ---- failing calls ---- */

static void one_try(void) {
    exit(st_whole() < 0 ? 0 : 1);
}

/* Reads the number and the name of the call that failed from the count file; number 0 when none did. */
static unsigned long failed_call(char name[64]) {
    char line[256] = "";
    unsigned long failed = 0;
    FILE *file = fopen(st_count_path(), "r");
    CHECK(file != NULL && fgets(line, sizeof line, file) != NULL);
    fclose(file);
    const char *at = strstr(line, "failed=");
    CHECK(at != NULL && sscanf(at, "failed=%lu name=%63s", &failed, name) == 2);
    return failed;
}

/* Every call in turn, until a run has fewer: the program reports each failure but that of its last call, a
 * vkDeviceWaitIdle whose result it does not look at. */
static void fail_call(void) {
    unsigned long n = 0, failed;
    do {
        char knobs[64], name[64];
        snprintf(knobs, sizeof knobs, "TRIAL_FAIL_CALL=%lu", ++n);
        int status = st_fork(knobs, one_try);
        failed = failed_call(name);
        CHECK(failed == n || failed == 0);
        bool unnoticed = failed == 0 || strcmp(name, "vkDeviceWaitIdle") == 0;
        CHECK(status == (unnoticed ? 1 : 0));
    } while (failed != 0);
    CHECK(n > 25);
}

static void fail_name(void) {
    struct st st = {0};
    CHECK(st_open(&st) == VK_ERROR_OUT_OF_DEVICE_MEMORY);
    CHECK(st.x.memory != VK_NULL_HANDLE && st.y.memory == VK_NULL_HANDLE);
    CHECK(st_log_has("\"name\": \"vkAllocateMemory\", \"result\": -2"));
    st_close(&st);
}

static void fail_host(void) {
    CHECK(st_whole() == VK_ERROR_OUT_OF_HOST_MEMORY);
}

static void fail_lost(void) {
    struct st st = {0};
    CHECK(st_open(&st) == VK_SUCCESS);
    CHECK(st_run(&st) == VK_ERROR_DEVICE_LOST);
    CHECK(st_run(&st) == VK_ERROR_DEVICE_LOST);
    CHECK(vkDeviceWaitIdle(st.device) == VK_ERROR_DEVICE_LOST);
    st_close(&st);
}

static void lost_submit(void) {
    struct st st = {0};
    uint64_t value;
    CHECK(st_open(&st) == VK_SUCCESS);
    CHECK(st_run(&st) == VK_SUCCESS && st_right(&st) == ST_ELEMS);
    CHECK(st_submit(&st) == VK_ERROR_DEVICE_LOST);
    CHECK(st_submit(&st) == VK_ERROR_DEVICE_LOST);
    CHECK(st_wait_for(&st, 0) == VK_ERROR_DEVICE_LOST);
    CHECK(st.counter(st.device, st.timeline, &value) == VK_ERROR_DEVICE_LOST);
    st_close(&st);
}

static void lost_wait(void) {
    struct st st = {0};
    CHECK(st_open(&st) == VK_SUCCESS);
    CHECK(st_submit(&st) == VK_SUCCESS);
    CHECK(st_wait_for(&st, UINT64_MAX) == VK_ERROR_DEVICE_LOST);
    CHECK(st_submit(&st) == VK_ERROR_DEVICE_LOST);
    st_close(&st);
}

static void drop_submit(void) {
    struct st st = {0};
    CHECK(st_open(&st) == VK_SUCCESS);
    CHECK(st_run(&st) == VK_SUCCESS);
    CHECK(st.y.data[0] == ST_POISON && st.y.data[ST_ELEMS - 1] == ST_POISON);
    CHECK(st_run(&st) == VK_SUCCESS && st_right(&st) == ST_ELEMS);
    st_close(&st);
    CHECK(st_log_has("\"dropped\": true"));
}

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void delay(void) {
    struct st st = {0};
    uint64_t value = 99;
    CHECK(st_open(&st) == VK_SUCCESS);
    double begin = now_s();
    CHECK(st_submit(&st) == VK_SUCCESS);
    CHECK(st_wait_for(&st, 10 * 1000 * 1000) == VK_TIMEOUT);
    CHECK(st.counter(st.device, st.timeline, &value) == VK_SUCCESS && value == 0);
    CHECK(now_s() - begin < 0.15);
    CHECK(st_wait_for(&st, UINT64_MAX) == VK_SUCCESS);
    CHECK(now_s() - begin >= 0.199);
    CHECK(st.counter(st.device, st.timeline, &value) == VK_SUCCESS && value == 1);
    CHECK(st_submit(&st) == VK_SUCCESS);
    CHECK(st.counter(st.device, st.timeline, &value) == VK_SUCCESS && value == 1);
    CHECK(vkQueueWaitIdle(st.queue) == VK_SUCCESS);
    CHECK(now_s() - begin >= 0.399);
    CHECK(st.counter(st.device, st.timeline, &value) == VK_SUCCESS && value == 2);
    st_close(&st);
}

/* ---- memory ---- */

static VkPhysicalDeviceMemoryBudgetPropertiesEXT budget_of(struct st *st) {
    VkPhysicalDeviceMemoryBudgetPropertiesEXT budget = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT};
    VkPhysicalDeviceMemoryProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2,
                                                    .pNext = &budget};
    vkGetPhysicalDeviceMemoryProperties2(st->physical, &properties);
    return budget;
}

static void heap(void) {
    const VkDeviceSize mib = 1024 * 1024;
    struct st st = {0};
    struct st_buffer a = {0}, b = {0};
    CHECK(st_open(&st) == VK_SUCCESS);
    CHECK(st.memory.memoryHeaps[0].size == 8 * mib);
    CHECK(st_has_extension(&st, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME));
    CHECK(st_buffer_make(&st, &a, 5 * mib, 0, true) == VK_SUCCESS);
    CHECK(budget_of(&st).heapBudget[0] == 8 * mib && budget_of(&st).heapUsage[0] >= 5 * mib);
    CHECK(st_buffer_make(&st, &b, 5 * mib, 0, true) == VK_ERROR_OUT_OF_DEVICE_MEMORY);
    st_buffer_drop(&st, &a);
    st_buffer_drop(&st, &b);
    CHECK(budget_of(&st).heapUsage[0] < mib);
    CHECK(st_buffer_make(&st, &b, 5 * mib, 0, true) == VK_SUCCESS);
    st_buffer_drop(&st, &b);
    st_close(&st);
    CHECK(st_log_has("\"refused\": 1"));
}

static void nocached(void) {
    struct st st = {0};
    CHECK(st_open(&st) == VK_SUCCESS);
    CHECK(st_find_type(&st, VK_MEMORY_PROPERTY_HOST_CACHED_BIT) == UINT32_MAX);
    CHECK(st.y.data[0] == ST_POISON);
    CHECK(st_run(&st) == VK_SUCCESS && st_right(&st) == ST_ELEMS);
    st_close(&st);
}

static void split(void) {
    struct st st = {0};
    struct st_buffer local = {0};
    CHECK(st_open(&st) == VK_SUCCESS);
    CHECK(st.memory.memoryTypeCount == 2 && st.memory.memoryHeapCount == 2);
    CHECK(st.memory.memoryTypes[0].propertyFlags == VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
    CHECK(st_run(&st) == VK_SUCCESS && st_right(&st) == ST_ELEMS);
    CHECK(st_buffer_make(&st, &local, 4096, 0, false) == VK_SUCCESS);
    void *data;
    CHECK(vkMapMemory(st.device, local.memory, 0, VK_WHOLE_SIZE, 0, &data) == VK_ERROR_MEMORY_MAP_FAILED);
    CHECK(st_log_has("memory type 0 is not host visible"));
    st_buffer_drop(&st, &local);
    st_close(&st);
}

static void noncoherent(void) {
    struct st st = {0};
    CHECK(st_open(&st) == VK_SUCCESS);
    VkMemoryPropertyFlags flags = st.memory.memoryTypes[1].propertyFlags;
    CHECK(st.memory.memoryTypeCount == 3);
    CHECK(st.memory.memoryTypes[0].propertyFlags == VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
    CHECK((flags & VK_MEMORY_PROPERTY_HOST_CACHED_BIT) != 0 && (flags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT) == 0);
    CHECK((st.memory.memoryTypes[2].propertyFlags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT) != 0);
    CHECK(st.properties.limits.nonCoherentAtomSize == 64);
    CHECK(!st_has_extension(&st, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME));
    CHECK(st_run(&st) == VK_SUCCESS && st_right(&st) == ST_ELEMS);
    st_close(&st);
    CHECK(st_log_has("\"faulted\": 0"));
}

/* Without the flush the GPU reads poison, without the invalidate the program does. */
static void unflushed(void) {
    struct st st = {0};
    CHECK(st_open(&st) == VK_SUCCESS);
    for (uint32_t i = 0; i < ST_ELEMS; i++) {
        st.x.data[i] = (int32_t)i - 100;
    }
    CHECK(st_submit(&st) == VK_SUCCESS && st_wait_for(&st, UINT64_MAX) == VK_SUCCESS);
    CHECK(st.y.data[0] == ST_POISON);
    CHECK(st_invalidate(&st, &st.y) == VK_SUCCESS);
    CHECK(st.y.data[0] == (int32_t)(2u * 0xA5A5A5A5u + 1u));
    st_close(&st);
}

/* One element flushed carries its atom (16 elements) along and no more. */
static void atoms(void) {
    struct st st = {0};
    CHECK(st_open(&st) == VK_SUCCESS);
    for (uint32_t i = 0; i < ST_ELEMS; i++) {
        st.x.data[i] = (int32_t)i - 100;
    }
    VkMappedMemoryRange range = {
        .sType = VK_STRUCTURE_TYPE_MAPPED_MEMORY_RANGE, .memory = st.x.memory, .offset = 20 * 4, .size = 4};
    CHECK(vkFlushMappedMemoryRanges(st.device, 1, &range) == VK_SUCCESS);
    CHECK(st_log_has("bytes 80 to 84 of 1024 are not whole atoms of 64"));
    range.offset = 64;
    range.size = 2048;
    CHECK(vkFlushMappedMemoryRanges(st.device, 1, &range) == VK_SUCCESS);
    CHECK(st_log_has("leave the mapping"));
    CHECK(st_submit(&st) == VK_SUCCESS && st_wait_for(&st, UINT64_MAX) == VK_SUCCESS);
    CHECK(st_invalidate(&st, &st.y) == VK_SUCCESS);
    CHECK(st_right(&st) == 16 && st.y.data[16] == 2 * (16 - 100) + 1);
    st_close(&st);
    CHECK(st_log_has("\"faulted\": 2"));
}

/* The program scribbled on its output and did not flush: some of it comes back over the GPU's results. */
static void evict(void) {
    struct st st = {0};
    CHECK(st_open(&st) == VK_SUCCESS);
    CHECK(st_run(&st) == VK_SUCCESS && st_right(&st) == ST_ELEMS);
    memset(st.y.data, 0, ST_BYTES);
    CHECK(st_run(&st) == VK_SUCCESS);
    CHECK(st_right(&st) > 0 && st_right(&st) < ST_ELEMS);
    memset(st.y.data, 0, ST_BYTES);
    CHECK(st_flush(&st, &st.y) == VK_SUCCESS);
    CHECK(st_run(&st) == VK_SUCCESS && st_right(&st) == ST_ELEMS);
    st_close(&st);
    CHECK(st_log_has("\"faulted\": 0"));
}

/* ---- what the device says of itself ---- */

static void limits(void) {
    struct st st = {0};
    CHECK(st_open(&st) == VK_SUCCESS);
    const VkPhysicalDeviceLimits *l = &st.properties.limits;
    CHECK(l->maxComputeSharedMemorySize == 16384 && l->maxComputeWorkGroupInvocations == 256);
    CHECK(l->maxComputeWorkGroupSize[0] == 256 && l->maxComputeWorkGroupSize[2] == 64);
    CHECK(l->maxStorageBufferRange == 16u * 1024 * 1024 && l->minStorageBufferOffsetAlignment == 256);
    VkPhysicalDeviceProperties2 both = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
    vkGetPhysicalDeviceProperties2(st.physical, &both);
    CHECK(both.properties.limits.maxComputeWorkGroupInvocations == 256);
    st_close(&st);
}

static void identity(void) {
    struct st st = {0};
    CHECK(st_open(&st) == VK_SUCCESS);
    CHECK(st.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU);
    CHECK(strcmp(st.properties.deviceName, "Mali-G610") == 0 && st.properties.vendorID == 0x13B5);
    VkPhysicalDeviceDriverProperties driver = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
    VkPhysicalDeviceSubgroupProperties subgroup = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES,
                                                   .pNext = &driver};
    VkPhysicalDeviceProperties2 both = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &subgroup};
    vkGetPhysicalDeviceProperties2(st.physical, &both);
    CHECK(subgroup.subgroupSize == 16 && driver.driverID == VK_DRIVER_ID_MESA_PANVK);
    st_close(&st);
}

static void old(void) {
    struct st st = {0};
    CHECK(st_open(&st) == VK_SUCCESS);
    CHECK(VK_API_VERSION_MINOR(st.properties.apiVersion) == 1);
    CHECK(!st_has_extension(&st, VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME));
    CHECK(!st_has_extension(&st, VK_KHR_SHADER_FLOAT16_INT8_EXTENSION_NAME));
    CHECK(!st_has_extension(&st, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME));
    CHECK(st_has_extension(&st, VK_KHR_8BIT_STORAGE_EXTENSION_NAME));
    CHECK(st_has_extension(&st, VK_KHR_16BIT_STORAGE_EXTENSION_NAME));
    CHECK(vkGetDeviceProcAddr(st.device, "vkWaitSemaphores") == NULL);
    VkPhysicalDeviceTimelineSemaphoreFeatures timeline = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES};
    VkPhysicalDeviceVulkan12Features v12 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, .pNext = &timeline, .drawIndirectCount = 42};
    VkPhysicalDeviceShaderFloat16Int8Features half = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES, .pNext = &v12};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &half};
    vkGetPhysicalDeviceFeatures2(st.physical, &features);
    CHECK(timeline.timelineSemaphore && !half.shaderFloat16 && !half.shaderInt8 && v12.drawIndirectCount == 42);
    CHECK(features.pNext == &half && half.pNext == &v12 && v12.pNext == &timeline && timeline.pNext == NULL);
    CHECK(!features.features.shaderFloat64);
    CHECK(st_run(&st) == VK_SUCCESS && st_right(&st) == ST_ELEMS);
    st_close(&st);
    CHECK(st_log_has("\"faulted\": 0"));
}

static void old_refuses(void) {
    VkPhysicalDeviceShaderFloat16Int8Features half = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES, .shaderFloat16 = VK_TRUE};
    struct st st = {.device_next = &half};
    CHECK(st_open(&st) == VK_ERROR_FEATURE_NOT_PRESENT);
    st_close(&st);
    struct st dot = {.dot = true};
    CHECK(st_open(&dot) == VK_ERROR_EXTENSION_NOT_PRESENT);
    st_close(&dot);
}

static void hide(void) {
    struct st st = {0};
    CHECK(st_open_instance(&st) == VK_SUCCESS);
    CHECK(!st_has_extension(&st, VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME));
    CHECK(st_has_extension(&st, VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME));
    VkPhysicalDeviceVulkan12Features v12 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &v12};
    vkGetPhysicalDeviceFeatures2(st.physical, &features);
    CHECK(v12.timelineSemaphore && !v12.shaderFloat16 && !v12.shaderInt8);
    st_close(&st);
}

/* ---- the integer dot product ---- */

static bool dot_is_accelerated(struct st *st) {
    VkPhysicalDeviceShaderIntegerDotProductProperties dot = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_PROPERTIES};
    VkPhysicalDeviceProperties2 both = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &dot};
    vkGetPhysicalDeviceProperties2(st->physical, &both);
    return dot.integerDotProductAccumulatingSaturating4x8BitPackedSignedAccelerated &&
           dot.integerDotProduct4x8BitPackedSignedAccelerated;
}

/* x[i] is i - 100 as four bytes; weights 1, 1, 1, 1; plus 7. Counts the right sums among those of negative x
 * (*negative, of 100) and among the rest (of 156). */
static uint32_t right_dots(struct st *st, uint32_t *negative) {
    uint32_t right = 0;
    *negative = 0;
    CHECK(st_run(st) == VK_SUCCESS);
    for (int32_t i = 0; i < (int32_t)ST_ELEMS; i++) {
        int32_t x = i - 100, want = 7;
        for (int byte = 0; byte < 4; byte++) {
            want += (int8_t)((uint32_t)x >> 8 * byte);
        }
        right += x >= 0 && st->y.data[i] == want;
        *negative += x < 0 && st->y.data[i] == want;
    }
    return right;
}

static void dot_check(uint32_t want_right, uint32_t want_negative) {
    struct st st = {.dot = true, .weights = 0x01010101};
    uint32_t negative;
    CHECK(st_open(&st) == VK_SUCCESS);
    CHECK(dot_is_accelerated(&st));
    CHECK(right_dots(&st, &negative) == want_right);
    CHECK(negative == want_negative);
    st_close(&st);
    CHECK(st_log_has("\"faulted\": 0"));
}

static void dot_lie(void) {
    dot_check(156, 100);
}

/* x from 128 to 155 has a byte that is negative, too. */
static void dot_wrong(void) {
    dot_check(128, 0);
}

/* Right by accident where the sum is 0: only for x = 0. */
static void dot_zero(void) {
    dot_check(1, 0);
}

const struct st_case st_cases[] = {
    {"plain", "", plain},
    {"again", "", again},
    {"threads", "", threads},
    {"threads_bad", "TRIAL_MEMORY=noncoherent TRIAL_EVICT=1 TRIAL_DELAY_MS=1", threads},
    {"bad_value", "TRIAL_MEMORY=writeback", bad_knob},
    {"bad_name", "TRIAL_MEMROY=split", bad_knob},
    {"bad_call", "TRIAL_FAIL_NAME=vkCmdDispatch", bad_knob},
    {"bad_number", "TRIAL_FAIL_CALL=0", bad_knob},
    {"bad_pair", "TRIAL_EVICT=1", bad_knob},
    {"leak", "", leak},
    {"fail_call", "", fail_call},
    {"fail_name", "TRIAL_FAIL_NAME=vkAllocateMemory:2", fail_name},
    {"fail_host", "TRIAL_FAIL_NAME=vkCreateDevice TRIAL_FAIL_ERROR=host", fail_host},
    {"fail_lost", "TRIAL_FAIL_NAME=vkQueueSubmit TRIAL_FAIL_ERROR=lost", fail_lost},
    {"lost_submit", "TRIAL_LOST_SUBMIT=2", lost_submit},
    {"lost_wait", "TRIAL_LOST_WAIT=1", lost_wait},
    {"drop_submit", "TRIAL_DROP_SUBMIT=1 TRIAL_POISON=1", drop_submit},
    {"delay", "TRIAL_DELAY_MS=200", delay},
    {"heap", "TRIAL_HEAP_MB=8", heap},
    {"nocached", "TRIAL_MEMORY=nocached", nocached},
    {"split", "TRIAL_MEMORY=split", split},
    {"noncoherent", "TRIAL_MEMORY=noncoherent", noncoherent},
    {"unflushed", "TRIAL_MEMORY=noncoherent", unflushed},
    {"atoms", "TRIAL_MEMORY=noncoherent", atoms},
    {"evict", "TRIAL_MEMORY=noncoherent TRIAL_EVICT=1", evict},
    {"limits", "TRIAL_LIMITS=small TRIAL_RANGE_MB=16", limits},
    {"identity", "TRIAL_TYPE=igpu TRIAL_NAME=Mali-G610 TRIAL_SUBGROUP=16", identity},
    {"old", "TRIAL_FEATURES=old", old},
    {"old_refuses", "TRIAL_FEATURES=old", old_refuses},
    {"hide", "TRIAL_HIDE=VK_KHR_push_descriptor,VK_KHR_shader_float16_int8", hide},
    {"dot_lie", "TRIAL_FEATURES=dot4lie", dot_lie},
    {"dot_wrong", "TRIAL_FEATURES=dotwrong", dot_wrong},
    {"dot_zero", "TRIAL_FEATURES=dotzero", dot_zero},
    {NULL, NULL, NULL},
};
