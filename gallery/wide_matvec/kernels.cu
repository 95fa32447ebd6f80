// Product of a matrix with few, very long rows and a vector.
//
// slow: one block a row. There are sixteen rows, so sixteen of all SMs work, and the rest of the device has nothing to do.
// fixed: each row is split over 66 blocks, which add their parts to the result.

__device__ __forceinline__ float part(const float4* __restrict__ row, const float4* __restrict__ x, int begin, int end) {
    float s = 0;
#pragma unroll 4
    for (int i = begin + threadIdx.x; i < end; i += blockDim.x) {
        float4 a = row[i], b = x[i];
        s += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    }
    __shared__ float warp_sum[32];
#pragma unroll
    for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
    if (threadIdx.x % 32 == 0) warp_sum[threadIdx.x / 32] = s;
    __syncthreads();
    s = 0;
    if (threadIdx.x == 0)
        for (int w = 0; w < blockDim.x / 32; w++) s += warp_sum[w];
    return s;
}

extern "C" __global__ void __launch_bounds__(512) wide_matvec_slow(const float4* __restrict__ A, const float4* __restrict__ x, float* __restrict__ y, int cols4) {
    float s = part(A + (size_t)blockIdx.x * cols4, x, 0, cols4);
    if (threadIdx.x == 0) y[blockIdx.x] += s;
}

extern "C" __global__ void __launch_bounds__(512) wide_matvec_fixed(const float4* __restrict__ A, const float4* __restrict__ x, float* __restrict__ y, int cols4) {
    int slice = (cols4 + gridDim.x - 1) / gridDim.x, begin = blockIdx.x * slice, end = min(begin + slice, cols4);
    float s = part(A + (size_t)blockIdx.y * cols4, x, begin, end);
    if (threadIdx.x == 0) atomicAdd(&y[blockIdx.y], s);
}
