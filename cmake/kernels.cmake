# SPDX-License-Identifier: MIT
# Compiles the kernels to SPIR-V arrays: ROCKFILL_SPIRV (headers), ROCKFILL_SPIRV_DIR.
find_program(GLSLANG glslangValidator REQUIRED)
set(ROCKFILL_SPIRV_DIR ${CMAKE_BINARY_DIR}/spirv)
file(MAKE_DIRECTORY ${ROCKFILL_SPIRV_DIR})

# rockfill_kernel(NAME SOURCE [defines...])
function(rockfill_kernel name source)
    set(output ${ROCKFILL_SPIRV_DIR}/${name}.spv.h)
    add_custom_command(OUTPUT ${output}
        COMMAND ${GLSLANG} --quiet -V --target-env vulkan1.1 ${ARGN} --vn ${name}_spv
                --depfile ${output}.d -o ${output} ${CMAKE_SOURCE_DIR}/shaders/${source}
        DEPENDS ${CMAKE_SOURCE_DIR}/shaders/${source}
        DEPFILE ${output}.d
        COMMENT "kernel ${name}"
        VERBATIM)
    set(ROCKFILL_SPIRV ${ROCKFILL_SPIRV} ${output} PARENT_SCOPE)
endfunction()

rockfill_kernel(tile_int8 tile.comp -DRF_PATH=0)
rockfill_kernel(tile_fp16 tile.comp -DRF_PATH=1)
rockfill_kernel(tile_fp32 tile.comp -DRF_PATH=2)
foreach(kernel columns selftest unpack_float unpack_q4_0 unpack_q4_1 unpack_q5_0 unpack_q5_1 unpack_q8_0 unpack_q2_K
        unpack_q3_K unpack_q4_K unpack_q5_K unpack_q6_K unpack_iq4_nl unpack_iq4_xs unpack_mxfp4)
    rockfill_kernel(${kernel} ${kernel}.comp)
endforeach()
