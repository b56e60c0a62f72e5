// SPDX-License-Identifier: MIT
#include "split.h"

#define COLUMN_MULTIPLE 16 // columns of an unpacked group

static uint64_t round_up(uint64_t value, uint64_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

static bool rows_fit(const struct rf_split_needs *n, const struct rf_split *s) {
    uint64_t panel = (uint64_t)s->panels * round_up((uint64_t)s->rows, n->row_multiple) * n->panel_row_bytes;
    uint64_t span =
        (uint64_t)(s->panels - 1) * n->weights_matrix + (uint64_t)(s->rows - 1) * n->weights_row + n->weights_last;
    return s->rows <= n->row_limit && panel <= n->panel_limit && span <= n->weights_limit;
}

static bool columns_fit(const struct rf_split_needs *n, const struct rf_split *s) {
    uint64_t matrices = (uint64_t)s->panels * (uint64_t)s->matrices;
    uint64_t unpacked = matrices * round_up((uint64_t)s->columns, COLUMN_MULTIPLE) * n->column_bytes;
    uint64_t span = (matrices - 1) * n->activations_matrix + (uint64_t)(s->columns - 1) * n->activations_column +
                    n->activations_last;
    uint64_t result = (matrices - 1) * n->result_matrix + (uint64_t)(s->columns - 1) * n->result_column +
                      (uint64_t)s->rows * sizeof(float);
    return unpacked <= n->column_limit && span <= n->activations_limit && result <= n->result_limit;
}

static int64_t half(int64_t value, int64_t multiple) {
    return (int64_t)round_up((uint64_t)(value + 1) / 2, (uint64_t)multiple);
}

bool rf_split_choose(const struct rf_split_needs *needs, struct rf_split *split) {
    *split = (struct rf_split){needs->panels, needs->matrices, needs->columns, needs->rows};
    for (;;) {
        bool rows_ok = rows_fit(needs, split), columns_ok = columns_fit(needs, split);
        if (rows_ok && columns_ok)
            return true;
        if (split->panels > 1)
            split->panels = half(split->panels, 1);
        else if (!rows_ok && split->rows > needs->row_multiple)
            split->rows = half(split->rows, needs->row_multiple);
        else if (!columns_ok && split->matrices > 1)
            split->matrices = half(split->matrices, 1);
        else if (!columns_ok && split->columns > COLUMN_MULTIPLE)
            split->columns = half(split->columns, COLUMN_MULTIPLE);
        else if (!columns_ok && split->rows > needs->row_multiple)
            split->rows = half(split->rows, needs->row_multiple);
        else
            return false;
    }
}
