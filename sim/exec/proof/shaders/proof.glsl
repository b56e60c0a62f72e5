// SPDX-License-Identifier: MIT
// What the shaders of this folder share: input words a[], WORDS results a thread in r[], the workgroup's size as
// specialisation constants 0 to 2.
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_scalar_block_layout : require

layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(set = 0, binding = 0, scalar) readonly buffer Input {
    uint a[];
};
layout(set = 0, binding = 1, scalar) buffer Output {
    uint r[];
};

const uint GROUP_SIZE = gl_WorkGroupSize.x * gl_WorkGroupSize.y * gl_WorkGroupSize.z;

uint group_index() {
    return (gl_WorkGroupID.z * gl_NumWorkGroups.y + gl_WorkGroupID.y) * gl_NumWorkGroups.x + gl_WorkGroupID.x;
}

// Of the thread, over all workgroups.
uint thread() {
    return group_index() * GROUP_SIZE + gl_LocalInvocationIndex;
}

void put(uint word, uint value) {
    r[thread() * WORDS + word] = value;
}
