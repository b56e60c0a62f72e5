/* SPDX-License-Identifier: MIT
 *
 * SPIR-V: breaking the integer dot product (a driver whose instruction lies), and noticing shaders that need what the
 * pretended device lacks.
 */
#include "trial.h"

#include <stdlib.h>
#include <string.h>

#define HEADER_WORDS 5u
#define SPIRV_MAGIC 0x07230203u
#define SPIRV_1_3 0x00010300u

enum {
    OP_NOP = 0,
    OP_CAPABILITY = 17,
    OP_COPY_OBJECT = 83,
    OP_I_SUB = 130,
    OP_S_DOT = 4450,
    OP_U_DOT = 4451,
    OP_SU_DOT = 4452,
    OP_S_DOT_ACC_SAT = 4453,
    OP_U_DOT_ACC_SAT = 4454,
    OP_SU_DOT_ACC_SAT = 4455,
};

/* Capabilities and the extension without which a device does not have them. */
static const struct {
    uint32_t capability;
    const char *name, *extension;
} needs[] = {
    {9, "Float16", VK_KHR_SHADER_FLOAT16_INT8_EXTENSION_NAME},
    {39, "Int8", VK_KHR_SHADER_FLOAT16_INT8_EXTENSION_NAME},
    {6016, "DotProductInputAll", VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME},
    {6017, "DotProductInput4x8Bit", VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME},
    {6018, "DotProductInput4x8BitPacked", VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME},
    {6019, "DotProduct", VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME},
    {4448, "StorageBuffer8BitAccess", VK_KHR_8BIT_STORAGE_EXTENSION_NAME},
    {4433, "StorageBuffer16BitAccess", VK_KHR_16BIT_STORAGE_EXTENSION_NAME},
};

static void check_capability(uint32_t capability) {
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
        if (needs[i].capability == capability && trial_features_hides(needs[i].extension)) {
            trial_log_fault("vkCreateShaderModule: the shader needs %s, which the device lacks", needs[i].name);
        }
    }
}

/* Replaces the instruction by the shorter one in `words` (count long) and fills up with OpNop, one word each. */
static void replace(uint32_t *instruction, uint32_t length, const uint32_t *words, uint32_t count) {
    memcpy(instruction, words, count * sizeof *words);
    for (uint32_t i = count; i < length; i++) {
        instruction[i] = 1u << 16 | OP_NOP;
    }
}

/* A product that is always 0: the accumulating forms return the accumulator, the others v - v. Instruction words:
 * 0 length and opcode, 1 type, 2 result, 3 and 4 the vectors, 5 the accumulator (accumulating forms only), then the
 * format. */
static void zero(uint32_t *instruction, uint32_t length, uint32_t opcode) {
    bool accumulates = opcode >= OP_S_DOT_ACC_SAT;
    if (accumulates) {
        uint32_t words[] = {4u << 16 | OP_COPY_OBJECT, instruction[1], instruction[2], instruction[5]};
        replace(instruction, length, words, 4);
    } else {
        uint32_t words[] = {5u << 16 | OP_I_SUB, instruction[1], instruction[2], instruction[3], instruction[3]};
        replace(instruction, length, words, 5);
    }
}

/* Signed products taken as unsigned: right as long as nothing is negative. */
static void unsign(uint32_t *instruction, uint32_t length, uint32_t opcode) {
    bool accumulates = opcode >= OP_S_DOT_ACC_SAT;
    instruction[0] = length << 16 | (accumulates ? OP_U_DOT_ACC_SAT : OP_U_DOT);
}

static bool is_dot(uint32_t opcode) {
    return opcode >= OP_S_DOT && opcode <= OP_SU_DOT_ACC_SAT;
}

static void patch_one(uint32_t *instruction, uint32_t length, uint32_t opcode) {
    if (trial_config.dot == TRIAL_DOT_ZERO) {
        zero(instruction, length, opcode);
    } else if (trial_config.dot == TRIAL_DOT_WRONG) {
        unsign(instruction, length, opcode);
    }
}

static void walk(uint32_t *code, size_t words) {
    for (size_t at = HEADER_WORDS; at < words;) {
        uint32_t opcode = code[at] & 0xFFFFu, length = code[at] >> 16;
        if (length == 0 || length > words - at) {
            trial_log_fault("vkCreateShaderModule: the SPIR-V is cut short at word %zu", at);
            return;
        }
        if (opcode == OP_CAPABILITY && length == 2) {
            check_capability(code[at + 1]);
        } else if (is_dot(opcode) && length >= (opcode >= OP_S_DOT_ACC_SAT ? 6u : 5u)) {
            patch_one(&code[at], length, opcode);
        }
        at += length;
    }
}

uint32_t *trial_shader_patch(const uint32_t *code, size_t code_bytes) {
    uint32_t *copy = code_bytes >= HEADER_WORDS * sizeof *code ? malloc(code_bytes) : NULL;
    if (copy == NULL) {
        return NULL;
    }
    memcpy(copy, code, code_bytes);
    if (copy[0] != SPIRV_MAGIC) {
        trial_log_fault("vkCreateShaderModule: the code is not SPIR-V");
        return copy;
    }
    if (trial_config.features_old && copy[1] > SPIRV_1_3) {
        trial_log_fault("vkCreateShaderModule: SPIR-V 1.%u is newer than Vulkan 1.1 takes", copy[1] >> 8 & 0xFFu);
    }
    walk(copy, code_bytes / sizeof *code);
    return copy;
}
