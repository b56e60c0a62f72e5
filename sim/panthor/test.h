// SPDX-License-Identifier: MIT
// panthor_sim_test: the simulated driver through its own ioctls, each test in a process of its own. What its files
// share.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <drm/drm.h>
#include <drm/panthor_drm.h>

#define MIB (UINT64_C(1) << 20)
#define NODE "/dev/dri/renderD128"

// What became of a test's process.
struct outcome {
    int status;         // as waitpid gives it
    const char *errors; // its stderr
    const char *report; // "" when it wrote none
};

struct test {
    const char *name;
    const char *environment[3]; // NAME=value
    void (*run)(int node);      // in the process, the node open; ends it when it returns. node is -1 for no_node
    void (*after)(const struct outcome *outcome); // afterwards, in the parent; NULL: it has to end well, in silence
    bool no_node;
};

// One table a file, ended by a test without a name.
extern const struct test memory_tests[], sync_tests[], group_tests[], exec_tests[], report_tests[];

// Notes a failure with its place; the test goes on.
#define CHECK(condition) test_check((condition), __FILE__, __LINE__, #condition)
#define CHECK_EQUAL(value, wanted) test_check_equal((int64_t)(value), (int64_t)(wanted), __FILE__, __LINE__, #value)
void test_check(bool good, const char *file, int line, const char *condition);
void test_check_equal(int64_t value, int64_t wanted, const char *file, int line, const char *expression);

// A number of the report; -1 when it has none of the name.
double test_report_number(const struct outcome *outcome, const char *name);
bool test_ended_well(const struct outcome *outcome);

// The rest return 0 or -errno, or a handle; handles of objects that must exist are checked.
int call(int node, unsigned long request, void *argument);
uint32_t bo_new(int node, uint64_t bytes);
int bo_create(int node, uint64_t bytes, uint32_t flags, uint32_t vm, uint32_t *handle);
int bo_close(int node, uint32_t handle);
uint32_t vm_new(int node);
int vm_map(int node, uint32_t vm, uint32_t bo, uint64_t offset, uint64_t address, uint64_t bytes);
int vm_unmap(int node, uint32_t vm, uint64_t address, uint64_t bytes);
int vm_bind(int node, uint32_t vm, uint32_t flags, const struct drm_panthor_vm_bind_op *ops, uint32_t count);
uint32_t sync_new(int node, bool signalled);
// Negative: forever; otherwise from now on.
int sync_wait(int node, uint32_t handle, uint64_t point, uint32_t flags, int64_t timeout_ms);
uint32_t group_new(int node, uint32_t vm);
int64_t now_ms(void);
