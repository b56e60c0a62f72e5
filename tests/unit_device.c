// SPDX-License-Identifier: MIT
// Which device, which memory, which arithmetic: decisions over invented devices.
#include "unit.h"

#include "adapter.h"
#include "device.h"

enum {
    LOCAL = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
    VISIBLE = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT,
    COHERENT = VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
    CACHED = VK_MEMORY_PROPERTY_HOST_CACHED_BIT,
    PROTECTED = VK_MEMORY_PROPERTY_PROTECTED_BIT,
    AMD_COHERENT = VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD
};

struct memory_row {
    const char *what;
    VkMemoryPropertyFlags types[6];
    uint32_t type_count;
    bool discrete, host_import;
    enum rf_memory_mode wish, mode;
    uint32_t host, local;
    bool cached, coherent;
    bool warned; // the wish is not possible
};

static const struct memory_row memory_rows[] = {
    {"Mali-G610, Mesa 26, panthor 1.7",
     {LOCAL, LOCAL | VISIBLE | CACHED, LOCAL | VISIBLE | COHERENT},
     3,
     .mode = RF_MEMORY_SHARED,
     .host = 1,
     .local = 0,
     .cached = true},
    {"the same, mirrored on demand",
     {LOCAL, LOCAL | VISIBLE | CACHED, LOCAL | VISIBLE | COHERENT},
     3,
     .wish = RF_MEMORY_MIRRORED,
     .mode = RF_MEMORY_MIRRORED,
     .host = 1,
     .local = 0,
     .cached = true},
    {"the same, import asked for, which it has not",
     {LOCAL, LOCAL | VISIBLE | CACHED, LOCAL | VISIBLE | COHERENT},
     3,
     .wish = RF_MEMORY_IMPORTED,
     .mode = RF_MEMORY_SHARED,
     .host = 1,
     .local = 0,
     .cached = true,
     .warned = true},
    {"Mali-G610, Debian 13: write-combined only", // fault 25
     {LOCAL | VISIBLE | COHERENT},
     1,
     .mode = RF_MEMORY_MIRRORED,
     .host = 0,
     .local = 0,
     .coherent = true},
    {"the same with import",
     {LOCAL | VISIBLE | COHERENT},
     1,
     .host_import = true,
     .mode = RF_MEMORY_IMPORTED,
     .host = 0,
     .local = 0,
     .coherent = true},
    {"the same, shared on demand",
     {LOCAL | VISIBLE | COHERENT},
     1,
     .wish = RF_MEMORY_SHARED,
     .mode = RF_MEMORY_SHARED,
     .host = 0,
     .local = 0,
     .coherent = true},
    {"discrete, the order of NVIDIA's driver",
     {0, LOCAL, VISIBLE | COHERENT, VISIBLE | COHERENT | CACHED, LOCAL | VISIBLE | COHERENT},
     5,
     .discrete = true,
     .host_import = true,
     .mode = RF_MEMORY_MIRRORED,
     .host = 3,
     .local = 1,
     .cached = true,
     .coherent = true},
    {"discrete, import on demand",
     {LOCAL, VISIBLE | COHERENT},
     2,
     .discrete = true,
     .host_import = true,
     .wish = RF_MEMORY_IMPORTED,
     .mode = RF_MEMORY_IMPORTED,
     .host = 1,
     .local = 0,
     .coherent = true},
    {"discrete, shared on demand",
     {LOCAL, VISIBLE | COHERENT},
     2,
     .discrete = true,
     .wish = RF_MEMORY_SHARED,
     .mode = RF_MEMORY_SHARED,
     .host = 1,
     .local = 0,
     .coherent = true},
    {"lavapipe",
     {LOCAL | VISIBLE | COHERENT | CACHED},
     1,
     .host_import = true,
     .mode = RF_MEMORY_SHARED,
     .host = 0,
     .local = 0,
     .cached = true,
     .coherent = true},
    {"coherent and cached before cached alone",
     {LOCAL | VISIBLE | CACHED, LOCAL | VISIBLE | COHERENT, LOCAL | VISIBLE | COHERENT | CACHED},
     3,
     .mode = RF_MEMORY_SHARED,
     .host = 2,
     .local = 0,
     .cached = true,
     .coherent = true},
    {"protected and AMD's coherent types are never taken",
     {LOCAL | PROTECTED, LOCAL | VISIBLE | COHERENT | CACHED | AMD_COHERENT, LOCAL, VISIBLE | COHERENT | CACHED},
     4,
     .mode = RF_MEMORY_SHARED,
     .host = 3,
     .local = 2,
     .cached = true,
     .coherent = true},
    {"nothing that the host sees, shared asked for",
     {LOCAL},
     1,
     .wish = RF_MEMORY_SHARED,
     .mode = RF_MEMORY_MIRRORED,
     .host = ~0u,
     .local = 0,
     .warned = true},
};

static void choose_memory(void) {
    for (size_t i = 0; i < sizeof memory_rows / sizeof memory_rows[0]; i++) {
        const struct memory_row *row = &memory_rows[i];
        struct rf_caps caps = {.name = "invented", .discrete = row->discrete, .host_import = row->host_import};
        caps.memory.memoryTypeCount = row->type_count;
        for (uint32_t t = 0; t < row->type_count; t++) {
            caps.memory.memoryTypes[t].propertyFlags = row->types[t];
        }
        struct rf_memory_types types;
        unit_stderr_begin();
        enum rf_memory_mode mode = rf_device_choose_memory(&caps, row->wish, &types);
        const char *said = unit_stderr_end();
        UNIT_CHECK(mode == row->mode, "%s: %s", row->what, rf_env_memory_name(mode));
        UNIT_CHECK(types.host == row->host && types.local == row->local, "%s: host %d, local %d", row->what,
                   (int)types.host, (int)types.local);
        UNIT_CHECK(types.host_cached == row->cached && types.host_coherent == row->coherent, "%s", row->what);
        UNIT_CHECK((*said != '\0') == row->warned, "%s: \"%s\"", row->what, said);
    }
}

static void choose_paths(void) {
    static const struct {
        const char *what;
        bool software, fp16, dot4, accelerated, dot_ok;
        enum rf_path wish, quantised, half;
    } rows[] = {
        {"Mali-G610, Mesa 26", false, true, true, true, true, RF_PATH_AUTO, RF_PATH_INT8, RF_PATH_FP16},
        {"the same, its dot product wrong", false, true, true, true, false, RF_PATH_AUTO, RF_PATH_FP16, RF_PATH_FP16},
        {"... int8 asked for", false, true, true, true, false, RF_PATH_INT8, RF_PATH_FP32, RF_PATH_FP16},
        {"slow dot product", false, true, true, false, true, RF_PATH_AUTO, RF_PATH_FP16, RF_PATH_FP16},
        {"... int8 asked for", false, true, true, false, true, RF_PATH_INT8, RF_PATH_INT8, RF_PATH_FP16},
        {"Debian 13's Mesa", false, false, false, false, false, RF_PATH_AUTO, RF_PATH_FP32, RF_PATH_FP32},
        {"... int8 asked for", false, false, false, false, false, RF_PATH_INT8, RF_PATH_FP32, RF_PATH_FP32},
        {"... fp16 asked for", false, false, false, false, false, RF_PATH_FP16, RF_PATH_FP32, RF_PATH_FP32},
        {"no fp16, fast dot product", false, false, true, true, true, RF_PATH_AUTO, RF_PATH_INT8, RF_PATH_FP32},
        {"fp32 asked for", false, true, true, true, true, RF_PATH_FP32, RF_PATH_FP32, RF_PATH_FP32},
        {"fp16 asked for", false, true, true, true, true, RF_PATH_FP16, RF_PATH_FP16, RF_PATH_FP16},
        {"lavapipe, fp16 asked for", true, true, true, false, true, RF_PATH_FP16, RF_PATH_FP16, RF_PATH_FP16},
        {"lavapipe, int8 asked for", true, true, true, false, true, RF_PATH_INT8, RF_PATH_INT8, RF_PATH_FP32},
        {"lavapipe", true, true, true, false, true, RF_PATH_AUTO, RF_PATH_INT8, RF_PATH_FP32},
        {"lavapipe without dot product", true, true, false, false, false, RF_PATH_AUTO, RF_PATH_FP32, RF_PATH_FP32},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct rf_caps caps = {.name = "invented",
                               .software = rows[i].software,
                               .fp16 = rows[i].fp16,
                               .dot4 = rows[i].dot4,
                               .dot4_accelerated = rows[i].accelerated};
        enum rf_path quantised, half;
        rf_device_choose_paths(&caps, rows[i].wish, rows[i].dot_ok, &quantised, &half);
        UNIT_CHECK(quantised == rows[i].quantised && half == rows[i].half, "%s: %s, %s", rows[i].what,
                   rf_env_path_name(quantised), rf_env_path_name(half));
    }
}

static void adapter_filter(void) {
    static const char llvmpipe[] = "llvmpipe (LLVM 15.0.6, 256 bits)", mali[] = "Mali-G610";
    static const struct {
        const char *filter;
        size_t index;
        const char *name;
        bool selected;
    } rows[] = {
        {"0", 0, mali, true},
        {"0", 1, mali, false},
        {"1", 1, llvmpipe, true},
        {"10", 1, llvmpipe, false},
        {"00", 0, mali, true},
        {"llvmpipe", 3, llvmpipe, true},
        {"LLVMPIPE", 3, llvmpipe, true},
        {"lLvM", 3, llvmpipe, true},
        {"bits)", 3, llvmpipe, true},
        {"mali", 0, llvmpipe, false},
        {"mali-g610", 0, mali, true},
        {"g6", 7, mali, true},
        {"610", 0, mali, false}, // a number is an index
        {"610", 610, llvmpipe, true},
        {"Mali-G610x", 0, mali, false},
        {"0,2", 0, mali, true},
        {"0,2", 1, mali, false},
        {"0,2", 2, mali, true},
        {"5,llvm", 0, llvmpipe, true},
        {"mali,5", 5, llvmpipe, true},
        {"mali,llvm,", 0, llvmpipe, true},
        {",,mali", 1, mali, true},
        {"", 0, mali, false},
        {",", 0, mali, false},
        {",,,", 0, mali, false},
        {"-1", 1, llvmpipe, false},
        {"+0", 0, llvmpipe, false},
        {"0x0", 0, llvmpipe, false},
        {"1e", 1, llvmpipe, false},
        {"99999999999999999999999999", 0, mali, false},
        {"\xff\xfe", 0, mali, false},
        {"%s%n", 0, mali, false},
        {"a", 0, "", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bool selected = rf_adapter_selected(rows[i].filter, rows[i].index, rows[i].name);
        UNIT_CHECK(selected == rows[i].selected, "\"%s\" and %zu %s", rows[i].filter, rows[i].index, rows[i].name);
    }
}

const struct unit_test unit_device_tests[] = {
    {"fault-25-choose-memory", choose_memory},
    {"choose-paths", choose_paths},
    {"adapter-filter", adapter_filter},
    {NULL, NULL},
};
