// SPDX-License-Identifier: MIT
// Runs the tests. An argument is a part of the names of those to run. Ends in "N passed, N failed".
#include "stream_test.h"

static void mock_renew(void) {
    mock = (struct mock){0};
}

int main(int argc, char **argv) {
    static const struct test *const all[] = {memory_tests, stream_tests, job_tests, machine_tests};
    return test_main(argc, argv, all, sizeof all / sizeof all[0], mock_renew);
}
