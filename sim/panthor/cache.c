// SPDX-License-Identifier: MIT
#include "cache.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bo.h"
#include "knobs.h"
#include "lock.h"
#include "log.h"

static struct ps_cache_stats stats;

// The CPU's mappings of the memory file, the latest first: an address that was unmapped is not asked for again before
// something else is mapped there.
struct mapping {
    struct mapping *next;
    const char *address;
    size_t bytes;
    uint64_t file_offset;
};
static struct mapping *mappings;

void ps_cache_mapped(const void *address, size_t bytes, uint64_t file_offset) {
    if (!ps_knobs()->flushes)
        return;
    struct mapping *mapping = malloc(sizeof *mapping);
    if (mapping == NULL) {
        ps_log(PS_LOG_ALWAYS, "no memory to remember a mapping: flushes of it are not seen");
        return;
    }
    *mapping = (struct mapping){.address = address, .bytes = bytes, .file_offset = file_offset};
    ps_lock_take();
    mapping->next = mappings;
    mappings = mapping;
    ps_lock_drop();
}

const struct ps_cache_stats *ps_cache_stats(void) {
    return &stats;
}

#ifdef __aarch64__

#define DRIVER "libvulkan_panfrost"
#define DC_CVAC 0xd50b7a20u // of register 0; the register is in the low five bits
#define DC_CIVAC 0xd50b7e20u
#define BTI_C 0xd503245fu
#define LOAD_TARGET 0x58000050u // ldr x16, [pc, 8]
#define JUMP_TARGET 0xd61f0200u // br x16
#define FUNCTION_WORDS_MAX 16   // from its entry to the instruction

static void maintained(const char *start, size_t bytes, bool invalidate) {
    ps_lock_take();
    *(invalidate ? &stats.invalidates : &stats.cleans) += 1;
    *(invalidate ? &stats.invalidate_bytes : &stats.clean_bytes) += bytes;
    const struct mapping *mapping = mappings;
    while (mapping != NULL && (start < mapping->address || start >= mapping->address + mapping->bytes))
        mapping = mapping->next;
    if (mapping != NULL) {
        uint64_t ahead = (uint64_t)(start - mapping->address);
        ps_bo_flush(mapping->file_offset + ahead, bytes < mapping->bytes - ahead ? bytes : mapping->bytes - ahead,
                    invalidate);
    }
    ps_lock_drop();
}

// Called from the two below.
__attribute__((used)) static void ps_cache_cleaned(const char *start, size_t bytes) {
    maintained(start, bytes, false);
}

__attribute__((used)) static void ps_cache_invalidated(const char *start, size_t bytes) {
    maintained(start, bytes, true);
}

// The functions that they replace touch x0 to x4 alone, and a compiler may have told their callers so: everything that
// a call may change is kept.
#define REPLACEMENT(name, target)                                                                                      \
    __asm__(".text\n.globl " name "\n.hidden " name "\n.type " name ", %function\n" name ":\n"                         \
            "stp x29, x30, [sp, -16]!\nmov x29, sp\n"                                                                  \
            "stp x0, x1, [sp, -16]!\nstp x2, x3, [sp, -16]!\nstp x4, x5, [sp, -16]!\nstp x6, x7, [sp, -16]!\n"         \
            "stp x8, x9, [sp, -16]!\nstp x10, x11, [sp, -16]!\nstp x12, x13, [sp, -16]!\nstp x14, x15, [sp, -16]!\n"   \
            "stp x17, x18, [sp, -16]!\n"                                                                               \
            "stp q0, q1, [sp, -32]!\nstp q2, q3, [sp, -32]!\nstp q4, q5, [sp, -32]!\nstp q6, q7, [sp, -32]!\n"         \
            "stp q8, q9, [sp, -32]!\nstp q10, q11, [sp, -32]!\nstp q12, q13, [sp, -32]!\nstp q14, q15, [sp, -32]!\n"   \
            "stp q16, q17, [sp, -32]!\nstp q18, q19, [sp, -32]!\nstp q20, q21, [sp, -32]!\nstp q22, q23, [sp, -32]!\n" \
            "stp q24, q25, [sp, -32]!\nstp q26, q27, [sp, -32]!\nstp q28, q29, [sp, -32]!\nstp q30, q31, [sp, -32]!\n" \
            "bl " target "\n"                                                                                          \
            "ldp q30, q31, [sp], 32\nldp q28, q29, [sp], 32\nldp q26, q27, [sp], 32\nldp q24, q25, [sp], 32\n"         \
            "ldp q22, q23, [sp], 32\nldp q20, q21, [sp], 32\nldp q18, q19, [sp], 32\nldp q16, q17, [sp], 32\n"         \
            "ldp q14, q15, [sp], 32\nldp q12, q13, [sp], 32\nldp q10, q11, [sp], 32\nldp q8, q9, [sp], 32\n"           \
            "ldp q6, q7, [sp], 32\nldp q4, q5, [sp], 32\nldp q2, q3, [sp], 32\nldp q0, q1, [sp], 32\n"                 \
            "ldp x17, x18, [sp], 16\n"                                                                                 \
            "ldp x14, x15, [sp], 16\nldp x12, x13, [sp], 16\nldp x10, x11, [sp], 16\nldp x8, x9, [sp], 16\n"           \
            "ldp x6, x7, [sp], 16\nldp x4, x5, [sp], 16\nldp x2, x3, [sp], 16\nldp x0, x1, [sp], 16\n"                 \
            "ldp x29, x30, [sp], 16\nret\n.size " name ", . - " name "\n")
REPLACEMENT("ps_cache_clean_entry", "ps_cache_cleaned");
REPLACEMENT("ps_cache_invalidate_entry", "ps_cache_invalidated");
void ps_cache_clean_entry(void);
void ps_cache_invalidate_entry(void);

// Whether the words after a function's BTI are those of Mesa's util_flush_range: the line size is read first (adrp,
// add, ldar, cbz), and no branch goes into these.
static bool is_known_entry(const uint32_t *words) {
    return words[0] == BTI_C && (words[1] & 0x9f000000u) == 0x90000000u && (words[2] & 0xff800000u) == 0x91000000u &&
           (words[3] & 0xfffffc00u) == 0x88dffc00u && (words[4] & 0xff000000u) == 0x34000000u;
}

static bool replace(uint32_t *entry, void (*target)(void)) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)(entry + 1) & ~(page - 1);
    size_t bytes = ((uintptr_t)(entry + 5) - begin + page - 1) & ~(page - 1);
    if (mprotect((void *)begin, bytes, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
        return false;
    uint32_t words[4] = {LOAD_TARGET, JUMP_TARGET};
    memcpy(words + 2, &target, sizeof target);
    memcpy(entry + 1, words, sizeof words);
    __builtin___clear_cache((char *)(entry + 1), (char *)(entry + 5));
    return mprotect((void *)begin, bytes, PROT_READ | PROT_EXEC) == 0;
}

struct search {
    unsigned drivers, replaced;
};

static void search_code(struct search *search, uint32_t *words, size_t count) {
    for (size_t i = FUNCTION_WORDS_MAX; i < count; i++) {
        bool cleans = (words[i] & ~31u) == DC_CVAC;
        if (!cleans && (words[i] & ~31u) != DC_CIVAC)
            continue;
        uint32_t *entry = &words[i - 1];
        while (entry > &words[i - FUNCTION_WORDS_MAX] && *entry != BTI_C)
            entry--;
        bool done = entry[1] == LOAD_TARGET && entry[2] == JUMP_TARGET;
        if (!done && is_known_entry(entry))
            done = replace(entry, cleans ? ps_cache_clean_entry : ps_cache_invalidate_entry);
        search->replaced += done;
        if (!done)
            ps_log(PS_LOG_ALWAYS, "not simulated: the driver maintains caches in a way that is not known here");
    }
}

static int search_object(struct dl_phdr_info *info, size_t size, void *context) {
    struct search *search = context;
    (void)size;
    if (strstr(info->dlpi_name, DRIVER) == NULL)
        return 0;
    search->drivers++;
    for (size_t i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && (info->dlpi_phdr[i].p_flags & PF_X))
            search_code(search, (uint32_t *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr),
                        info->dlpi_phdr[i].p_memsz / 4);
    return 0;
}

void ps_cache_watch(void) {
    struct search search = {0};
    if (!ps_knobs()->flushes)
        return;
    dl_iterate_phdr(search_object, &search);
    ps_log(PS_LOG_EVENTS, "cache maintenance: %u drivers, %u functions watched", search.drivers, search.replaced);
}

#else

void ps_cache_watch(void) {
    if (ps_knobs()->flushes)
        ps_log(PS_LOG_ALWAYS, "not simulated: cache maintenance of drivers that are not for arm64");
}

#endif
