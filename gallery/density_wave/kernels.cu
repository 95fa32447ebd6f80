// Kernel density estimate: each target adds up a compact kernel over all sources.
//
// slow: a block of 1024 targets stages all sources, 120 KiB, in shared memory, so one block fits on an SM. With a few more blocks
//       than SMs the second wave is nearly empty: most SMs wait for the few that have a second block.
// fixed: blocks of 128 targets with a small tile of sources. The same work in eight times as many pieces spreads evenly.

__device__ __forceinline__ float weight(float x, float y) {
    float d = x - y;
    return fmaxf(1.f - d * d, 0.f);
}

__device__ __forceinline__ void add(float4& s, float x, float4 y) {
    s.x += weight(x, y.x);
    s.y += weight(x, y.y);
    s.z += weight(x, y.z);
    s.w += weight(x, y.w);
}

extern __shared__ float4 staged[];

extern "C" __global__ void __launch_bounds__(1024) density_wave_slow(const float* __restrict__ target, const float4* __restrict__ source, float* __restrict__ out, int sources4) {
    for (int j = threadIdx.x; j < sources4; j += 1024) staged[j] = source[j];
    __syncthreads();
    int i = blockIdx.x * 1024 + threadIdx.x;
    float x = target[i];
    float4 s = make_float4(0, 0, 0, 0);
#pragma unroll 4
    for (int j = 0; j < sources4; j++) add(s, x, staged[j]);
    out[i] = (s.x + s.y) + (s.z + s.w);
}

extern "C" __global__ void __launch_bounds__(128) density_wave_fixed(const float* __restrict__ target, const float4* __restrict__ source, float* __restrict__ out, int sources4) {
    __shared__ float4 tile[512];
    int i = blockIdx.x * 128 + threadIdx.x;
    float x = target[i];
    float4 s = make_float4(0, 0, 0, 0);
    for (int j0 = 0; j0 < sources4; j0 += 512) {
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 4; k++) tile[k * 128 + threadIdx.x] = source[j0 + k * 128 + threadIdx.x];
        __syncthreads();
#pragma unroll 4
        for (int j = 0; j < 512; j++) add(s, x, tile[j]);
    }
    out[i] = (s.x + s.y) + (s.z + s.w);
}
