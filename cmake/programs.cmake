# SPDX-License-Identifier: MIT
get_filename_component(ROCKFILL_LLAMA_LIB_DIR ${GGML_BASE_LIBRARY} DIRECTORY)

# rockfill_program(NAME sources...): a program in build/bin that finds llama.cpp's libraries where they were built from.
function(rockfill_program name)
    add_executable(${name} ${ARGN})
    target_link_libraries(${name} PRIVATE rockfill_bench)
    target_link_options(${name} PRIVATE -Wl,--allow-shlib-undefined)
    set_target_properties(${name} PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin BUILD_RPATH ${ROCKFILL_LLAMA_LIB_DIR})
endfunction()
