# SPDX-License-Identifier: MIT
#
# rockfill-scenario (scenario.h) and the library that makes a host of another release (scenario_host.c).
set(SCENARIO_DIR ${CMAKE_CURRENT_LIST_DIR})
rockfill_program(rockfill-scenario
    ${SCENARIO_DIR}/scenario.c ${SCENARIO_DIR}/scenario_acts.c ${SCENARIO_DIR}/scenario_model.c scenario_twice.c
    ${SCENARIO_DIR}/scenario_noops.c ${SCENARIO_DIR}/scenario_product.c ${SCENARIO_DIR}/scenario_scene.c)
target_link_libraries(rockfill-scenario PRIVATE Threads::Threads)

# Not linked with ggml: it stands in front of it.
add_library(scenario-host MODULE ${SCENARIO_DIR}/scenario_host.c)
target_include_directories(scenario-host SYSTEM PRIVATE $<TARGET_PROPERTY:ggml_public,INTERFACE_SYSTEM_INCLUDE_DIRECTORIES>)
target_link_libraries(scenario-host PRIVATE ${CMAKE_DL_LIBS})
set_target_properties(scenario-host PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
