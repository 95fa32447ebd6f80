// Minimum, maximum, mean and variance of long rows.
//
// slow: one pass over the row for each quantity. A row of 1 MiB and all rows that are in work at the same time are far
//       larger than the L2 cache, so each pass fetches the row from DRAM again: three times the compulsory bytes.
// fixed: one pass. The variance comes from sums around a pivot (the first element), which keeps the cancellation small.

template <class F>
__device__ float block_reduce(float v, F f) {
    __shared__ float part[32];
    for (int o = 16; o; o >>= 1) v = f(v, __shfl_xor_sync(~0u, v, o));
    __syncthreads();
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    v = part[0];
    for (int w = 1; w < blockDim.x / 32; w++) v = f(v, part[w]);
    return v;
}

struct Add { __device__ float operator()(float a, float b) const { return a + b; } };
struct Min { __device__ float operator()(float a, float b) const { return fminf(a, b); } };
struct Max { __device__ float operator()(float a, float b) const { return fmaxf(a, b); } };

extern "C" __global__ void __launch_bounds__(512) row_stats_slow(const float4* __restrict__ a, float4* __restrict__ out, int cols4) {
    const float4* row = a + (size_t)blockIdx.x * cols4;
    float lo = 3e38f, hi = -3e38f;
#pragma unroll 4
    for (int i = threadIdx.x; i < cols4; i += blockDim.x) {
        float4 v = row[i];
        lo = fminf(fminf(lo, fminf(v.x, v.y)), fminf(v.z, v.w));
        hi = fmaxf(fmaxf(hi, fmaxf(v.x, v.y)), fmaxf(v.z, v.w));
    }
    lo = block_reduce(lo, Min());
    hi = block_reduce(hi, Max());

    float sum = 0;
#pragma unroll 4
    for (int i = threadIdx.x; i < cols4; i += blockDim.x) {
        float4 v = row[i];
        sum += (v.x + v.y) + (v.z + v.w);
    }
    float mean = block_reduce(sum, Add()) / (4.f * cols4);

    float square = 0;
#pragma unroll 4
    for (int i = threadIdx.x; i < cols4; i += blockDim.x) {
        float4 v = row[i];
        float x = v.x - mean, y = v.y - mean, z = v.z - mean, w = v.w - mean;
        square += (x * x + y * y) + (z * z + w * w);
    }
    float variance = block_reduce(square, Add()) / (4.f * cols4);
    if (threadIdx.x == 0) out[blockIdx.x] = make_float4(lo, hi, mean, variance);
}

extern "C" __global__ void __launch_bounds__(512) row_stats_fixed(const float4* __restrict__ a, float4* __restrict__ out, int cols4) {
    const float4* row = a + (size_t)blockIdx.x * cols4;
    float pivot = row[0].x;
    float lo = 3e38f, hi = -3e38f, sum = 0, square = 0;
#pragma unroll 4
    for (int i = threadIdx.x; i < cols4; i += blockDim.x) {
        float4 v = row[i];
        lo = fminf(fminf(lo, fminf(v.x, v.y)), fminf(v.z, v.w));
        hi = fmaxf(fmaxf(hi, fmaxf(v.x, v.y)), fmaxf(v.z, v.w));
        float x = v.x - pivot, y = v.y - pivot, z = v.z - pivot, w = v.w - pivot;
        sum += (x + y) + (z + w);
        square += (x * x + y * y) + (z * z + w * w);
    }
    lo = block_reduce(lo, Min());
    hi = block_reduce(hi, Max());
    float shift = block_reduce(sum, Add()) / (4.f * cols4);
    float variance = block_reduce(square, Add()) / (4.f * cols4) - shift * shift;
    if (threadIdx.x == 0) out[blockIdx.x] = make_float4(lo, hi, pivot + shift, variance);
}
