# SPDX-License-Identifier: MIT
# llama.cpp's headers and libraries: targets ggml_public (ggml-base, ggml), ggml_private (ggml-base and the plug-in
# interface), llama_public; variable ROCKFILL_GGML_VERSION.
#
# Two layouts are understood: deps/setup.sh's (include/, include/private/, lib/) and a llama.cpp source folder with its
# libraries somewhere under build/.
set(hints ${ROCKFILL_LLAMA_DIR})
find_path(GGML_INCLUDE ggml-backend.h PATHS ${hints} PATH_SUFFIXES include ggml/include NO_DEFAULT_PATH)
find_path(GGML_PRIVATE_INCLUDE ggml-backend-impl.h PATHS ${hints} PATH_SUFFIXES include/private ggml/src NO_DEFAULT_PATH)
find_path(LLAMA_INCLUDE llama.h PATHS ${hints} PATH_SUFFIXES include NO_DEFAULT_PATH)
foreach(library ggml-base ggml llama)
    string(TOUPPER ${library} upper)
    string(REPLACE "-" "_" upper ${upper})
    find_library(${upper}_LIBRARY ${library} PATHS ${hints}
        PATH_SUFFIXES lib build/bin build/ggml/src build/src NO_DEFAULT_PATH)
endforeach()
if(NOT GGML_INCLUDE OR NOT GGML_PRIVATE_INCLUDE OR NOT GGML_BASE_LIBRARY)
    message(FATAL_ERROR "No llama.cpp in ${ROCKFILL_LLAMA_DIR}: run deps/setup.sh --llama, "
        "or give -DROCKFILL_LLAMA_DIR=<a llama.cpp source folder, built as shared libraries in its build/>")
endif()

function(rockfill_imported name)
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE ${ARGN})
endfunction()
rockfill_imported(ggml_private ${GGML_BASE_LIBRARY})
target_include_directories(ggml_private SYSTEM INTERFACE ${GGML_INCLUDE} ${GGML_PRIVATE_INCLUDE})
if(GGML_LIBRARY AND LLAMA_LIBRARY AND LLAMA_INCLUDE)
    rockfill_imported(ggml_public ${GGML_LIBRARY} ${GGML_BASE_LIBRARY})
    target_include_directories(ggml_public SYSTEM INTERFACE ${GGML_INCLUDE})
    rockfill_imported(llama_public ${LLAMA_LIBRARY} ggml_public)
    target_include_directories(llama_public SYSTEM INTERFACE ${LLAMA_INCLUDE})
elseif(ROCKFILL_PROGRAMS)
    message(FATAL_ERROR "No libllama or libggml in ${ROCKFILL_LLAMA_DIR}; -DROCKFILL_PROGRAMS=OFF builds the plug-in alone")
endif()

# The headers do not say which release they are of; the library does. Cross builds give the version.
set(ROCKFILL_GGML_VERSION "" CACHE STRING "ggml_version() of the host, for cross builds")
if(NOT ROCKFILL_GGML_VERSION)
    file(WRITE ${CMAKE_BINARY_DIR}/ggml_version.c
        "#include <stdio.h>\n#include <ggml.h>\nint main(void) { return puts(ggml_version()) < 0; }\n")
    get_filename_component(library_dir ${GGML_BASE_LIBRARY} DIRECTORY)
    set(options -Wl,-rpath,${library_dir})
    try_run(ran compiled ${CMAKE_BINARY_DIR}/ggml_version ${CMAKE_BINARY_DIR}/ggml_version.c
        CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${GGML_INCLUDE}" LINK_OPTIONS ${options} LINK_LIBRARIES ${GGML_BASE_LIBRARY}
        RUN_OUTPUT_VARIABLE version COMPILE_OUTPUT_VARIABLE log)
    if(NOT compiled OR NOT ran EQUAL 0)
        message(FATAL_ERROR "Could not ask ${GGML_BASE_LIBRARY} for its version:\n${log}")
    endif()
    string(STRIP "${version}" version)
    set(ROCKFILL_GGML_VERSION ${version} CACHE STRING "ggml_version() of the host, for cross builds" FORCE)
endif()
message(STATUS "rockfill for ggml ${ROCKFILL_GGML_VERSION}, ${GGML_BASE_LIBRARY}")
