// SPDX-License-Identifier: MIT
#include "sm_units.h"

#include <stddef.h>
#include <string.h>

struct row {
    const char *name;
    enum sm_unit unit;
};

// Origin: Mesa's public description of the instruction set for v9 to v14 (src/panfrost/compiler/bifrost/valhall:
// ISA.xml gives each operation's unit, va_perf.c counts by it), v10's column. Operations that images, textures and
// fragment shaders use are left out: a kernel that has them is outside this model and is reported as unknown.
static const struct row rows[] = {
    {"FMA", SM_UNIT_FMA},         {"FMA_RSCALE", SM_UNIT_FMA},  {"FADD", SM_UNIT_FMA},
    {"FADD_IMM", SM_UNIT_FMA},    {"FADD_LSCALE", SM_UNIT_FMA}, {"IDPADD", SM_UNIT_FMA},

    {"NOP", SM_UNIT_CVT},         {"BRANCHZ", SM_UNIT_CVT},     {"BRANCHZI", SM_UNIT_CVT},
    {"JUMP", SM_UNIT_CVT},        {"MOV", SM_UNIT_CVT},         {"IADD", SM_UNIT_CVT},
    {"ISUB", SM_UNIT_CVT},        {"IADD_IMM", SM_UNIT_CVT},    {"HADD", SM_UNIT_CVT},
    {"SHADDX", SM_UNIT_CVT},      {"SEG_ADD", SM_UNIT_CVT},     {"IABS", SM_UNIT_CVT},
    {"CLZ", SM_UNIT_CVT},         {"WMASK", SM_UNIT_CVT},       {"MKVEC", SM_UNIT_CVT},
    {"ICMP", SM_UNIT_CVT},        {"ICMP_OR", SM_UNIT_CVT},     {"ICMP_AND", SM_UNIT_CVT},
    {"ICMP_MULTI", SM_UNIT_CVT},  {"FCMP", SM_UNIT_CVT},        {"FCMP_OR", SM_UNIT_CVT},
    {"FCMP_AND", SM_UNIT_CVT},    {"CSEL", SM_UNIT_CVT},        {"FMIN", SM_UNIT_CVT},
    {"FMAX", SM_UNIT_CVT},        {"FROUND", SM_UNIT_CVT},      {"FREXPM", SM_UNIT_CVT},
    {"FREXPE", SM_UNIT_CVT},      {"FLUSH", SM_UNIT_CVT},

    {"IMUL", SM_UNIT_SFU},        {"IMULD", SM_UNIT_SFU},       {"LSHIFT_AND", SM_UNIT_SFU},
    {"LSHIFT_OR", SM_UNIT_SFU},   {"LSHIFT_XOR", SM_UNIT_SFU},  {"RSHIFT_AND", SM_UNIT_SFU},
    {"RSHIFT_OR", SM_UNIT_SFU},   {"RSHIFT_XOR", SM_UNIT_SFU},  {"ARSHIFT_OR", SM_UNIT_SFU},
    {"LROT_OR", SM_UNIT_SFU},     {"RROT_OR", SM_UNIT_SFU},     {"MUX", SM_UNIT_SFU},
    {"CLPER", SM_UNIT_SFU},       {"POPCOUNT", SM_UNIT_SFU},    {"BITREV", SM_UNIT_SFU},
    {"NOT", SM_UNIT_SFU},         {"FRCP", SM_UNIT_SFU},        {"FRSQ", SM_UNIT_SFU},
    {"FEXP", SM_UNIT_SFU},        {"FLOGD", SM_UNIT_SFU},       {"FSIN_TABLE", SM_UNIT_SFU},
    {"FCOS_TABLE", SM_UNIT_SFU},

    {"LD_PKA", SM_UNIT_LS},       {"LEA_PKA", SM_UNIT_LS},      {"LOAD", SM_UNIT_LS},
    {"STORE", SM_UNIT_LS},        {"ATOM", SM_UNIT_LS},         {"ATOM_RETURN", SM_UNIT_LS},
    {"ATOM1_RETURN", SM_UNIT_LS}, {"LD_GCLK_U64", SM_UNIT_LS},

    {"BARRIER", SM_UNIT_NONE},
};

// Conversions have a name of their own for each pair of types: S32_TO_F32, V2U8_TO_V2F16.
static bool is_conversion(const char *name) {
    const char *to = strstr(name, "_TO_");
    return to != NULL && strchr("FSUV", name[0]) != NULL && strchr("FSUV", to[4]) != NULL;
}

enum sm_unit sm_units_find(const char *name, const char *modifiers, bool *known) {
    *known = true;
    // The half-precision form runs in the CVT unit, the other one in FMA.
    if (strcmp(name, "LDEXP") == 0)
        return strncmp(modifiers, ".v2f16", 6) == 0 ? SM_UNIT_CVT : SM_UNIT_FMA;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].name, name) == 0)
            return rows[i].unit;
    *known = is_conversion(name);
    return SM_UNIT_CVT;
}
