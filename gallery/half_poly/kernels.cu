// Iterates x = x * p + q on 16-bit floats.
//
// slow: one value a thread. The 16-bit pipe works on pairs, so half of each instruction is wasted. (With several independent values
//       in one thread the compiler may find the pairs by itself.)
// fixed: two neighbouring values packed in a __half2: half the instructions, the same rounding, the same results.
#include <cuda_fp16.h>

extern "C" __global__ void __launch_bounds__(256) half_poly_slow(const __half* __restrict__ a, __half* __restrict__ out, float p, float q, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __half hp = __float2half(p), hq = __float2half(q), x = a[i];
#pragma unroll 16
    for (int k = 0; k < steps; k++) x = __hfma(x, hp, hq);
    out[i] = x;
}

extern "C" __global__ void __launch_bounds__(256) half_poly_fixed(const __half2* __restrict__ a, __half2* __restrict__ out, float p, float q, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __half2 hp = __float2half2_rn(p), hq = __float2half2_rn(q), x = a[i];
#pragma unroll 16
    for (int k = 0; k < steps; k++) x = __hfma2(x, hp, hq);
    out[i] = x;
}
