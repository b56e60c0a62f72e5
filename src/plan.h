// SPDX-License-Identifier: MIT
// One graph's work on the device: a list of steps, the scratch arena they use, and the copies between host and device
// around them. Operations (matmul.h) append steps; the plan runs them when the arena is full and at the end.
//
// All functions need the device's lock. After the first graph of a shape nothing is allocated any more.
#pragma once

#include "buffer.h"
#include "product.h"
#include "submit.h"

// What an operand looks like to a kernel: a binding and where in it the first element lies.
struct rf_operand {
    struct rf_slice slice;
    uint64_t first_bytes; // from the binding's start to the first element
    uint64_t nb[4];       // bytes between elements, rows, matrices, outer matrices
    bool pending;         // an earlier step of the plan writes it: its reader waits
};

struct rf_arena {
    struct rf_memory memory;
    uint64_t used;
};

// What makes two unpackings of activations the same. Zero the whole struct before filling it.
struct rf_columns_key {
    const void *data, *ids;
    int64_t ne[4];
    size_t nb[4];
    int64_t first, count; // range of columns
    enum rf_path path;
};

// Unpacked columns, which later products of the same graph may share.
struct rf_columns {
    struct rf_columns_key key;
    struct rf_slice values, scales, table;
};

#define RF_COLUMNS_KEPT 16

// A result that the device wrote to the staging arena and that goes to the host when the steps have run.
struct rf_download {
    const void *from;
    char *to;
    uint64_t row_bytes, rows, matrices; // contiguous in `from`
    uint64_t to_row, to_matrix;         // strides, bytes
};

struct rf_plan {
    struct rf_step *steps;
    size_t step_count, step_capacity;
    struct rf_arena panels, columns, staging;
    struct rf_memory
        bounce; // discrete devices: staging's twin in device memory, the same offsets; kernels use this one
    struct rf_slice *outputs; // staged results in it, to be copied to the staging arena before the host looks
    size_t output_count, output_capacity;
    struct rf_columns kept[RF_COLUMNS_KEPT];
    size_t kept_count;
    struct rf_download *downloads;
    size_t download_count, download_capacity;
    struct {
        const struct rf_memory *memory;
        uint64_t begin, end; // bytes that the device writes and the host may have cached
    } * results;
    size_t result_count, result_capacity;
    const char **written; // begin and end addresses (host view) of all results of pending steps
    size_t written_count, written_capacity;
};

// Arena limits, bytes; the arena starts empty and grows to what products need.
#define RF_PANEL_LIMIT ((uint64_t)64 << 20)
#define RF_COLUMN_LIMIT ((uint64_t)64 << 20)
#define RF_STAGING_LIMIT ((uint64_t)256 << 20)

struct rf_plan *rf_plan_create(void);
void rf_plan_destroy(struct rf_device *device, struct rf_plan *plan);

// Appends a step. False when the host is out of memory.
bool rf_plan_step(struct rf_device *device, const struct rf_step *step);

// Runs everything appended so far, delivers results to the host and empties the arena. False when the device failed.
bool rf_plan_flush(struct rf_device *device);

// Drops whatever a failed graph left behind.
void rf_plan_reset(struct rf_device *device);

// Before the parts of one piece are appended: sees to it that the arena has room for them, by running what is pending
// and by growing. Everything taken before may then be gone, which *flushed tells. False when there is no memory or the
// device failed.
bool rf_plan_room(struct rf_device *device, uint64_t panel_bytes, uint64_t column_bytes, uint64_t staging_bytes,
                  bool *flushed);

// Room that `bytes` in one slice can take, alignment included.
uint64_t rf_plan_slice_bytes(uint64_t bytes);

// Takes a slice of the room made before. Valid until the next rf_plan_room or rf_plan_flush.
struct rf_slice rf_plan_take(struct rf_arena *arena, uint64_t bytes);

// Before rf_plan_room, for each input of a piece: fills the twin of constant contents, and runs pending steps whose
// results the host has to read. False when the device failed.
bool rf_plan_prepare(struct rf_device *device, const struct rf_matrix *matrix, bool constant);

// Makes `ne[1]` rows x `ne[2]` matrices of `ne[0]` elements readable by the device: in place, from the buffer's twin,
// or packed into the staging arena. `constant`: the contents do not change while the buffer's `current` flag is set.
bool rf_plan_input(struct rf_device *device, const struct rf_matrix *matrix, bool constant, struct rf_operand *operand);

// Gives the device a place for ne[1] columns x ne[2] matrices of ne[0] floats and sees to it that the host gets them.
bool rf_plan_output(struct rf_device *device, const struct rf_matrix *matrix, struct rf_operand *operand);

// The same for a result that is delivered piece by piece: takes `bytes` of the staging arena, and later tells which of
// them go where. `matrix` is the whole result.
bool rf_plan_stage_result(struct rf_device *device, const struct rf_matrix *matrix, uint64_t bytes,
                          struct rf_slice *slice);
bool rf_plan_deliver(struct rf_device *device, const struct rf_slice *slice, uint64_t offset, void *to, uint64_t bytes);

// Copies `bytes` of host memory to the staging arena.
bool rf_plan_upload(struct rf_device *device, const void *data, uint64_t bytes, struct rf_slice *slice);

// Bytes of the staging arena that rf_plan_input or rf_plan_output will take for a matrix.
uint64_t rf_plan_staging_bytes(const struct rf_device *device, const struct rf_matrix *matrix, bool constant);

// Whether the device reaches the matrix without a copy through the staging arena.
bool rf_plan_in_place(const struct rf_device *device, const struct rf_matrix *matrix, bool constant);

// Whether a pending step writes to any byte of the matrix.
bool rf_plan_pending(const struct rf_device *device, const struct rf_matrix *matrix);

// Bytes from the first to past the last element of a matrix.
uint64_t rf_matrix_span(const struct rf_matrix *matrix);
