// Scale and shift, activation (SiLU), residual add.
//
// slow: three kernels in a row, each at the limit of the memory. Two intermediate arrays are written to DRAM and read back.
// fixed: one kernel; the intermediate values stay in registers.

__device__ __forceinline__ float silu(float x) { return __fdividef(x, 1.f + __expf(-x)); }

extern "C" __global__ void __launch_bounds__(256) elementwise_chain_slow(const float4* __restrict__ x, float4* __restrict__ out, int n4, float scale, float shift) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n4) return;
    float4 v = x[i];
    out[i] = make_float4(v.x * scale + shift, v.y * scale + shift, v.z * scale + shift, v.w * scale + shift);
}

extern "C" __global__ void __launch_bounds__(256) elementwise_chain_slow_silu(const float4* __restrict__ x, float4* __restrict__ out, int n4) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n4) return;
    float4 v = x[i];
    out[i] = make_float4(silu(v.x), silu(v.y), silu(v.z), silu(v.w));
}

extern "C" __global__ void __launch_bounds__(256) elementwise_chain_slow_add(const float4* __restrict__ x, const float4* __restrict__ residual, float4* __restrict__ out, int n4) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n4) return;
    float4 v = x[i], r = residual[i];
    out[i] = make_float4(v.x + r.x, v.y + r.y, v.z + r.z, v.w + r.w);
}

extern "C" __global__ void __launch_bounds__(256) elementwise_chain_fixed(const float4* __restrict__ x, const float4* __restrict__ residual, float4* __restrict__ out,
                                                                          int n4, float scale, float shift) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n4) return;
    float4 v = x[i], r = residual[i];
    out[i] = make_float4(silu(v.x * scale + shift) + r.x, silu(v.y * scale + shift) + r.y, silu(v.z * scale + shift) + r.z, silu(v.w * scale + shift) + r.w);
}
