/* SPDX-License-Identifier: MIT
 *
 * VK_LAYER_ROCKFILL_trial: a test-only Vulkan layer that plays bad devices. README.md lists its knobs.
 *
 * Boundary: this header is private to the layer. The only exported symbol is the loader's negotiation function
 * (entry.c). Functions named trial_vkX stand in front of vkX; all others are trial_<file>_<verb>.
 *
 * State is kept for the life of the process (the library is linked with nodelete), because counts such as
 * TRIAL_FAIL_CALL must go on when a program destroys its instance and makes another.
 *
 * Threads: one mutex (trial_table_lock) guards all state. It is never held while the next layer is called, with one
 * exception said at trial_shadow_evict.
 */
#ifndef TRIAL_H
#define TRIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

#include "calls.h"

#define TRIAL_LAYER_NAME "VK_LAYER_ROCKFILL_trial"
#define TRIAL_ATOM_BYTES 64u
#define TRIAL_MIB (1024ull * 1024ull)

/* Fallible calls, in the order of TRIAL_FALLIBLE. */
#define X(call, may, is) TRIAL_CALL_##call,
enum trial_call { TRIAL_FALLIBLE(X) TRIAL_CALL_COUNT };
#undef X

/* Objects whose number is kept: how many now, at most, ever. */
enum trial_kind {
    TRIAL_KIND_INSTANCE,
    TRIAL_KIND_DEVICE,
    TRIAL_KIND_MEMORY,
    TRIAL_KIND_BUFFER,
    TRIAL_KIND_SHADER_MODULE,
    TRIAL_KIND_PIPELINE_LAYOUT,
    TRIAL_KIND_DESCRIPTOR_SET_LAYOUT,
    TRIAL_KIND_DESCRIPTOR_POOL,
    TRIAL_KIND_DESCRIPTOR_UPDATE_TEMPLATE,
    TRIAL_KIND_PIPELINE,
    TRIAL_KIND_PIPELINE_CACHE,
    TRIAL_KIND_COMMAND_POOL,
    TRIAL_KIND_COMMAND_BUFFER,
    TRIAL_KIND_SEMAPHORE,
    TRIAL_KIND_FENCE,
    TRIAL_KIND_QUERY_POOL,
    TRIAL_KIND_COUNT
};

/* ---- config.c: the knobs, read from the environment when the process makes its first instance ---- */

enum trial_memory_mode {
    TRIAL_MEMORY_AS_IS,
    TRIAL_MEMORY_NOCACHED,
    TRIAL_MEMORY_SPLIT,
    TRIAL_MEMORY_NONCOHERENT,
};
enum trial_fail_error { TRIAL_FAIL_ANY, TRIAL_FAIL_HOST, TRIAL_FAIL_DEVICE, TRIAL_FAIL_LOST };
enum trial_dot { TRIAL_DOT_AS_IS, TRIAL_DOT_LIE, TRIAL_DOT_WRONG, TRIAL_DOT_ZERO };

/* "N": the Nth occurrence, counted from 1. "N+": the Nth and all later ones. n is 0 when the knob is not set. */
struct trial_nth {
    uint64_t n;
    bool and_later;
};

struct trial_config {
    struct trial_nth fail_call, fail_name, drop_submit;
    enum trial_call fail_name_call;
    enum trial_fail_error fail_error;
    uint64_t lost_submit, lost_wait;
    uint64_t heap_mib, range_mib, subgroup, delay_ms, seed;
    enum trial_memory_mode memory;
    enum trial_dot dot;
    bool evict, poison, limits_small, features_old;
    bool type_set;
    VkPhysicalDeviceType type;
    char *name, *hide, *count_file, *log_file;
};
extern struct trial_config trial_config;

/* Reads the environment once a process. False when a knob is unknown or has a value that is not understood; a line on
 * stderr says which. Takes the lock. */
bool trial_config_load(void);
/* Whether occurrence number `index` (from 1) is one that `nth` names. */
bool trial_config_hits(const struct trial_nth *nth, uint64_t index);
/* Whether `name` is in the comma-separated `list` (which may be NULL). */
bool trial_config_lists(const char *list, const char *name);

/* ---- table.c: instances and devices, found by the loader's dispatch pointer ---- */

#define X(call) PFN_##call call;
struct trial_instance {
    void *key;
    VkInstance handle;
    PFN_vkGetInstanceProcAddr next_gipa;
    PFN_GetPhysicalDeviceProcAddr next_gpdpa; /* may be NULL */
    struct {
        TRIAL_INSTANCE_CALLS(X)
    } next;
    struct trial_instance *link;
};

struct trial_device {
    void *key;
    VkDevice handle;
    VkPhysicalDevice physical;
    struct trial_instance *instance;
    PFN_vkGetDeviceProcAddr next_gdpa;
    struct {
        TRIAL_DEVICE_CALLS(X)
    } next;
    bool lost;
    uint64_t queue_ready_ns; /* when the work submitted so far is over, if TRIAL_DELAY_MS stretches it */
    struct trial_device *link;
};
#undef X

void trial_table_lock(void);
void trial_table_unlock(void);
/* Adding takes ownership. Finding aborts on an unknown handle, which only a broken loader can pass. All lock. */
void trial_table_add_instance(struct trial_instance *instance);
void trial_table_add_device(struct trial_device *device);
struct trial_instance *trial_table_instance(const void *dispatchable);
struct trial_device *trial_table_device(const void *dispatchable);
/* Takes the entry out of the table and hands it to the caller, who frees it. */
struct trial_instance *trial_table_take_instance(const void *dispatchable);
struct trial_device *trial_table_take_device(const void *dispatchable);

/* ---- map.c: 64-bit key to pointer. No locking of its own. ---- */

struct trial_map {
    struct trial_map_slot *slots;
    size_t capacity, used;
};
/* put replaces; false when out of memory. get and take return NULL for an unknown key. */
bool trial_map_put(struct trial_map *map, uint64_t key, void *value);
void *trial_map_get(const struct trial_map *map, uint64_t key);
void *trial_map_take(struct trial_map *map, uint64_t key);
/* Walks the map: start with *at = 0; NULL at the end. Nothing may be put or taken meanwhile. */
void *trial_map_next(const struct trial_map *map, size_t *at);
/* A key from a dispatchable or non-dispatchable handle. */
#define TRIAL_KEY(handle) ((uint64_t)(uintptr_t)(handle))

/* ---- fault.c: counting calls, failing them, losing the device ---- */

/* Counts one fallible call and decides its fate: VK_SUCCESS (go on) or the error to return at once. `device` is NULL
 * for instance-level calls. `index`, if not NULL, receives the number (from 1) of this submit or wait. Locks. */
VkResult trial_fault_check(enum trial_call call, struct trial_device *device, uint64_t *index);
/* Looks up "vkFoo"; TRIAL_CALL_COUNT when it is not a fallible call. */
enum trial_call trial_fault_find(const char *name, size_t length);
const char *trial_fault_name(enum trial_call call);
/* How often the call was made so far, failed ones included. The caller holds the lock. */
uint64_t trial_fault_calls(enum trial_call call);
uint64_t trial_fault_total(void);

/* ---- log.c: what happened, as JSON in TRIAL_LOG ---- */

/* What one submission was made of. Counts; groups are workgroups; bytes of copies and fills. */
struct trial_work {
    uint64_t command_buffers, dispatches, indirect_dispatches, groups, largest_groups, transfers, transfer_bytes;
    uint64_t barriers, host_barriers;
};

/* These take the lock unless said otherwise. */
void trial_log_start(void);
void trial_log_count(enum trial_kind kind, int64_t change);
void trial_log_submit(uint64_t index, const struct trial_work *work, bool dropped);
void trial_log_allocation(VkDeviceSize bytes, uint32_t type, bool imported);
void trial_log_free(VkDeviceSize bytes);
/* An allocation refused because the heap that TRIAL_HEAP_MB pretends was full. */
void trial_log_refusal(VkDeviceSize bytes);
/* An injected failure. The caller holds the lock. */
void trial_log_injection(enum trial_call call, uint64_t total, VkResult result);
/* Something the program under test did that a device would punish: one line "TRIAL FAULT: ..." to stderr. */
void trial_log_fault(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Writes TRIAL_LOG anew (atomically); does nothing when it is not set. */
void trial_log_write(void);
uint64_t trial_log_now_ns(void);

/* ---- limits.c and features.c: what the device says of itself ---- */

void trial_limits_mask(VkPhysicalDeviceProperties *properties);
void trial_limits_mask_chain(void *chain);

/* Takes the structures that the pretended device does not know out of an output chain, so that the driver leaves them
 * untouched as an older driver would; restore puts them back. */
#define TRIAL_MAX_UNLINKED 32
struct trial_unlinked {
    VkBaseOutStructure *before[TRIAL_MAX_UNLINKED], *node[TRIAL_MAX_UNLINKED];
    uint32_t count;
};
void trial_features_unlink(void *head, struct trial_unlinked *unlinked);
void trial_features_restore(struct trial_unlinked *unlinked);
/* Whether the pretended device hides this device extension. */
bool trial_features_hides(const char *extension);
/* Whether an entry point is newer than the pretended device's version. */
bool trial_features_hides_call(const char *name);
/* VK_SUCCESS, or the error that a device without the hidden features and extensions returns. */
VkResult trial_features_check_device(const VkDeviceCreateInfo *info);

/* ---- memory.c: memory types and heaps; shadow.c: memory that is not coherent ---- */

struct trial_memory {
    VkDeviceMemory handle;
    struct trial_device *device;
    VkDeviceSize bytes;
    uint32_t type, heap; /* as reported to the program */
    bool imported, host_visible, mapped;
    VkDeviceSize map_offset, map_bytes;
    /* Only where the program sees a shadow; bytes rounded up to whole atoms. */
    uint8_t *real;   /* what the GPU sees (mapped, `bytes` long) */
    uint8_t *shadow; /* what the program sees */
    uint8_t *synced; /* the shadow as of the last flush or invalidate; only with TRIAL_EVICT */
};

/* The record of an allocation, or NULL. Locks. */
struct trial_memory *trial_memory_find(VkDeviceMemory handle);
/* Calls visit for each allocation of the device. The caller holds the lock. */
void trial_memory_visit(struct trial_device *device, void (*visit)(struct trial_memory *memory));
/* Frees the records of allocations that the program leaked. Locks. */
void trial_memory_forget(struct trial_device *device);

/* Maps the memory and gives it a shadow. VK_SUCCESS or an error, with nothing kept. */
VkResult trial_shadow_create(struct trial_memory *memory);
void trial_shadow_destroy(struct trial_memory *memory);
/* Writes back some lines that the program wrote and did not flush, as a cache may at any time: before the GPU works
 * and after it did. Holds the lock while it copies (no Vulkan call is made). */
void trial_shadow_evict(struct trial_device *device);

/* ---- command.c: what command buffers hold ---- */

/* Adds what the command buffer holds to `work`. Locks. */
void trial_command_sum(VkCommandBuffer buffer, struct trial_work *work);

/* ---- shader.c: SPIR-V ---- */

/* A copy of the code (code_bytes long, to be freed) with the integer dot products broken as TRIAL_FEATURES says; NULL
 * (use the original) when out of memory. Logs a fault where the code uses what the pretended device lacks. */
uint32_t *trial_shader_patch(const uint32_t *code, size_t code_bytes);

/* ---- delay.c: a slow GPU ---- */

/* A submission that signals the handle (a fence, or a timeline semaphore reaching value) is over at this time. The
 * clock is that of trial_log_now_ns. All lock. */
uint64_t trial_delay_submit(struct trial_device *device);
void trial_delay_signal(uint64_t handle, uint64_t value, uint64_t ready_ns);
void trial_delay_forget(uint64_t handle);
/* When the handle has reached the value as far as submissions are known; 0 for "not held back". */
uint64_t trial_delay_ready(uint64_t handle, uint64_t value);
/* The highest value that the semaphore may show now, given that it really is at `value`. */
uint64_t trial_delay_visible(uint64_t handle, uint64_t value);
/* Sleeps until ready_ns, at most *timeout_ns (UINT64_MAX: no bound), which becomes what is left of it.
 * False when the time ran out first. */
bool trial_delay_sleep(uint64_t ready_ns, uint64_t *timeout_ns);

/* ---- the functions in front of Vulkan's ---- */

#define X(call) extern __typeof__(call) trial_##call;
TRIAL_INSTANCE_CALLS(X)
TRIAL_DEVICE_CALLS(X)
#undef X

#endif
