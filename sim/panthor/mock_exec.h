// SPDX-License-Identifier: MIT
// What the tests and their mali-exec agree on.
#pragma once

#define MOCK_DIES 0xdeadu
#define MOCK_UNMAPPED 0xc0u // the code of a job whose stream is not mapped
