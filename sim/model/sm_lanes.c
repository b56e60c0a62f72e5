// SPDX-License-Identifier: MIT
#include "sm_lanes.h"

#include <string.h>

#define REGISTERS 64
// An unknown uniform factor: a stride of rows, larger than any line, and a power of two that shifts keep apart.
#define FAR ((uint32_t)1 << 20)

struct value {
    uint32_t lane[SM_WARP];
    bool exact;   // the same known constant in all lanes, not only known up to a base
    bool scatter; // cannot be followed
    enum sm_space space;
};

struct state {
    struct value registers[REGISTERS];
};

// What a thread's spill stack holds, by word; what lies beyond is not followed.
#define STACK_WORDS 2048

struct stack {
    struct value words[STACK_WORDS];
};

// States at conditional branches whose other side begins after an unconditional branch ("else"), innermost last. Deeper
// nesting than this is followed in the order of the text.
#define PENDING_MAX 16

struct pending {
    struct state states[PENDING_MAX];
    size_t targets[PENDING_MAX];
    size_t count;
};

static struct value uniform(uint32_t constant, bool exact) {
    struct value v = {.exact = exact, .space = SM_SPACE_BUFFER};
    for (int i = 0; i < SM_WARP; i++)
        v.lane[i] = exact ? constant : 0;
    return v;
}

static struct value scattered(void) {
    return (struct value){.scatter = true, .space = SM_SPACE_BUFFER};
}

static bool is_uniform(const struct value *v) {
    bool same = !v->scatter;
    for (int i = 1; i < SM_WARP; i++)
        same = same && v->lane[i] == v->lane[0];
    return same;
}

// "h1", "b2", "b22": the part of a word, as a shift and a mask. Byte pairs occur as shift amounts: one byte for all.
static void select_part(const char *select, unsigned *shift, uint32_t *mask) {
    *shift = 0;
    *mask = UINT32_MAX;
    if (select[0] == 'h') {
        *shift = select[1] == '1' ? 16 : 0;
        *mask = 0xFFFF;
    } else if (select[0] == 'b') {
        *shift = 8 * (unsigned)(select[1] - '0');
        *mask = 0xFF;
    }
}

static struct value read_operand(const struct state *state, const struct sm_operand *operand) {
    struct value v = uniform(0, false);
    if (operand->kind == SM_OPERAND_REGISTER)
        v = operand->value < REGISTERS ? state->registers[operand->value] : scattered();
    else if (operand->kind == SM_OPERAND_CONSTANT)
        v = uniform(operand->value, true);
    else if (operand->kind == SM_OPERAND_SHARED)
        v.space = SM_SPACE_SHARED;
    else if (operand->kind == SM_OPERAND_STACK)
        v.space = SM_SPACE_STACK;
    for (uint32_t i = 0; operand->kind == SM_OPERAND_LANE && i < SM_WARP; i++)
        v.lane[i] = i;
    unsigned shift;
    uint32_t mask;
    select_part(operand->select, &shift, &mask);
    for (int i = 0; i < SM_WARP; i++) {
        v.lane[i] = v.lane[i] >> shift & mask;
        if (operand->inverted)
            v.lane[i] = ~v.lane[i];
    }
    return v;
}

static struct value combine(const struct value *a, const struct value *b) {
    struct value v = {.exact = a->exact && b->exact,
                      .scatter = a->scatter || b->scatter,
                      .space = a->space != SM_SPACE_BUFFER ? a->space : b->space};
    return v;
}

static struct value add(const struct value *a, const struct value *b, bool subtract) {
    struct value v = combine(a, b);
    for (int i = 0; i < SM_WARP; i++)
        v.lane[i] = subtract ? a->lane[i] - b->lane[i] : a->lane[i] + b->lane[i];
    return v;
}

static struct value multiply(const struct value *a, const struct value *b) {
    struct value v = combine(a, b);
    const struct value *factor = is_uniform(a) ? a : b, *other = factor == a ? b : a;
    v.scatter |= !is_uniform(factor);
    for (int i = 0; i < SM_WARP; i++)
        v.lane[i] = other->lane[i] * (factor->exact ? factor->lane[i] : FAR);
    return v;
}

// (a shifted by b) and, or, xor c. Of unknown masks nothing is known, so they keep what they mask.
static struct value shift_logic(const char *name, const struct value *a, const struct value *b, const struct value *c) {
    struct value ab = combine(a, b), v = combine(&ab, c);
    const char *logic = strchr(name, '_') + 1;
    bool left = name[0] == 'L', unknown_mask = !c->exact && is_uniform(c);
    v.scatter |= !is_uniform(b);
    for (int i = 0; i < SM_WARP; i++) {
        uint32_t amount = b->lane[i] % 32;
        uint32_t shifted = left ? a->lane[i] << amount : a->lane[i] >> amount;
        if (strcmp(logic, "AND") == 0)
            v.lane[i] = unknown_mask ? shifted : shifted & c->lane[i];
        else
            v.lane[i] = strcmp(logic, "OR") == 0 ? shifted | c->lane[i] : shifted ^ c->lane[i];
    }
    return v;
}

// CSEL a, b, c, d: c or d. Clamps choose between a lane's own value and a limit: the one that differs between lanes.
static struct value choose(const struct value *c, const struct value *d) {
    return is_uniform(c) ? *d : *c;
}

// What an instruction that is not followed gives: uniform from uniform sources.
static struct value opaque(const struct value *source, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!is_uniform(&source[i]))
            return scattered();
    return uniform(0, false);
}

static bool is(const struct sm_instruction *instruction, const char *name) {
    return strcmp(instruction->name, name) == 0;
}

static struct value evaluate(const struct sm_instruction *instruction, const struct value *source) {
    size_t n = instruction->source_count;
    if (is(instruction, "MOV") || is(instruction, "U16_TO_U32") || is(instruction, "U8_TO_U32"))
        return n >= 1 ? source[0] : scattered();
    if (n >= 2 && (is(instruction, "IADD") || is(instruction, "IADD_IMM") || is(instruction, "SHADDX")))
        return add(&source[0], &source[1], false);
    if (n >= 2 && is(instruction, "ISUB"))
        return add(&source[0], &source[1], true);
    if (n >= 2 && is(instruction, "IMUL"))
        return multiply(&source[0], &source[1]);
    if (n >= 3 && (strstr(instruction->name, "LSHIFT_") == instruction->name ||
                   strstr(instruction->name, "RSHIFT_") == instruction->name))
        return shift_logic(instruction->name, &source[0], &source[1], &source[2]);
    if (n >= 4 && is(instruction, "CSEL"))
        return choose(&source[2], &source[3]);
    return opaque(source, n);
}

static void write_result(struct state *state, const struct sm_instruction *instruction, const struct value *value) {
    if (instruction->result.kind != SM_OPERAND_REGISTER)
        return;
    for (uint32_t i = 0; i < instruction->result_registers && instruction->result.value + i < REGISTERS; i++)
        state->registers[instruction->result.value + i] = *value;
}

static uint32_t count_lines(const struct value *address, uint32_t width_bytes) {
    if (address->scatter)
        return SM_WARP;
    uint32_t lines[2 * SM_WARP], count = 0;
    for (int i = 0; i < 2 * SM_WARP; i++) {
        uint32_t byte = address->lane[i / 2] + (i % 2 ? width_bytes - 1 : 0);
        uint32_t line = byte / SM_LINE_BYTES, seen = 0;
        while (seen < count && lines[seen] != line)
            seen++;
        if (seen == count)
            lines[count++] = line;
    }
    return count;
}

// A spill or fill: the registers go to their words of the stack, or come back.
static void move_stack(struct state *state, struct stack *stack, const struct sm_instruction *instruction) {
    for (uint32_t i = 0; i < instruction->result_registers && instruction->result.value + i < REGISTERS; i++) {
        struct value *here = &state->registers[instruction->result.value + i];
        int64_t word = instruction->offset / 4 + (int64_t)i;
        bool inside = instruction->offset >= 0 && word < STACK_WORDS;
        if (is(instruction, "STORE") && inside)
            stack->words[word] = *here;
        else if (!is(instruction, "STORE"))
            *here = inside ? stack->words[word] : scattered();
    }
}

static void note_access(const struct sm_instruction *instruction, const struct value *address, uint32_t stack_lines,
                        struct sm_access *access) {
    struct value offset = uniform((uint32_t)instruction->offset, true);
    struct value at = add(address, &offset, false);
    access->space = address->space;
    access->bytes = instruction->width_bytes * SM_WARP;
    access->lines = count_lines(&at, instruction->width_bytes);
    if (address->space == SM_SPACE_STACK) {
        access->lines = stack_lines;
        access->last_byte = (uint32_t)instruction->offset + instruction->width_bytes;
    }
}

// A message: its access, and what it leaves in registers.
static void run_message(struct state *state, struct stack *stack, const struct sm_instruction *instruction,
                        const struct value *source, uint32_t stack_lines, struct sm_access *access) {
    struct value address = instruction->source_count > 0 ? source[0] : uniform(0, false);
    struct value result = is_uniform(&address) && address.space == SM_SPACE_BUFFER ? uniform(0, false) : scattered();
    if (is(instruction, "LEA_PKA")) {
        write_result(state, instruction, &address);
        return;
    }
    if (instruction->width_bytes > 0)
        note_access(instruction, &address, stack_lines, access);
    if (address.space == SM_SPACE_STACK)
        move_stack(state, stack, instruction);
    else if (!is(instruction, "STORE"))
        write_result(state, instruction, &result);
}

// Registers at the start of a compute shader: local ids packed in halves, global ids.
static void preload(struct state *state, struct sm_local local) {
    for (int r = 0; r < REGISTERS; r++)
        state->registers[r] = uniform(0, false);
    for (uint32_t i = 0; i < SM_WARP; i++) {
        uint32_t x = i % local.x, y = i / local.x % local.y, z = i / local.x / local.y % local.z;
        state->registers[55].lane[i] = x | y << 16;
        state->registers[56].lane[i] = z;
        state->registers[60].lane[i] = x;
        state->registers[61].lane[i] = y;
        state->registers[62].lane[i] = z;
    }
}

static bool is_jump(const struct sm_instruction *instruction) {
    return instruction->branch != 0 && instruction->source_count > 0 &&
           instruction->source[0].kind == SM_OPERAND_CONSTANT;
}

// Keeps the state for the other side of a branch when that side is not also reached from above.
static void keep_for_else(const struct sm_asm *program, size_t at, const struct state *state, struct pending *pending) {
    const struct sm_instruction *branch = &program->instructions[at];
    if (branch->branch <= 0 || is_jump(branch) || pending->count == PENDING_MAX)
        return;
    size_t target = at + 1 + (size_t)branch->branch;
    if (!is_jump(&program->instructions[target - 1]))
        return;
    pending->states[pending->count] = *state;
    pending->targets[pending->count++] = target;
}

static void follow_else(size_t at, struct state *state, struct pending *pending) {
    while (pending->count > 0 && pending->targets[pending->count - 1] <= at) {
        pending->count--;
        if (pending->targets[pending->count] == at)
            *state = pending->states[pending->count];
    }
}

void sm_lanes_run(const struct sm_asm *program, struct sm_local local, uint32_t stack_lines,
                  struct sm_access *accesses) {
    struct state state;
    struct stack stack;
    struct pending pending = {.count = 0};
    preload(&state, local);
    for (int i = 0; i < STACK_WORDS; i++)
        stack.words[i] = scattered();
    for (size_t i = 0; i < program->count; i++) {
        const struct sm_instruction *instruction = &program->instructions[i];
        follow_else(i, &state, &pending);
        keep_for_else(program, i, &state, &pending);
        struct value source[SM_OPERANDS_MAX];
        for (size_t s = 0; s < instruction->source_count; s++)
            source[s] = read_operand(&state, &instruction->source[s]);
        accesses[i] = (struct sm_access){.space = SM_SPACE_NONE};
        if (instruction->unit == SM_UNIT_LS) {
            run_message(&state, &stack, instruction, source, stack_lines, &accesses[i]);
        } else {
            struct value result = evaluate(instruction, source);
            write_result(&state, instruction, &result);
        }
    }
}
