/* SPDX-License-Identifier: MIT
 *
 * A small compute program (selftest_program.c) through which the cases (selftest_cases.c) see the layer's knobs.
 */
#ifndef TRIAL_SELFTEST_H
#define TRIAL_SELFTEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <vulkan/vulkan.h>

#define ST_ELEMS 256u
#define ST_BYTES (ST_ELEMS * sizeof(int32_t))
#define ST_POISON ((int32_t)0xA5A5A5A5)

/* Ends the case's process as failed. */
#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                                    \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

struct st_buffer {
    VkBuffer buffer;
    VkDeviceMemory memory;
    int32_t *data; /* mapped, or NULL */
};

/* Zero is a sane start. Members are VK_NULL_HANDLE until made. */
struct st {
    bool dot;                /* dispatch the dot product instead of 2x+1 */
    int32_t weights;         /* its second operand, four packed bytes */
    const void *device_next; /* pNext of VkDeviceCreateInfo, before the timeline feature */
    VkInstance instance;
    VkPhysicalDevice physical;
    VkPhysicalDeviceProperties properties;
    VkPhysicalDeviceMemoryProperties memory;
    VkDevice device;
    VkQueue queue;
    VkShaderModule module;
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkPipelineCache cache;
    VkPipeline pipeline;
    VkDescriptorPool descriptors;
    VkDescriptorSet set;
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkSemaphore timeline;
    uint64_t value; /* that the last submission signals */
    PFN_vkWaitSemaphoresKHR wait;
    PFN_vkGetSemaphoreCounterValueKHR counter;
    struct st_buffer x, y; /* ST_ELEMS integers, in the first host-visible type */
};

/* Each returns the first error. After an error only st_close may follow, which destroys what is there. */
VkResult st_open_instance(struct st *st);
VkResult st_open_device(struct st *st);
VkResult st_open_objects(struct st *st);
VkResult st_open(struct st *st);
void st_close(struct st *st);

/* Allocates a buffer's memory from this type; maps it if `map`. */
VkResult st_buffer_make(struct st *st, struct st_buffer *buffer, VkDeviceSize bytes, uint32_t type, bool map);
void st_buffer_drop(struct st *st, struct st_buffer *buffer);
/* The first type with all of `flags`, or UINT32_MAX. */
uint32_t st_find_type(const struct st *st, VkMemoryPropertyFlags flags);

VkResult st_flush(struct st *st, const struct st_buffer *buffer);
VkResult st_invalidate(struct st *st, const struct st_buffer *buffer);
/* Records y = f(x) and submits it behind the timeline. */
VkResult st_submit(struct st *st);
VkResult st_wait_for(struct st *st, uint64_t timeout_ns);
/* x[i] = i - 100, flushed; submit; wait; invalidate y. */
VkResult st_run(struct st *st);
/* How many elements of y are 2 * (i - 100) + 1. */
uint32_t st_right(const struct st *st);
/* Open, run, check, close: VK_SUCCESS, the first error, or VK_ERROR_UNKNOWN for a wrong result. */
VkResult st_whole(void);
bool st_has_extension(const struct st *st, const char *name);

struct st_case {
    const char *name;
    const char *knobs; /* "TRIAL_A=1 TRIAL_B=2" */
    void (*run)(void);
};
extern const struct st_case st_cases[]; /* ends with a NULL name */

/* Where the layer of the running case writes its TRIAL_COUNT_FILE. */
const char *st_count_path(void);
/* Whether the log holds this text now. */
bool st_log_has(const char *text);
/* Sets the knobs of a case in this process's environment, and where log and count go. */
void st_set_knobs(const char *knobs);
/* Runs the function in a process of its own under these knobs; its exit status, or 128 and more when it crashed. */
int st_fork(const char *knobs, void (*run)(void));

#endif
