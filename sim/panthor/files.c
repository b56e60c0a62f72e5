// SPDX-License-Identifier: MIT
// The functions of libc through which a driver reaches the kernel. All that do not concern the simulated device are
// handed on. This file is built without large-file macros: each name is the one that it seems to be.

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <drm/drm.h>

#include "bo.h"
#include "cache.h"
#include "ioctl.h"
#include "knobs.h"
#include "lock.h"
#include "log.h"
#include "node.h"
#include "query.h"

#define EXPORT __attribute__((visibility("default")))
// The next library's function of the same name, with its type.
#define NEXT(name) ((__typeof__(&name))next_find(#name, &next_##name))
#define NEXT_SLOT(name) static void *next_##name

static void *next_find(const char *name, void **slot) {
    void *found = __atomic_load_n(slot, __ATOMIC_RELAXED);
    if (found == NULL) {
        found = dlsym(RTLD_NEXT, name);
        __atomic_store_n(slot, found, __ATOMIC_RELAXED);
    }
    return found;
}

static bool is_node_path(const char *path) {
    return path != NULL && strcmp(path, PS_NODE_PATH) == 0;
}

static mode_t mode_of(int flags, va_list arguments) {
    return flags & (O_CREAT | __O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
}

NEXT_SLOT(open);
EXPORT int open(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    return is_node_path(path) ? ps_node_open(flags) : NEXT(open)(path, flags, mode);
}

NEXT_SLOT(open64);
EXPORT int open64(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    return is_node_path(path) ? ps_node_open(flags) : NEXT(open64)(path, flags, mode);
}

static int node_stat(struct stat *status) {
    *status = (struct stat){.st_mode = S_IFCHR | 0666, .st_nlink = 1, .st_ino = PS_NODE_MAJOR << 8 | PS_NODE_MINOR};
    status->st_rdev = makedev(PS_NODE_MAJOR, PS_NODE_MINOR);
    return 0;
}

NEXT_SLOT(stat);
EXPORT int stat(const char *restrict path, struct stat *restrict status) {
    return is_node_path(path) ? node_stat(status) : NEXT(stat)(path, status);
}

NEXT_SLOT(lstat);
EXPORT int lstat(const char *restrict path, struct stat *restrict status) {
    return is_node_path(path) ? node_stat(status) : NEXT(lstat)(path, status);
}

// On 64-bit machines the two structures are one.
_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "a 64-bit machine is needed");
NEXT_SLOT(stat64);
EXPORT int stat64(const char *restrict path, struct stat64 *restrict status) {
    return is_node_path(path) ? node_stat((struct stat *)status) : NEXT(stat64)(path, status);
}

NEXT_SLOT(mmap);

// The registers read as zeros: the flush count never moves, which only makes the driver flush more.
static void *map_registers(void *address, size_t bytes, int protection, int flags) {
    if (protection & (PROT_WRITE | PROT_EXEC)) {
        errno = -ps_log_refuse(EINVAL, "mmap of the registers for more than reading");
        return MAP_FAILED;
    }
    return NEXT(mmap)(address, bytes, protection, (flags & ~MAP_SHARED) | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void *map_node(void *address, size_t bytes, int protection, int flags, int fd, off_t offset) {
    ps_lock_take();
    bool registers = (uint64_t)offset >= ps_query_mmio_offset();
    bool object = !registers && ps_bo_owns_file_range((uint64_t)offset, bytes);
    ps_lock_drop();
    if (registers)
        return map_registers(address, bytes, protection, flags);
    if (object) {
        void *mapped = NEXT(mmap)(address, bytes, protection, flags, fd, offset);
        if (mapped != MAP_FAILED)
            ps_cache_mapped(mapped, bytes, (uint64_t)offset);
        return mapped;
    }
    errno = -ps_log_refuse(EINVAL, "mmap of %zu bytes at 0x%llx, which is no buffer object", bytes,
                           (unsigned long long)offset);
    return MAP_FAILED;
}

EXPORT void *mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset) {
    if (!(flags & MAP_ANONYMOUS) && ps_node_is(fd))
        return map_node(address, bytes, protection, flags, fd, offset);
    return NEXT(mmap)(address, bytes, protection, flags, fd, offset);
}

EXPORT void *mmap64(void *address, size_t bytes, int protection, int flags, int fd, off64_t offset) {
    return mmap(address, bytes, protection, flags, fd, offset);
}

NEXT_SLOT(ioctl);
EXPORT int ioctl(int fd, unsigned long request, ...) {
    va_list arguments;
    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    if (_IOC_TYPE(request) != DRM_IOCTL_BASE || !ps_node_is(fd))
        return NEXT(ioctl)(fd, request, argument);
    int result = ps_ioctl_run(request, argument);
    if (result >= 0)
        return result;
    errno = -result;
    return -1;
}

// Mesa makes its heap a part of the machine's memory.
NEXT_SLOT(sysinfo);
EXPORT int sysinfo(struct sysinfo *info) {
    int result = NEXT(sysinfo)(info);
    if (result != 0)
        return result;
    info->totalram = (ps_knobs()->ram_mib << 20) / info->mem_unit;
    if (info->freeram > info->totalram)
        info->freeram = info->totalram;
    return 0;
}

NEXT_SLOT(sysconf);
EXPORT long sysconf(int name) {
    if (name == _SC_PHYS_PAGES)
        return (long)((ps_knobs()->ram_mib << 20) / (uint64_t)NEXT(sysconf)(_SC_PAGESIZE));
    return NEXT(sysconf)(name);
}
