// SPDX-License-Identifier: MIT
// Thread 37 goes through an address with nothing behind it (STORE: to write there; ODD: not aligned, but mapped).
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_scalar_block_layout : require

layout(local_size_x = 64) in;
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Words {
    uint v;
};
layout(push_constant, scalar) uniform Push {
    uint64_t mapped;
};
layout(set = 0, binding = 1, scalar) buffer Output {
    uint r[];
};

void main() {
    uint t = gl_GlobalInvocationID.x;
#ifdef ODD
    uint64_t wrong = mapped + 2;
#else
    uint64_t wrong = 0x7f0000001000ul;
#endif
    Words words = Words(t == 37 ? wrong : mapped + 4 * t);
#ifdef STORE
    words.v = t;
#endif
    r[t] = words.v;
}
