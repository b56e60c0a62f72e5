// SPDX-License-Identifier: MIT
// usage: sim_model_test SIM_MODEL FIXTURES
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sm_graph.h"

static int failures;

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                            \
            failures++;                                                                                                \
        }                                                                                                              \
    } while (0)

static bool near(double a, double b) {
    return fabs(a - b) <= 1e-9 * fabs(b);
}

static void test_units(void) {
    bool known;
    CHECK(sm_units_find("IDPADD", ".v4s8.saturate", &known) == SM_UNIT_FMA && known);
    CHECK(sm_units_find("IADD_IMM", ".i32", &known) == SM_UNIT_CVT && known);
    CHECK(sm_units_find("LSHIFT_AND", ".i32", &known) == SM_UNIT_SFU && known);
    CHECK(sm_units_find("LD_PKA", ".i128", &known) == SM_UNIT_LS && known);
    CHECK(sm_units_find("BARRIER", ".slot7", &known) == SM_UNIT_NONE && known);
    CHECK(sm_units_find("V2U8_TO_V2F16", "", &known) == SM_UNIT_CVT && known);
    CHECK(sm_units_find("LDEXP", ".f32", &known) == SM_UNIT_FMA && known);
    CHECK(sm_units_find("LDEXP", ".v2f16", &known) == SM_UNIT_CVT && known);
    CHECK(sm_units_find("TEX_FETCH", "", &known) == SM_UNIT_CVT && !known);
}

static const char small[] = "  Instructions 6\n"
                            "  Registers used 12\n"
                            "  Spills 3\n"
                            "---- Assembly\n"
                            "   IADD.s32 r1, r57^, u0\n"
                            "   BRANCHZ.reconverge r1^.h0, offset:2\n"
                            "\n"
                            "   LSHIFT_OR.i32 r2, r1^, 0x3020100.b22, 0x0\n"
                            "\n"
                            "   MYSTERY.i32 r3, r2, 0x0.not\n"
                            "   NOP.end \n"
                            "\n\n";

static void test_parse(void) {
    struct sm_asm p;
    char error[200];
    CHECK(sm_asm_parse(small, &p, error, sizeof error));
    CHECK(p.count == 6 && p.stated_instructions == 6 && p.registers == 12 && p.spills == 3 && p.fills == -1);
    CHECK(p.instructions[1].branch == 2);
    // The empty line after the branch separates blocks, the one inside the block is an operation without a name.
    CHECK(strcmp(p.instructions[2].name, "LSHIFT_OR") == 0 && strcmp(p.instructions[3].name, "ARSHIFT_OR") == 0);
    CHECK(p.instructions[3].unit == SM_UNIT_SFU);
    CHECK(p.unknown == 1 && !p.instructions[4].known && p.instructions[4].unit == SM_UNIT_CVT);
    const struct sm_instruction *shift = &p.instructions[2];
    CHECK(shift->result.kind == SM_OPERAND_REGISTER && shift->result.value == 2 && shift->source_count == 3);
    CHECK(shift->source[1].kind == SM_OPERAND_CONSTANT && shift->source[1].value == 0x3020100);
    CHECK(strcmp(shift->source[1].select, "b22") == 0 && p.instructions[4].source[1].inverted);
    sm_asm_free(&p);
}

static void refuse(const char *text, const char *part) {
    struct sm_asm p;
    char error[200] = "";
    CHECK(!sm_asm_parse(text, &p, error, sizeof error));
    if (strstr(error, part) == NULL) {
        fprintf(stderr, "expected \"%s\" in \"%s\"\n", part, error);
        failures++;
    }
}

static void test_bad_text(void) {
    refuse("", "no assembly");
    refuse("---- Assembly\n\n", "no assembly");
    refuse("hello world\n", "no instruction");
    refuse("   BRANCHZ.eq.reconverge 0x0, offset:9\n   NOP.end\n", "out of the program");
    refuse("   NOP\n   BRANCHZ.eq.reconverge 0x0, offset:-9\n", "out of the program");
    refuse("   NOP\n   BRANCHZ.eq.reconverge 0x0, offset:99999999999999999999\n", "out of the program");
}

// The accesses of a text's messages, in order.
static size_t accesses_of(const char *text, struct sm_local local, struct sm_access *found, size_t most) {
    struct sm_asm p;
    char error[200];
    struct sm_access all[64];
    size_t count = 0;
    if (!sm_asm_parse(text, &p, error, sizeof error) || p.count > 64) {
        CHECK(!"a text of the test is wrong");
        return 0;
    }
    sm_lanes_run(&p, local, 16, all);
    for (size_t i = 0; i < p.count; i++)
        if (all[i].space != SM_SPACE_NONE && count < most)
            found[count++] = all[i];
    sm_asm_free(&p);
    return count;
}

static void test_lines(void) {
    static const char text[] =
        "   LD_PKA.i128.unsigned.slot0.wait0 @r4:r5:r6:r7, u4, 0x1000000\n" // the same address: 1
        "   LSHIFT_OR.i32 r1, r60, 0x7060504.b00, 0x0\n"                    // x * 16
        "   LD_PKA.i128.unsigned.slot0.wait0 @r4:r5:r6:r7, r1, 0x1000000\n" // 256 bytes: 4
        "   LSHIFT_OR.i32 r2, r60, 0x3020100.b22, 0x0\n"                    // x * 4
        "   LD_PKA.i32.unsigned.slot0.wait0 @r8, r2, 0x1000000\n"           // 64 bytes: 1
        "   IADD_IMM.i32 r2, r2^, #0x20\n"                                  // begins in the middle of a line
        "   LD_PKA.i32.unsigned.slot0.wait0 @r8, r2, 0x1000000\n"           // 2
        "   IMUL.i32 r3, r60, u5\n"                                         // x * an unknown stride
        "   LEA_PKA.slot1.wait1 @r10:r11, r3, u9\n"                         // moves nothing
        "   STORE.i32.slot0 @r8, r10^, offset:0\n"                          // 16
        "   LD_PKA.i32.unsigned.slot0.wait0 @r9, r8^, 0x1000000\n"          // a loaded index: 16
        "   RSHIFT_OR.i32 r3, r60, 0x7060504.b00, 0x0\n"                    // x / 16 is the same for all
        "   LD_PKA.i32.unsigned.slot0.wait0 @r9, r3, 0x1000000\n"           // 1
        "   STORE.i32.slot0 @r9, thread_local_pointer.w0, offset:40\n"      // the stack
        "   IADD.u32 r12, workgroup_local_pointer.w0, r2^\n"                //
        "   LOAD.i64.unsigned.slot0.wait0 @r14:r15, r12^, offset:0\n"       // workgroup memory, x * 4 + 32
        "   NOP.end\n";
    struct sm_access a[16];
    CHECK(accesses_of(text, (struct sm_local){64, 1, 1}, a, 16) == 9);
    static const uint32_t lines[] = {1, 4, 1, 2, 16, 16, 1, 16, 2};
    for (size_t i = 0; i < 9; i++)
        CHECK(a[i].lines == lines[i]);
    CHECK(a[0].bytes == 256 && a[2].bytes == 64);
    CHECK(a[7].space == SM_SPACE_STACK && a[7].last_byte == 44 && a[8].space == SM_SPACE_SHARED);
    // 8 lanes along x: the warp's second half is the next y.
    CHECK(accesses_of(text, (struct sm_local){8, 8, 1}, a, 16) == 9);
    CHECK(a[1].lines == 2 && a[4].lines == 8);
}

// An address that was spilled is still known.
static void test_spilled_address(void) {
    static const char text[] = "   LSHIFT_OR.i32 r1, r60, 0x3020100.b22, 0x0\n"
                               "   STORE.i32.slot0 @r1, thread_local_pointer.w0, offset:4\n"
                               "   MOV.i32 r1, 0x0\n"
                               "   LOAD.i64.unsigned.slot0.wait0 @r2:r3, thread_local_pointer.w0, offset:0\n"
                               "   LD_PKA.i32.unsigned.slot0.wait0 @r4, r3^, 0x1000000\n"
                               "   LD_PKA.i32.unsigned.slot0.wait0 @r4, r2^, 0x1000000\n"
                               "   LOAD.i32.unsigned.slot0.wait0 @r5, thread_local_pointer.w0, offset:40000\n"
                               "   LD_PKA.i32.unsigned.slot0.wait0 @r4, r5^, 0x1000000\n"
                               "   NOP.end\n";
    struct sm_access a[8];
    CHECK(accesses_of(text, (struct sm_local){64, 1, 1}, a, 8) == 6);
    CHECK(a[2].lines == 1 && a[3].lines == 16 && a[5].lines == 16 && a[1].last_byte == 8 && a[4].last_byte == 40004);
}

// What one side of a branch does to a register must not be seen on the other side.
static void test_else(void) {
    static const char text[] = "   LSHIFT_OR.i32 r1, r60, 0x3020100.b22, 0x0\n"
                               "   ICMP_OR.u32.lt.m1 r2, r60, u4, 0x0\n"
                               "   BRANCHZ.eq.reconverge r2^.h0, offset:2\n"
                               "\n"
                               "   LD_PKA.i32.unsigned.slot0.wait0 @r1, r1^, 0x1000000\n"
                               "   BRANCHZ.eq.reconverge 0x0, offset:1\n"
                               "\n"
                               "   LD_PKA.i32.unsigned.slot0.wait0 @r1, r1^, 0x1000000\n"
                               "   NOP.end\n";
    struct sm_access a[4];
    CHECK(accesses_of(text, (struct sm_local){64, 1, 1}, a, 4) == 2 && a[0].lines == 1 && a[1].lines == 1);
}

static const char nested[] = "   MOV.i32.reconverge r0, u4\n"                              // 0: outside
                             "\n"                                                          //
                             "   FADD.f32.reconverge r1, r1, r0\n"                         // 1: outer
                             "\n"                                                          //
                             "   IDPADD.v4s8.saturate r2, r3, r4, r2^\n"                   // 2: inner
                             "   STORE.i32.slot0 @r2, thread_local_pointer.w0, offset:8\n" // 3
                             "   BRANCHZ.reconverge r5.h0, offset:-3\n"                    // 4
                             "\n"                                                          //
                             "   LSHIFT_OR.i32 r6, r6^, 0x0.b00, r0\n"                     // 5: outer
                             "   BRANCHZ.eq.reconverge 0x0, offset:-6\n"                   // 6
                             "\n"                                                          //
                             "   NOP.end\n";                                               // 7: outside

static bool loops_of(const char *text, struct sm_loops *loops, char *error, size_t error_bytes) {
    struct sm_asm p;
    if (!sm_asm_parse(text, &p, error, error_bytes))
        return false;
    bool good = sm_loops_find(&p, (struct sm_local){16, 1, 1}, 16, loops, error, error_bytes);
    sm_asm_free(&p);
    return good;
}

static void test_loops(void) {
    struct sm_loops l;
    char error[200];
    CHECK(loops_of(nested, &l, error, sizeof error));
    CHECK(l.count == 2 && l.loops[0].parent == -1 && l.loops[1].parent == 0 && l.loops[1].depth == 1);
    CHECK(l.loops[0].first == 1 && l.loops[0].last == 6 && l.loops[1].first == 2 && l.loops[1].last == 4);
    const struct sm_counts *outer = &l.loops[0].own, *inner = &l.loops[1].own;
    CHECK(outer->instructions == 3 && outer->fma == 1 && outer->sfu == 1 && outer->cvt == 1 && outer->ls == 0);
    CHECK(inner->instructions == 3 && inner->dots == 1 && inner->ls == 1 && inner->stack == 1);
    CHECK(inner->lines == 16 && inner->stack_lines == 16 && l.stack_bytes == 12 && !l.uses_shared);
    CHECK(l.outside.instructions == 2 && sm_loops_hot(&l) == 1 && sm_loops_macs(inner) == 4);
    // Two loops of which neither contains the other.
    CHECK(!loops_of("   NOP.reconverge\n   NOP.reconverge\n   BRANCHZ.reconverge r0.h0, offset:-3\n"
                    "   BRANCHZ.reconverge r0.h0, offset:-3\n   NOP.end\n",
                    &l, error, sizeof error));
    CHECK(strstr(error, "overlap") != NULL);
}

static void test_time(void) {
    struct sm_constants c = sm_constants_default();
    struct sm_kernel k = {.local = {24, 1, 1}};
    char error[200];
    CHECK(loops_of(nested, &k.loops, error, sizeof error));
    struct sm_launch launch = {.trips = {10, 5}, .groups = 100};
    struct sm_time t = sm_kernel_time(&k, &launch, &c);
    // 24 lanes are two warps; 10 outer trips, 50 inner ones.
    CHECK(t.warps == 200 && t.slots.fma == 60 && t.slots.cvt == 2 + 10 + 50 && t.slots.sfu == 10);
    CHECK(t.slots.lines == 800 && t.slots.stack_lines == 800 && t.slots.macs == 50 * 4 * 16);
    double warp = 200 / c.gpu_cores / c.gpu_hz;
    CHECK(near(t.alu_s, warp * 132 / 4) && near(t.ls_s, warp * 800));
    CHECK(near(t.total_s, t.ls_s + c.dispatch_s) && t.raw_s == t.alu_s);
    c.overlap = 0.5;
    CHECK(near(sm_kernel_time(&k, &launch, &c).total_s, t.ls_s + t.alu_s / 2 + c.dispatch_s));
    launch.dram_bytes = 27e9;
    CHECK(near(sm_kernel_time(&k, &launch, &c).total_s, 1 + c.dispatch_s));
    c.sfu_slots = 40; // the quarter-rate unit bounds
    CHECK(near(sm_kernel_time(&k, &launch, &c).alu_s, warp * 400 / 4));
}

static void test_constants(void) {
    struct sm_constants c = sm_constants_default();
    CHECK(sm_constants_set(&c, "gpu_hz=850e6") && c.gpu_hz == 850e6);
    CHECK(sm_constants_set(&c, "overlap=0") && c.overlap == 0);
    CHECK(!sm_constants_set(&c, "overlap=1.5") && !sm_constants_set(&c, "gpu_hz=0") &&
          !sm_constants_set(&c, "gpu_hz=-1"));
    CHECK(!sm_constants_set(&c, "gpu=1") && !sm_constants_set(&c, "gpu_hz") && !sm_constants_set(&c, "gpu_hz=1x"));
    CHECK(!sm_constants_set(&c, "gpu_hz=nan") && c.gpu_hz == 850e6);
}

static void test_shapes(void) {
    const struct sm_shape *shape = sm_shape_find("3b");
    CHECK(shape != NULL && sm_shape_find("qwen2.5-3b") == shape && sm_shape_find("4b") == NULL);
    if (shape == NULL)
        return;
    CHECK(near(sm_shape_macs(shape), 36.0 * (2 * 2048.0 * 2048 + 2 * 256.0 * 2048 + 3 * 11008.0 * 2048)));
    struct sm_product p[SM_PRODUCTS_A_LAYER];
    int more = 0;
    for (int layer = 0; layer < shape->layers; layer++) {
        sm_shape_products(shape, layer, p);
        more += p[6].format == RF_FORMAT_Q6_K;
        CHECK(p[2].format == p[6].format && p[0].format == RF_FORMAT_Q4_K);
    }
    CHECK(more == 18);
    // Rows of 896 have no k-quants, rows of 4864 do.
    sm_shape_products(sm_shape_find("0.5b"), 0, p);
    CHECK(p[0].format == RF_FORMAT_Q5_0 && p[2].format == RF_FORMAT_Q8_0 && p[6].format == RF_FORMAT_Q6_K);
}

static void test_tile(const char *fixtures) {
    char path[4096], error[1400];
    struct sm_constants c = sm_constants_default();
    struct sm_kernel k;
    snprintf(path, sizeof path, "%s/tile_int8_4x2.txt", fixtures);
    CHECK(sm_kernel_read(path, (struct sm_local){64, 1, 1}, &c, &k, error, sizeof error));
    CHECK(k.spills == 0 && k.loops.stack_bytes == 0 && !k.loops.uses_shared && k.loops.count == 1);
    const struct sm_counts *loop = &k.loops.loops[0].own;
    // 4 rows, 2 columns a lane, 32 of k: 256 multiply-accumulates. 8 uniform loads of the panel, 4 contiguous ones of
    // the columns, 8 scales and minimums of the panel, 2 scales and 4 sums of the columns.
    CHECK(loop->dots == 64 && loop->ls == 26 && loop->scattered == 0);
    CHECK(loop->bytes == (12 * 16 + 14 * 4) * 16);
    CHECK(loop->lines == 8 * 1 + 4 * 4 + 8 * 1 + 2 * 1 + 4 * 2);
    CHECK(!sm_kernel_read("/nowhere/dump.txt", (struct sm_local){64, 1, 1}, &c, &k, error, sizeof error));
    CHECK(strstr(error, "/nowhere/dump.txt") != NULL);
}

static void test_graph(const char *fixtures) {
    char path[4096], error[1400];
    struct sm_constants c = sm_constants_default();
    struct sm_list list;
    snprintf(path, sizeof path, "%s/list.txt", fixtures);
    if (!sm_list_read(path, &c, &list, error, sizeof error)) {
        fprintf(stderr, "%s\n", error);
        failures++;
        return;
    }
    struct sm_graph_request r = {
        .shape = sm_shape_find("3b"), .path = RF_PATH_INT8, .ubatch = 512, .prompt = 512, .splits_per_layer = 6};
    struct sm_graph g, slow;
    CHECK(sm_graph_run(&r, &list, &c, &g, error, sizeof error));
    CHECK(g.tps_raw > g.tps_products && g.tps_products > g.tps_modelled && g.tps_derated == g.tps_modelled);
    double sum = g.quantise_s + g.unpack_s + g.matmul_s + g.attention_s + g.other_s + g.cpu_s + g.submit_s;
    CHECK(near(512 / sum, g.tps_modelled) && g.dispatches == 36 * (4 + 2 * 7) && g.splits == 216);
    c.gpu_cores = 2;
    CHECK(sm_graph_run(&r, &list, &c, &slow, error, sizeof error) && near(slow.tps_raw, g.tps_raw / 2));
    CHECK(near(slow.cpu_s, g.cpu_s));
    r.prompt = 2048; // attention looks further back
    CHECK(sm_graph_run(&r, &list, &c, &slow, error, sizeof error) && slow.attention_s > 3.9 * g.attention_s);
    r.ubatch = 32; // another tile, which the list lacks
    CHECK(!sm_graph_run(&r, &list, &c, &g, error, sizeof error));
    CHECK(strstr(error, "the list lacks: tile int8 16 4 1 1 1") != NULL);
    // What a micro-batch needs is what makes the list serve it.
    struct sm_list needs = {0};
    char text[80];
    CHECK(sm_graph_needs(&r, &needs) && needs.count == 5);
    for (size_t i = 0; i < needs.count; i++) {
        sm_list_describe(&needs.entries[i], text, sizeof text);
        CHECK((sm_list_find(&list, &needs.entries[i]) == NULL) == (strncmp(text, "tile", 4) == 0));
    }
    sm_list_free(&needs);
    CHECK(sm_graph_point("some-tile", &list, &c) > 0 && sm_graph_point("other", &list, &c) == 0);
    sm_list_free(&list);
}

static void refuse_list(const char *line, const char *part) {
    char path[] = "/tmp/sim_model_test_XXXXXX", error[1400] = "";
    int file = mkstemp(path);
    FILE *stream = file < 0 ? NULL : fdopen(file, "w");
    if (stream == NULL) {
        CHECK(!"no temporary file");
        return;
    }
    fprintf(stream, "# a comment\n%s\n", line);
    fclose(stream);
    struct sm_constants c = sm_constants_default();
    struct sm_list list;
    CHECK(!sm_list_read(path, &c, &list, error, sizeof error) && list.entries == NULL);
    CHECK(strstr(error, part) != NULL && strstr(error, ":2: ") != NULL);
    unlink(path);
}

static void test_bad_lists(void) {
    refuse_list("kernel int8 a.txt", "wrong columns");
    refuse_list("columns int4 a.txt", "wrong columns");
    refuse_list("tile int8 64 0 2 1 1 a.txt", "wrong columns");
    refuse_list("tile int8 64 4 2 1 1 a.txt extra", "wrong columns");
    refuse_list("unpack int8 q9_K 4 a.txt", "wrong columns");
    refuse_list("point p 0 q4_K 64 64 64 32 1 a.txt", "wrong columns");
    refuse_list("point p 9 q4_K 64 64 64 32 1,,2 a.txt", "wrong columns");
    refuse_list("columns int8 missing.txt", "missing.txt");
}

// The program's exit status; its output goes to /dev/null, but for `expected`, which must be in it.
static int run(const char *program, const char *arguments, const char *expected) {
    char command[8192], line[4096];
    bool found = expected == NULL;
    snprintf(command, sizeof command, "'%s' %s 2>&1", program, arguments);
    FILE *output = popen(command, "r");
    if (output == NULL)
        return -1;
    while (fgets(line, sizeof line, output) != NULL)
        found |= expected != NULL && strstr(line, expected) != NULL;
    int status = pclose(output);
    CHECK(found);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_program(const char *program, const char *fixtures) {
    char arguments[6000];
    CHECK(run(program, "--help", "usage: sim-model") == 0);
    CHECK(run(program, "", "--help") == 2);
    CHECK(run(program, "nonsense file", "--help") == 2);
    CHECK(run(program, "loops file", "--local") == 2);
    CHECK(run(program, "loops --local 0 file", "--local 0") == 2);
    CHECK(run(program, "graph --ubatch many file", "--ubatch many") == 2);
    CHECK(run(program, "graph --shape 3b", "file") == 2);
    CHECK(run(program, "loops --local 64 /nowhere/a.txt", "/nowhere/a.txt") == 1);
    CHECK(run(program, "needs --shape 0.5b --ubatch 512", "unpack int8 q5_0 4") == 0);
    CHECK(run(program, "needs --shape 3b --ubatch 512 --path fp32", "tile fp32 64 4 2 1 0") == 0);
    CHECK(run(program, "needs --shape 3b", "--ubatch") == 2);
    CHECK(run(program, "constants", "| gpu_cores | 4 |") == 0);
    CHECK(run(program, "constants --set gpu_cores=3", "| gpu_cores | 3 |") == 0);
    snprintf(arguments, sizeof arguments, "loops --local 64 '%s/tile_int8_4x2.txt'", fixtures);
    CHECK(run(program, arguments, "\"macs_per_loop\": 256") == 0);
    snprintf(arguments, sizeof arguments, "kernel --local 64 --groups 10 --trips 64 '%s/tile_int8_4x2.txt'", fixtures);
    CHECK(run(program, arguments, "\"warps\": 40") == 0);
    snprintf(arguments, sizeof arguments, "calibrate '%s/list.txt'", fixtures);
    CHECK(run(program, arguments, "\"name\": \"some-tile\"") == 0);
    snprintf(arguments, sizeof arguments, "graph --shape 3b --ubatch 512 --derate-by none '%s/list.txt'", fixtures);
    CHECK(run(program, arguments, "no point") == 1);
    snprintf(arguments, sizeof arguments, "graph --shape 3b --ubatch 512 --derate-by some-tile '%s/list.txt'",
             fixtures);
    CHECK(run(program, arguments, "\"tps_derated\"") == 0);
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: sim_model_test SIM_MODEL FIXTURES\n");
        return 2;
    }
    test_units();
    test_parse();
    test_bad_text();
    test_lines();
    test_else();
    test_spilled_address();
    test_loops();
    test_time();
    test_constants();
    test_shapes();
    test_tile(argv[2]);
    test_graph(argv[2]);
    test_bad_lists();
    test_program(argv[1], argv[2]);
    printf("sim_model: %s\n", failures == 0 ? "passed" : "FAILED");
    return failures != 0;
}
