// SPDX-License-Identifier: MIT
// A compute job (one RUN_COMPUTE): from the shader program to the grid. What its words mean: the command stream part
// (stream.c) reads registers and descriptors into this; the shader core (core.c) executes it.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "memory.h"

#define MX_FAU_WORDS_MAX 128 // 32-bit

struct mx_job {
    const struct mx_memory *memory;
    uint64_t code;         // GPU address of the first instruction
    uint32_t program_word; // word 0 of the shader program descriptor: flush mode, registers a thread
    uint32_t preload;      // bit i: r48 + i is set at thread start
    uint32_t fau[MX_FAU_WORDS_MAX];
    uint32_t fau_words;
    uint64_t resources; // GPU address of the resource table; 0: none
    uint32_t resource_count;
    uint32_t local_size[3];  // threads of a workgroup
    uint32_t offset[3];      // of the global ids, in threads
    uint32_t group_count[3]; // any may be 0: no work
    uint64_t stack_base;     // thread-local storage
    uint64_t stack_bytes;    // a thread; 0: none
    uint64_t shared_base;    // workgroup memory
    uint64_t shared_bytes;   // a workgroup; 0: none
    uint32_t shared_instances;
    uint64_t number; // since the start of the program, for reports
};

// Why a job, or a queue, stopped.
enum mx_fault_kind {
    MX_FAULT_NONE,
    MX_FAULT_TRANSLATION, // an address with nothing behind it
    MX_FAULT_PERMISSION,  // a store to read-only memory, code that is not executable
    MX_FAULT_INSTRUCTION, // not known, or not decodable
    MX_FAULT_ENDLESS,     // more instructions than the limit
    MX_FAULT_STREAM,      // a command stream instruction
    MX_FAULT_DESCRIPTOR,  // one that makes no sense
    MX_FAULT_MEMORY,      // of the host: out of it
};

struct mx_fault {
    enum mx_fault_kind kind;
    uint64_t job;         // its number
    uint64_t code;        // the kernel's GPU address
    uint64_t kernel_hash; // of its instructions: the same kernel has the same hash in every run
    uint64_t pc;          // byte offset in the kernel, or the GPU address of a stream instruction
    uint64_t address;     // the one that faulted
    uint32_t group[3];
    uint32_t local_index; // linear local invocation index of the (first) thread
    char text[160];       // one line: what happened
};

// The kernel's exception code for it (Linux panthor_regs.h, CS_EXCEPTION_TYPE): what GROUP_GET_STATE and the sync
// object's error word are made from.
uint32_t mx_fault_code(enum mx_fault_kind kind);
const char *mx_fault_name(enum mx_fault_kind kind);
