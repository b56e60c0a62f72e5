// SPDX-License-Identifier: MIT
// What the simulated kernel driver (sim/panthor, inside the emulated program) and the executing process (mali-exec) say
// to each other: packets of fixed length over a socket, the same layout on every 64-bit little-endian machine.
#pragma once

#include <stdint.h>

#define MX_LINK_VERSION 1

enum mx_link_kind {
    // to mali-exec
    MX_LINK_HELLO = 1,   // a: MX_LINK_VERSION; b: bytes of the memory file, whose descriptor comes along
    MX_LINK_MAP,         // space, a: GPU address, b: bytes, c: offset in the memory file, d: MX_LINK_MAP_*, object
    MX_LINK_UNMAP,       // space, a: GPU address, b: bytes
    MX_LINK_SPACE_GONE,  // space
    MX_LINK_GROUP,       // group, space, a: number of queues
    MX_LINK_GROUP_GONE,  // group: what still runs is dropped, its jobs are answered
    MX_LINK_SUBMIT,      // group, queue, a: stream's GPU address, b: its bytes, c: job's number, d: latest flush
    MX_LINK_OBJECT,      // object, a: offset in the memory file, b: bytes, c: MX_LINK_OBJECT_*
    MX_LINK_OBJECT_GONE, // object
    MX_LINK_SYNC,        // object, a: offset in the object, b: bytes, c: 0 clean, 1 clean and invalidate
    MX_LINK_BYE,         // write the report, answer, end
    // from mali-exec
    MX_LINK_READY = 64, // answer to HELLO; a: MX_LINK_VERSION
    MX_LINK_DONE,       // c: job's number, a: exception code (0: none). Jobs of a queue are answered in order
    MX_LINK_FATAL,      // group, queue, a: exception code: the group takes no more work
    MX_LINK_SEEN,       // answer to MAP, UNMAP, SPACE_GONE, OBJECT*, SYNC, GROUP_GONE: it has taken effect
    MX_LINK_GOODBYE,    // answer to BYE
};

enum { MX_LINK_MAP_READ_ONLY = 1, MX_LINK_MAP_EXECUTABLE = 2 };
enum { MX_LINK_OBJECT_CACHED = 1 }; // the CPU maps it cached and non-coherent: the GPU sees only what is flushed

struct mx_link_packet {
    uint32_t kind; // enum mx_link_kind
    uint32_t space, group, queue, object, pad;
    uint64_t a, b, c, d;
};
