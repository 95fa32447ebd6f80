// FitzHugh-Nagumo membranes in half precision: each cell has a potential u, a recovery w and its own stimulus, 96 Euler steps.
//
// slow: one cell a thread. Each 16-bit instruction does one value although the pipe works on two, and the steps depend on each other,
//       so the compiler finds no pairs.
// fixed: two neighbouring cells a thread in __half2: half the instructions, the same rounding.
#include <cuda_fp16.h>

__device__ __forceinline__ void euler(__half& u, __half& w, __half current, __half dt, __half third, __half rate, __half a, __half b) {
    __half c = __hfma(__hmul(u, u), third, __float2half_rn(1.f));
    __half d = __hfma(u, c, __hsub_rn(current, w));
    u = __hfma(dt, d, u);
    u = __hmin(__hmax(u, __float2half_rn(-2.5f)), __float2half_rn(2.5f));
    __half e = __hfma(w, b, __hadd_rn(u, a));
    w = __hfma(rate, e, w);
}

__device__ __forceinline__ void euler(__half2& u, __half2& w, __half2 current, __half2 dt, __half2 third, __half2 rate, __half2 a, __half2 b) {
    __half2 c = __hfma2(__hmul2(u, u), third, __float2half2_rn(1.f));
    __half2 d = __hfma2(u, c, __hsub2_rn(current, w));
    u = __hfma2(dt, d, u);
    u = __hmin2(__hmax2(u, __float2half2_rn(-2.5f)), __float2half2_rn(2.5f));
    __half2 e = __hfma2(w, b, __hadd2_rn(u, a));
    w = __hfma2(rate, e, w);
}

extern "C" __global__ void __launch_bounds__(192) fitzhugh_slow(const __half* __restrict__ u0, const __half* __restrict__ w0, const __half* __restrict__ stimulus,
                                                               __half* __restrict__ u1, __half* __restrict__ w1, int cells, int steps, float dt, float rate, float a, float b) {
    int i = blockIdx.x * 192 + threadIdx.x;
    if (i >= cells) return;
    __half u = u0[i], w = w0[i], s = stimulus[i];
    __half hdt = __float2half(dt), third = __float2half(-1.f / 3.f), hr = __float2half(rate), ha = __float2half(a), hb = __float2half(-b);
#pragma unroll 4
    for (int t = 0; t < steps; t++) euler(u, w, s, hdt, third, hr, ha, hb);
    u1[i] = u;
    w1[i] = w;
}

extern "C" __global__ void __launch_bounds__(192) fitzhugh_fixed(const __half2* __restrict__ u0, const __half2* __restrict__ w0, const __half2* __restrict__ stimulus,
                                                                __half2* __restrict__ u1, __half2* __restrict__ w1, int pairs, int steps, float dt, float rate, float a, float b) {
    int i = blockIdx.x * 192 + threadIdx.x;
    if (i >= pairs) return;
    __half2 u = u0[i], w = w0[i], s = stimulus[i];
    __half2 hdt = __float2half2_rn(dt), third = __float2half2_rn(-1.f / 3.f), hr = __float2half2_rn(rate), ha = __float2half2_rn(a), hb = __float2half2_rn(-b);
#pragma unroll 4
    for (int t = 0; t < steps; t++) euler(u, w, s, hdt, third, hr, ha, hb);
    u1[i] = u;
    w1[i] = w;
}
