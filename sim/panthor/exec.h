// SPDX-License-Identifier: MIT
// mali-exec, the process that executes what is submitted (PANTHOR_SIM_EXEC; sim/exec/link.h is the protocol). Without
// it nothing is executed, and all of this does nothing. The lock is held around every call.
#pragma once

#include <stdbool.h>
#include <stdint.h>

bool ps_exec_on(void);      // whether it runs
bool ps_exec_is_lost(void); // whether it ran, and has ended too early: nothing more can be executed

// Starts it, with the memory file. A program that cannot be started ends this process with status 2 after one line: a
// simulation that silently computes nothing would prove something else than it says.
void ps_exec_start(int memory_file, uint64_t memory_bytes);

void ps_exec_map(uint32_t vm, uint64_t address, uint64_t size_bytes, uint64_t file_offset, uint32_t object,
                 bool read_only, bool executable);
void ps_exec_unmap(uint32_t vm, uint64_t address, uint64_t size_bytes);
void ps_exec_vm_gone(uint32_t vm);
void ps_exec_object(uint32_t object, uint64_t file_offset, uint64_t size_bytes, bool cached);
void ps_exec_object_gone(uint32_t object);
// Offset within the object.
void ps_exec_sync(uint32_t object, uint64_t offset_bytes, uint64_t size_bytes, bool invalidate);
void ps_exec_group(uint32_t group, uint32_t vm, uint32_t queues);
void ps_exec_group_gone(uint32_t group);

// One job; it runs while the caller goes on, and its end is told to ps_job_ended. Returns its number; 0: mali-exec is
// lost.
uint64_t ps_exec_submit(uint32_t group, uint32_t queue, uint64_t stream, uint64_t size_bytes, uint32_t latest_flush);

void ps_exec_end(void); // its report is written when this returns
