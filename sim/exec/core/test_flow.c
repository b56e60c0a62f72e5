// SPDX-License-Identifier: MIT
// Which lanes run together: loops, early ends, barriers, partial warps. Each under both rules of reconvergence, with
// one and three threads, in natural and random order of workgroups: what comes out is the same.
#include "core_test.h"

#define THREADS 200 // of a grid that leaves its last warp partial

static void each_way(bool (*good)(void)) {
    static uint32_t kept[DATA_BYTES / 4];
    memcpy(kept, bench.data, DATA_BYTES);
    for (unsigned way = 0; way < 8; way++) {
        bench.options.threads = way & 1 ? 3 : 1;
        bench.options.shuffle = way & 2 ? 11 : 0;
        bench.options.reconvergence = way & 4 ? MX_AT_EVERY_INSTRUCTION : MX_AT_BRANCHES;
        memcpy(bench.data, kept, DATA_BYTES);
        CHECK(bench_run());
        CHECK(good());
    }
}

static void grid(uint32_t local, uint32_t groups) {
    bench.job.local_size[0] = local;
    bench.job.group_count[0] = groups;
}

// What the program does, in C.
static uint32_t loops_expected(uint32_t id) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i != (id & 7); i++) {
        for (uint32_t j = 0; j != (id & 3); j++) {
            if (sum > 40)
                break;
            sum += i + 1;
        }
        sum += 2;
    }
    return sum;
}

static bool loops_good(void) {
    bool good = true;
    for (uint32_t id = 0; id < THREADS; id++)
        good &= bench.data[id] == loops_expected(id);
    return good && bench.data[THREADS] == 0;
}

static void loops(void) {
    emit(i_mov(0, ZERO)); // sum
    emit(i_mov(1, ZERO)); // i
    emit(i_add_immediate(4, ZERO, 7));
    emit(i_and(4, R(60), R(4)));
    emit(i_add_immediate(5, ZERO, 3));
    emit(i_and(5, R(60), R(5)));
    emit(i_add_immediate(7, ZERO, 40));
    uint32_t outer = bench.words;
    emit(i_compare(3, NE, R(1), R(4)));
    uint32_t leave = emit(i_branch(R(3), true));
    emit(i_mov(2, ZERO)); // j
    uint32_t inner = bench.words;
    emit(i_compare(3, NE, R(2), R(5)));
    uint32_t leave_inner = emit(i_branch(R(3), true));
    emit(i_compare(3, GT, R(0), R(7)));
    uint32_t broken = emit(i_branch(R(3), false));
    emit(i_add_immediate(6, R(1), 1));
    emit(i_add(0, R(0), R(6)));
    emit(i_add_immediate(2, R(2), 1));
    emit_back(i_branch(ZERO, true), inner);
    emit_target(leave_inner);
    emit_target(broken);
    emit(i_add_immediate(0, R(0), 2));
    emit(i_add_immediate(1, R(1), 1));
    emit_back(i_branch(ZERO, true), outer);
    emit_target(leave);
    emit_store(0);
    emit_end();
    grid(40, THREADS / 40);
    each_way(loops_good);
}

static bool preloads_good(void) {
    bool good = true;
    for (uint32_t t = 0; t < 3 * 5 * 2 * 2 * 3 * 2; t++) {
        uint32_t local = t % 30, group = t / 30;
        uint32_t l[3] = {local % 3, local / 3 % 5, local / 15}, g[3] = {group % 2, group / 2 % 3, group / 6};
        const uint32_t *row = bench.data + 8 * t;
        good &= row[0] == (l[0] | l[1] << 16) && row[1] == l[2];
        for (unsigned i = 0; i < 3; i++)
            good &= row[2 + i] == g[i] && row[5 + i] == bench.job.offset[i] + g[i] * bench.job.local_size[i] + l[i];
    }
    return good;
}

// Rows of eight words, by the linear id that is made from local and workgroup ids.
static void preloads(void) {
    uint32_t size[3] = {3, 5, 2}, count[3] = {2, 3, 2}, offset[3] = {100, 200, 300};
    memcpy(bench.job.local_size, size, sizeof size);
    memcpy(bench.job.group_count, count, sizeof count);
    memcpy(bench.job.offset, offset, sizeof offset);
    emit(i_add_immediate(0, ZERO, 16));
    emit(i_alu(0xb4, 1, R(55), R(0), ZERO) | UINT64_C(1) << 24 | UINT64_C(4) << 26); // local y
    emit(i_add_immediate(0, ZERO, 0xffff));
    emit(i_and(0, R(55), R(0))); // local x
    emit(i_add_immediate(2, ZERO, 3));
    emit(i_mul(1, R(1), R(2)));
    emit(i_add(0, R(0), R(1)));
    emit(i_add_immediate(2, ZERO, 15));
    emit(i_mul(1, R(56), R(2)));
    emit(i_add(0, R(0), R(1))); // local, linear
    emit(i_add_immediate(2, ZERO, 2));
    emit(i_mul(1, R(58), R(2)));
    emit(i_add(1, R(57), R(1)));
    emit(i_add_immediate(2, ZERO, 6));
    emit(i_mul(2, R(59), R(2)));
    emit(i_add(1, R(1), R(2)));
    emit(i_add_immediate(2, ZERO, 30));
    emit(i_mul(1, R(1), R(2)));
    emit(i_add(0, R(0), R(1)));
    emit(i_add_immediate(2, ZERO, 5));
    emit(i_shift_left(0, R(0), R(2)));
    emit(i_mov(1, ZERO));
    emit(i_add64(2, U(0), R(0)));
    for (unsigned i = 0; i < 8; i++)
        emit(i_store(I32, 55 + i, R(2), (int16_t)(4 * i)));
    emit_end();
    each_way(preloads_good);
}

static void preloads_only_what_is_asked(void) {
    bench.job.preload = 0x1000;
    emit(i_mov(0, R(57)));
    emit(i_add(0, R(0), R(61)));
    emit_store(0);
    emit_end();
    grid(16, 3);
    bench.job.group_count[1] = 2;
    CHECK(bench_run());
    for (unsigned i = 0; i < 48; i++)
        CHECK_EQUAL(bench.data[i], 0);
}

// Threads with id >= 50 end at once; the others turn their ids round through workgroup memory.
static bool barrier_good(void) {
    bool good = true;
    for (uint32_t id = 0; id < 300; id++)
        good &= bench.data[id] == (id % 100 < 50 ? id / 100 * 100 + 49 - id % 100 + 1 : 0);
    return good;
}

static void barriers(void) {
    emit(i_add_immediate(0, ZERO, 0xffff));
    emit(i_and(0, R(55), R(0)));
    emit(i_add_immediate(1, ZERO, 50));
    emit(i_compare(2, LT, R(0), R(1)));
    uint32_t stays = emit(i_branch(R(2), false));
    emit_end();
    emit_target(stays);
    emit(i_add_immediate(3, ZERO, 2));
    emit(i_shift_left(4, R(0), R(3)));
    emit(i_add_immediate(1, ZERO, 49));
    emit(i_sub(5, R(1), R(0)));
    emit(i_shift_left(6, R(5), R(3)));
    emit(i_mov(7, ZERO));
    emit(i_mov(5, ZERO));
    emit(i_alu(0x1ab, 4, SHARED_POINTER, R(4), 7) | PAGE(1));
    emit(i_alu(0x1ab, 6, SHARED_POINTER, R(6), 7) | PAGE(1));
    emit(i_add_immediate(1, R(60), 1));
    emit(i_store(I32, 1, R(4), 0));
    emit(i_barrier());
    emit(i_load(I32, 0, R(6), 0));
    emit(i_barrier()); // before the next use, were there one
    emit_store(0);
    emit_end();
    grid(100, 3);
    each_way(barrier_good);
}

// Lanes of one warp wait at two different barriers: they are counted, not told apart.
static void barriers_apart(void) {
    emit(i_add_immediate(0, ZERO, 4));
    emit(i_compare(1, LT, R(60), R(0)));
    uint32_t others = emit(i_branch(R(1), true));
    emit(i_barrier());
    emit(i_add_immediate(2, ZERO, 1));
    uint32_t on = emit(i_branch(ZERO, true));
    emit_target(others);
    emit(i_barrier());
    emit(i_add_immediate(2, ZERO, 2));
    emit_target(on);
    emit_store(2);
    emit_end();
    CHECK(bench_run());
    for (unsigned i = 0; i < 16; i++)
        CHECK_EQUAL(bench.data[i], i < 4 ? 1 : 2);
}

static bool masks_good(void) {
    bool good = true;
    for (uint32_t id = 0; id < 32; id++)
        good &= bench.data[id] == (id >= 20 ? 0 : (id & 1 ? 0xaaaau : 0x5555u) & (id < 16 ? 0xffff : 0xf));
    return good;
}

// WMASK sees the lanes that run it together: odd and even ones apart, none beyond a partial warp's end.
static void masks(void) {
    emit(i_add_immediate(0, ZERO, 1));
    emit(i_and(1, R(60), R(0)));
    uint32_t odd = emit(i_branch(R(1), false));
    emit(UINT64_C(0x0095c03000000000) | R(0) | UINT64_C(2) << 40);
    uint32_t on = emit(i_branch(ZERO, true));
    emit_target(odd);
    emit(UINT64_C(0x0095c03000000000) | R(0) | UINT64_C(2) << 40);
    emit_target(on);
    emit_store(2);
    emit_end();
    grid(20, 1);
    each_way(masks_good);
}

// CLPER: the value of lane 3, and 0 where that lane does not run.
static void other_lanes(void) {
    emit(i_add_immediate(0, ZERO, 3));
    emit(i_add_immediate(1, R(60), 100));
    uint64_t clper = UINT64_C(0x00a0c030100f0000) | UINT64_C(2) << 40 | R(0) << 8 | R(1);
    emit(clper);
    emit_store(2);
    emit(i_add_immediate(3, ZERO, 1));
    emit(i_and(3, R(60), R(3)));
    uint32_t odd = emit(i_branch(R(3), false));
    emit(clper);
    emit_store(2);
    emit_target(odd);
    emit_end();
    CHECK(bench_run());
    for (unsigned i = 0; i < 16; i++)
        CHECK_EQUAL(bench.data[i], i & 1 ? 103 : 0);
}

// Each part of the word by which a branch can go.
static void branch_parts(void) {
    static const uint32_t values[8] = {0, 0xffff, 0xffff0000, 0xffffffff, 2, 1, 0x10000, 0xfffffffe};
    static const uint8_t taken[5][8] = {{0, 1, 1, 1, 1, 1, 1, 1},
                                        {0, 1, 0, 1, 1, 1, 0, 1},
                                        {0, 0, 1, 1, 0, 0, 1, 1},
                                        {0, 0, 0, 1, 0, 0, 0, 0},
                                        {0, 1, 0, 1, 0, 1, 0, 0}};
    for (unsigned part = 0; part < 5; part++) {
        bench_renew();
        memcpy(bench.data, values, sizeof values);
        emit(i_add_immediate(0, ZERO, 2));
        emit(i_shift_left(0, R(60), R(0)));
        emit(i_mov(1, ZERO));
        emit(i_add64(2, U(0), R(0)));
        emit(i_load(I32, 4, R(2), 0));
        emit(i_add_immediate(5, ZERO, 0));
        uint32_t branch = emit(i_branch(R(4), false) | (uint64_t)part << 37);
        emit(i_add_immediate(5, ZERO, 1));
        emit_target(branch);
        emit_store(5);
        emit_end();
        grid(8, 1);
        CHECK(bench_run());
        for (unsigned i = 0; i < 8; i++)
            CHECK_EQUAL(bench.data[i], !taken[part][i]);
    }
}

// Half of a register is written, the other half stays: FADD of f32 to f16.
static void halves(void) {
    emit(i_add_immediate(0, ZERO, 0x12345678));
    emit(i_add_immediate(1, ZERO, 0x3fc00000));                                       // 1.5
    emit((i_alu(0xa4, 0, R(1), ZERO, 0) & ~(UINT64_C(3) << 46)) | UINT64_C(1) << 46); // low
    emit_store(0);
    emit_end();
    CHECK(bench_run());
    CHECK_EQUAL(bench.data[3], 0x12343e00);
}

static void no_work(void) {
    emit_end();
    bench.job.group_count[1] = 0;
    CHECK(bench_run());
    CHECK_EQUAL(bench.stats.warp_instructions, 0);
}

static void counted(void) {
    emit(i_mov(0, ZERO));
    emit_end();
    grid(33, 5); // three warps
    CHECK(bench_run());
    CHECK_EQUAL(bench.stats.warp_instructions, 2 * 3 * 5);
    CHECK_EQUAL(bench.stats.jobs, 1);
}

const struct test flow_tests[] = {{"flow: nested loops with a break", loops},
                                  {"flow: preloaded registers", preloads},
                                  {"flow: registers that are not preloaded", preloads_only_what_is_asked},
                                  {"flow: barriers, and threads that have ended", barriers},
                                  {"flow: lanes at different barriers", barriers_apart},
                                  {"flow: WMASK", masks},
                                  {"flow: CLPER", other_lanes},
                                  {"flow: what a branch looks at", branch_parts},
                                  {"flow: half a register", halves},
                                  {"flow: an empty grid", no_work},
                                  {"flow: instructions are counted", counted},
                                  {NULL, NULL}};
