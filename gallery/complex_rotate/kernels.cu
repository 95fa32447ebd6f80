// Multiplies complex numbers by the same factor again and again.
//
// slow: every product is rounded by itself and then added: four multiplies and two adds.
// fixed: two multiplies and two fused multiply-adds for the same complex product (and one rounding less).

extern "C" __global__ void __launch_bounds__(256) complex_rotate_slow(const float4* __restrict__ a, float4* __restrict__ out, float c, float s, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 z = a[i];
    for (int k = 0; k < steps; k++) {
        float x = __fsub_rn(__fmul_rn(z.x, c), __fmul_rn(z.y, s)), y = __fadd_rn(__fmul_rn(z.x, s), __fmul_rn(z.y, c));
        float u = __fsub_rn(__fmul_rn(z.z, c), __fmul_rn(z.w, s)), v = __fadd_rn(__fmul_rn(z.z, s), __fmul_rn(z.w, c));
        z = make_float4(x, y, u, v);
    }
    out[i] = z;
}

extern "C" __global__ void __launch_bounds__(256) complex_rotate_fixed(const float4* __restrict__ a, float4* __restrict__ out, float c, float s, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 z = a[i];
    for (int k = 0; k < steps; k++) {
        float x = fmaf(z.x, c, -z.y * s), y = fmaf(z.x, s, z.y * c);
        float u = fmaf(z.z, c, -z.w * s), v = fmaf(z.z, s, z.w * c);
        z = make_float4(x, y, u, v);
    }
    out[i] = z;
}
