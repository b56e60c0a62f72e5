/* SPDX-License-Identifier: MIT
 *
 * The output file: written under a temporary name in the same folder and renamed when complete, so that whoever finds
 * the model finds all of it. Failures and the usual signals remove the temporary file.
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "synth.h"

/* One file at a time, known to the signal handler. Changed only while those signals are blocked. */
static char *temp_path;

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};

static void remove_and_end(int signal_number) {
    if (temp_path) {
        unlink(temp_path);
    }
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void block_signals(sigset_t *before) {
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < sizeof(ending_signals) / sizeof(ending_signals[0]); i++) {
        sigaddset(&set, ending_signals[i]);
    }
    sigprocmask(SIG_BLOCK, &set, before);
}

static void watch_signals(void) {
    struct sigaction action = {.sa_handler = remove_and_end};

    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof(ending_signals) / sizeof(ending_signals[0]); i++) {
        struct sigaction old;
        /* A signal ignored by whoever started us (nohup) stays ignored. */
        if (sigaction(ending_signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN) {
            sigaction(ending_signals[i], &action, NULL);
        }
    }
    /* A file size limit shall be an error of the call, not the end of the program. */
    signal(SIGXFSZ, SIG_IGN);
}

static int fail_errno(const struct rf_synth_file *file, int error) {
    if (error == ENOSPC || error == EDQUOT || error == EFBIG) {
        return rf_synth_fail(RF_SYNTH_IO, "cannot write %s: %s (it needs %zu MiB)", file->path, strerror(error),
                             (file->bytes + (1 << 20) - 1) >> 20);
    }
    return rf_synth_fail(RF_SYNTH_IO, "cannot write %s: %s", file->path, strerror(error));
}

/* Sets errno on failure. */
static int make_temp(const char *path) {
    size_t size = strlen(path) + sizeof(".XXXXXX");
    char *name = malloc(size);
    sigset_t before;

    if (!name) {
        return -1;
    }
    snprintf(name, size, "%s.XXXXXX", path);
    block_signals(&before);
    int fd = mkstemp(name);
    int error = errno;
    if (fd >= 0) {
        temp_path = name;
    } else {
        free(name);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return fd;
}

static int set_size(const struct rf_synth_file *file, bool reserve) {
    int error = ftruncate(file->fd, (off_t)file->bytes) == 0 ? 0 : errno;

    if (error == 0 && reserve) {
        error = posix_fallocate(file->fd, 0, (off_t)file->bytes);
        /* Some file systems cannot reserve; they report a full disk when written to. */
        if (error == EINVAL || error == EOPNOTSUPP || error == ENOSYS) {
            error = 0;
        }
    }
    return error;
}

int rf_synth_file_open(struct rf_synth_file *file, const char *path, size_t bytes, bool reserve) {
    struct stat status;

    *file = (struct rf_synth_file){.path = path, .fd = -1, .bytes = bytes};
    /* Renaming over a device such as /dev/null would replace the device. */
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        return rf_synth_fail(RF_SYNTH_IO, "cannot write %s: it exists and is not a regular file", path);
    }
    watch_signals();
    file->fd = make_temp(path);
    if (file->fd < 0) {
        return fail_errno(file, errno);
    }
    int error = set_size(file, reserve);
    if (error != 0) {
        int code = fail_errno(file, error);
        rf_synth_file_drop(file);
        return code;
    }
    return RF_SYNTH_OK;
}

int rf_synth_file_write(struct rf_synth_file *file, size_t offset_bytes, const void *data, size_t data_bytes) {
    size_t done = 0;

    while (done < data_bytes) {
        ssize_t n = pwrite(file->fd, (const char *)data + done, data_bytes - done, (off_t)(offset_bytes + done));
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return fail_errno(file, n < 0 ? errno : EIO);
        }
        done += (size_t)n;
    }
    return RF_SYNTH_OK;
}

/* Ends the handler's interest in the temporary file. */
static void forget_temp(void) {
    char *name = temp_path;

    temp_path = NULL;
    free(name);
}

int rf_synth_file_keep(struct rf_synth_file *file) {
    sigset_t before;
    mode_t mask = umask(0);

    umask(mask);
    int error = fchmod(file->fd, 0666 & ~mask) == 0 ? 0 : errno;
    /* Some file systems report a full disk only here. */
    if (close(file->fd) != 0 && error == 0) {
        error = errno;
    }
    file->fd = -1;
    block_signals(&before);
    if (error == 0 && rename(temp_path, file->path) != 0) {
        error = errno;
    }
    if (error != 0) {
        unlink(temp_path);
    }
    forget_temp();
    sigprocmask(SIG_SETMASK, &before, NULL);
    return error == 0 ? RF_SYNTH_OK : fail_errno(file, error);
}

void rf_synth_file_drop(struct rf_synth_file *file) {
    sigset_t before;

    close(file->fd);
    file->fd = -1;
    block_signals(&before);
    unlink(temp_path);
    forget_temp();
    sigprocmask(SIG_SETMASK, &before, NULL);
}
