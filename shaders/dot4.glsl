// SPDX-License-Identifier: MIT
// The four-way signed byte dot product with accumulation, which glslang of Debian 12 cannot name: SPIR-V's OpSDotAccSat
// (4453) on packed 32-bit words (capabilities DotProduct 6019 and DotProductInput4x8BitPacked 6018, packed format 0).
#extension GL_EXT_spirv_intrinsics : require

spirv_instruction(extensions = ["SPV_KHR_integer_dot_product"], capabilities = [6019, 6018], id = 4453)
int rf_sdot_acc_sat(uint a, uint b, int sum, spirv_literal int format);

int rf_dot4(uint a, uint b, int sum) {
    return rf_sdot_acc_sat(a, b, sum, 0);
}
