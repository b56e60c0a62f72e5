// SPDX-License-Identifier: MIT
#pragma once

// Reads a text file whole, without the line ends at its end (a model would take them for part of the text). The
// caller frees it. NULL after a line on stderr: unreadable, empty, over 1 MiB, or holding a zero byte.
char *rf_text_read(const char *path);
