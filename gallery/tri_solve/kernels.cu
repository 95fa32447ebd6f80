// Products with a packed lower triangle: row i has i + 1 entries.
//
// slow: each block takes a run of neighbouring rows, so the last blocks have the long ones.
// fixed: rows are dealt to the blocks in turn.

__device__ __forceinline__ float row_sum(const float* __restrict__ a, const float* __restrict__ x, int i) {
    const float* r = a + (size_t)i * (i + 1) / 2;
    float s = 0.f;
    for (int j = threadIdx.x; j <= i; j += blockDim.x) s = fmaf(r[j], x[j], s);
#pragma unroll
    for (int o = 16; o; o >>= 1) s += __shfl_down_sync(~0u, s, o);
    return s;
}

__device__ __forceinline__ void row(const float* a, const float* x, float* y, int i) {
    __shared__ float part[6];
    float s = row_sum(a, x, i);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
    __syncthreads();
    if (threadIdx.x == 0) y[i] = part[0] + part[1] + part[2] + part[3] + part[4] + part[5];
    __syncthreads();
}

extern "C" __global__ void __launch_bounds__(192) tri_solve_slow(const float* __restrict__ a, const float* __restrict__ x, float* y, int n) {
    int rows = n / gridDim.x;
    for (int k = 0; k < rows; k++) row(a, x, y, blockIdx.x * rows + k);
}

extern "C" __global__ void __launch_bounds__(192) tri_solve_fixed(const float* __restrict__ a, const float* __restrict__ x, float* y, int n) {
    for (int i = blockIdx.x; i < n; i += gridDim.x) row(a, x, y, i);
}
