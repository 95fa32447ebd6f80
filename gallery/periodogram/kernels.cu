// Sums of a Lomb-Scargle periodogram: for each trial frequency the cosine and sine sums of an irregularly sampled light curve.
//
// slow: a block of 192 threads for each frequency. There are 48 frequencies: most SMs get no block, the others hold six warps.
// fixed: the observations of a frequency are shared out among many blocks, which add their parts at the end.

__device__ __forceinline__ float block_sum(float v, float* part) {
#pragma unroll
    for (int d = 16; d; d /= 2) v += __shfl_down_sync(~0u, v, d);
    __syncthreads();
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    float s = 0;
    if (threadIdx.x == 0)
        for (int w = 0; w < (int)blockDim.x / 32; w++) s += part[w];
    return s;
}

__device__ __forceinline__ void accumulate(const float2* __restrict__ obs, int first, int step, int n, float omega, float& c, float& s) {
    for (int i = first; i < n; i += step) {
        float2 o = obs[i];
        float si, co;
        __sincosf(omega * o.x, &si, &co);
        c = fmaf(o.y, co, c);
        s = fmaf(o.y, si, s);
    }
}

extern "C" __global__ void __launch_bounds__(192) periodogram_slow(const float2* __restrict__ obs, float* __restrict__ sums, int n, float f0, float df) {
    __shared__ float part[6];
    float omega = 6.2831853f * (f0 + df * blockIdx.x), c = 0, s = 0;
    accumulate(obs, threadIdx.x, 192, n, omega, c, s);
    c = block_sum(c, part);
    s = block_sum(s, part);
    if (threadIdx.x == 0) sums[2 * blockIdx.x] = c, sums[2 * blockIdx.x + 1] = s;
}

extern "C" __global__ void __launch_bounds__(192) periodogram_fixed(const float2* __restrict__ obs, float* __restrict__ sums, int n, float f0, float df) {
    __shared__ float part[6];
    float omega = 6.2831853f * (f0 + df * blockIdx.x), c = 0, s = 0;
    accumulate(obs, blockIdx.y * 192 + threadIdx.x, 192 * gridDim.y, n, omega, c, s);
    c = block_sum(c, part);
    s = block_sum(s, part);
    if (threadIdx.x == 0) {
        atomicAdd(&sums[2 * blockIdx.x], c);
        atomicAdd(&sums[2 * blockIdx.x + 1], s);
    }
}
