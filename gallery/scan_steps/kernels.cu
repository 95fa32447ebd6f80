// Running sums within segments of 1024 floats, one block a segment.
//
// slow: ten doubling steps over the whole block with two barriers each. All 32 warps meet twenty times for a single add.
// fixed: shuffles within each warp, one exchange of the 32 warp sums: two barriers.

extern "C" __global__ void __launch_bounds__(1024) scan_steps_slow(const float* __restrict__ a, float* __restrict__ out) {
    __shared__ float s[1024];
    int t = threadIdx.x;
    size_t i = (size_t)blockIdx.x * 1024 + t;
    s[t] = a[i];
    __syncthreads();
    for (int d = 1; d < 1024; d *= 2) {
        float left = t >= d ? s[t - d] : 0.f;
        __syncthreads();
        s[t] += left;
        __syncthreads();
    }
    out[i] = s[t];
}

extern "C" __global__ void __launch_bounds__(1024) scan_steps_fixed(const float* __restrict__ a, float* __restrict__ out) {
    __shared__ float total[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    size_t i = (size_t)blockIdx.x * 1024 + threadIdx.x;
    float v = a[i];
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
        float left = __shfl_up_sync(~0u, v, d);
        if (lane >= d) v += left;
    }
    if (lane == 31) total[warp] = v;
    __syncthreads();
    if (warp == 0) {
        float w = total[lane], own = w;
#pragma unroll
        for (int d = 1; d < 32; d *= 2) {
            float left = __shfl_up_sync(~0u, w, d);
            if (lane >= d) w += left;
        }
        total[lane] = w - own;
    }
    __syncthreads();
    out[i] = v + total[warp];
}
