// SPDX-License-Identifier: MIT
// What was counted, once, when the process ends: JSON into PANTHOR_SIM_REPORT, text on stderr with PANTHOR_SIM_LOG.
#pragma once

// From now on the end of this process is reported: exit, abort, a crash, SIGTERM, SIGINT (not _exit and SIGKILL, which
// nobody sees). Handlers that were there are called afterwards.
void ps_report_arm(void);
