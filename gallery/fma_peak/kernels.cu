// Iterates a linear map on eight independent values a thread: nothing to mend. The FMA pipes take an instruction in nearly every
// cycle; only fewer operations would make it faster.

#define CHAINS 8

extern "C" __global__ void __launch_bounds__(256) fma_peak_slow(const float* __restrict__ a, float* __restrict__ out, float p, float q, int steps) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    float x[CHAINS];
#pragma unroll
    for (int c = 0; c < CHAINS; c++) x[c] = a[c * threads + t];
#pragma unroll 16
    for (int k = 0; k < steps; k++)
#pragma unroll
        for (int c = 0; c < CHAINS; c++) x[c] = fmaf(x[c], p, q);
#pragma unroll
    for (int c = 0; c < CHAINS; c++) out[c * threads + t] = x[c];
}
