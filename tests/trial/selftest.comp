// SPDX-License-Identifier: MIT
//
// What the self-test dispatches: y[i] = 2 * x[i] + 1, or with DOT the signed packed dot product of x[i] and `weights`
// plus 7. glslang 12 has no extension for the product; the instruction is named by its number (OpSDotAccSat).
#version 450
#ifdef DOT
#extension GL_EXT_spirv_intrinsics : require
spirv_instruction(extensions = ["SPV_KHR_integer_dot_product"], capabilities = [6018, 6019], id = 4453)
int dot_acc_sat(int a, int b, int acc, spirv_literal int packed_4x8);
#endif

layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer Input { int x[]; };
layout(binding = 1) writeonly buffer Output { int y[]; };
layout(push_constant) uniform Push { uint count; int weights; };

void main() {
    const uint i = gl_GlobalInvocationID.x;
    if (i < count) {
#ifdef DOT
        y[i] = dot_acc_sat(x[i], weights, 7, 0);
#else
        y[i] = 2 * x[i] + 1;
#endif
    }
}
