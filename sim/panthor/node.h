// SPDX-License-Identifier: MIT
// The device node: /dev/dri/renderD128, behind which stands one sparse memory file that holds all buffer objects.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define PS_NODE_PATH "/dev/dri/renderD128"
#define PS_NODE_MAJOR 226
#define PS_NODE_MINOR 128
#define PS_NODE_FILE_BYTES (UINT64_C(1) << 42) // below the lower of the two offsets of the registers

// A file descriptor for the node, or -1 with errno. The first call makes the memory file.
int ps_node_open(int open_flags);

bool ps_node_is(int fd); // whether the file descriptor is one; keeps errno
int ps_node_file(void);  // the memory file's own descriptor
bool ps_node_used(void); // whether this very process opened the node
