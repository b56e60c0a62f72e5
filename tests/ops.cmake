# SPDX-License-Identifier: MIT
# rockfill-unit and rockfill-ops: what the library's parts and its operators must do. In ${CMAKE_BINARY_DIR}/bin.
set(OPS_BENCH_DIR ${CMAKE_CURRENT_LIST_DIR}/../bench)

add_executable(rockfill-unit
    ${CMAKE_CURRENT_LIST_DIR}/unit.c ${CMAKE_CURRENT_LIST_DIR}/unit_cachefile.c ${CMAKE_CURRENT_LIST_DIR}/unit_device.c
    ${CMAKE_CURRENT_LIST_DIR}/unit_env.c ${CMAKE_CURRENT_LIST_DIR}/unit_product.c ${OPS_BENCH_DIR}/cases.c)
target_include_directories(rockfill-unit PRIVATE ${CMAKE_CURRENT_LIST_DIR} ${OPS_BENCH_DIR})
target_link_libraries(rockfill-unit PRIVATE rockfill_core m)
# So that a test can let an allocation of the library fail.
target_link_options(rockfill-unit PRIVATE -Wl,--wrap=malloc -Wl,--wrap=calloc)

add_executable(rockfill-ops
    ${CMAKE_CURRENT_LIST_DIR}/ops.c ${CMAKE_CURRENT_LIST_DIR}/ops_fill.c ${CMAKE_CURRENT_LIST_DIR}/ops_graphs.c
    ${CMAKE_CURRENT_LIST_DIR}/ops_product.c ${CMAKE_CURRENT_LIST_DIR}/ops_reference.c
    ${CMAKE_CURRENT_LIST_DIR}/ops_scene.c ${CMAKE_CURRENT_LIST_DIR}/ops_world.c ${OPS_BENCH_DIR}/cases.c)
target_include_directories(rockfill-ops PRIVATE ${CMAKE_CURRENT_LIST_DIR} ${OPS_BENCH_DIR})
# The CPU device's table is needed to notice that a device left its work to it.
target_link_libraries(rockfill-ops PRIVATE ggml_public ggml_private ${CMAKE_DL_LIBS} m)

set_target_properties(rockfill-unit rockfill-ops PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
