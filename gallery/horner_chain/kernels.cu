// Evaluates one polynomial of high degree at eight points a thread; few threads, one warp for each scheduler.
//
// slow: one point after the other. Each multiply-add needs the result of the one before it, so the pipe takes a new instruction
//       only every few cycles.
// fixed: the eight points side by side: eight independent chains, and each coefficient is fetched once for all of them.

#define DEGREE 8192
#define POINTS 8

__device__ __forceinline__ void stage(const float* __restrict__ coef, float* c) {
    for (int k = threadIdx.x; k < DEGREE; k += blockDim.x) c[k] = coef[k];
    __syncthreads();
}

extern "C" __global__ void __launch_bounds__(128) horner_chain_slow(const float* __restrict__ x, const float* __restrict__ coef, float* __restrict__ out) {
    __shared__ float c[DEGREE];
    stage(coef, c);
    int t = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
#pragma unroll 1
    for (int p = 0; p < POINTS; p++) {
        float u = x[p * threads + t], s = 0;
#pragma unroll 16
        for (int k = 0; k < DEGREE; k++) s = fmaf(s, u, c[k]);
        out[p * threads + t] = s;
    }
}

extern "C" __global__ void __launch_bounds__(128) horner_chain_fixed(const float* __restrict__ x, const float* __restrict__ coef, float* __restrict__ out) {
    __shared__ float c[DEGREE];
    stage(coef, c);
    int t = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    float u[POINTS], s[POINTS];
#pragma unroll
    for (int p = 0; p < POINTS; p++) {
        u[p] = x[p * threads + t];
        s[p] = 0;
    }
#pragma unroll 4
    for (int k = 0; k < DEGREE; k++)
#pragma unroll
        for (int p = 0; p < POINTS; p++) s[p] = fmaf(s[p], u[p], c[k]);
#pragma unroll
    for (int p = 0; p < POINTS; p++) out[p * threads + t] = s[p];
}
