// SPDX-License-Identifier: MIT
#include "node.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache.h"
#include "exec.h"
#include "knobs.h"
#include "lock.h"
#include "log.h"
#include "report.h"

static int file = -1;
static dev_t file_device;
static ino_t file_inode;
static pid_t owner;

static bool file_make(void) {
    int made = memfd_create("panthor-sim", MFD_CLOEXEC);
    struct stat status;
    if (made < 0 || ftruncate(made, (off_t)PS_NODE_FILE_BYTES) != 0 || fstat(made, &status) != 0) {
        ps_log(PS_LOG_ALWAYS, "there is no device: a sparse memory file cannot be made; see errno %d", errno);
        if (made >= 0)
            close(made);
        return false;
    }
    file_device = status.st_dev;
    file_inode = status.st_ino;
    file = made;
    return true;
}

int ps_node_open(int open_flags) {
    ps_knobs(); // a misread knob is to end the program here, not in the middle of its work
    ps_lock_take();
    bool made = file >= 0 || file_make();
    if (made && owner == 0) {
        owner = getpid();
        ps_report_arm();
        ps_exec_start(file, PS_NODE_FILE_BYTES);
    }
    ps_lock_drop();
    if (!made)
        return -1;
    ps_cache_watch();
    return fcntl(file, open_flags & O_CLOEXEC ? F_DUPFD_CLOEXEC : F_DUPFD, 3);
}

bool ps_node_is(int fd) {
    int kept = errno;
    struct stat status;
    bool same =
        fd >= 0 && file >= 0 && fstat(fd, &status) == 0 && status.st_dev == file_device && status.st_ino == file_inode;
    errno = kept;
    return same;
}

int ps_node_file(void) {
    return file;
}

bool ps_node_used(void) {
    return owner == getpid();
}
