// A gated layer before a quantised matrix product: normalise rows of 1024 by their root mean square, multiply with a gate that went
// through a sigmoid, quantise to 8 bits with the largest value of the row.
//
// slow: three kernels. Each is at the limit of the memory; two arrays of 32-bit floats go to DRAM and come back.
// fixed: one kernel. A warp keeps its row in registers from the norm to the quantised values.

__device__ __forceinline__ float sum(float v) {
#pragma unroll
    for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(~0u, v, o);
    return v;
}

__device__ __forceinline__ float largest(float v) {
#pragma unroll
    for (int o = 16; o; o >>= 1) v = fmaxf(v, __shfl_xor_sync(~0u, v, o));
    return v;
}

struct Row {
    float4 v[8];
    __device__ __forceinline__ void load(const float4* __restrict__ p, int lane) {
#pragma unroll
        for (int k = 0; k < 8; k++) v[k] = p[k * 32 + lane];
    }
    __device__ __forceinline__ void store(float4* __restrict__ p, int lane) const {
#pragma unroll
        for (int k = 0; k < 8; k++) p[k * 32 + lane] = v[k];
    }
    __device__ __forceinline__ void normalise() {
        float s = 0;
#pragma unroll
        for (int k = 0; k < 8; k++) s += v[k].x * v[k].x + v[k].y * v[k].y + v[k].z * v[k].z + v[k].w * v[k].w;
        s = rsqrtf(sum(s) * (1.f / 1024.f) + 1e-6f);
#pragma unroll
        for (int k = 0; k < 8; k++) v[k].x *= s, v[k].y *= s, v[k].z *= s, v[k].w *= s;
    }
    __device__ __forceinline__ void quantise(char4* __restrict__ p, float* __restrict__ scale, int lane) const {
        float m = 1e-12f;
#pragma unroll
        for (int k = 0; k < 8; k++) m = fmaxf(m, fmaxf(fmaxf(fabsf(v[k].x), fabsf(v[k].y)), fmaxf(fabsf(v[k].z), fabsf(v[k].w))));
        m = largest(m);
        float r = 127.f / m;
#pragma unroll
        for (int k = 0; k < 8; k++)
            p[k * 32 + lane] = make_char4((signed char)__float2int_rn(v[k].x * r), (signed char)__float2int_rn(v[k].y * r), (signed char)__float2int_rn(v[k].z * r), (signed char)__float2int_rn(v[k].w * r));
        if (lane == 0) *scale = m * (1.f / 127.f);
    }
};

__device__ __forceinline__ float gated(float x, float g) { return __fmul_rn(x, __fdividef(1.f, 1.f + __expf(-g))); }
__device__ __forceinline__ float4 gated(float4 x, float4 g) { return make_float4(gated(x.x, g.x), gated(x.y, g.y), gated(x.z, g.z), gated(x.w, g.w)); }

extern "C" __global__ void __launch_bounds__(128) gated_rows_slow(const float4* __restrict__ x, float4* __restrict__ y, int rows) {
    int row = blockIdx.x * 4 + threadIdx.y, lane = threadIdx.x;
    if (row >= rows) return;
    Row r;
    r.load(x + (size_t)row * 256, lane);
    r.normalise();
    r.store(y + (size_t)row * 256, lane);
}

extern "C" __global__ void __launch_bounds__(256) gated_rows_slow_gate(const float4* __restrict__ y, const float4* __restrict__ gate, float4* __restrict__ z, int n4) {
    for (int i = blockIdx.x * 512 + threadIdx.x, k = 0; k < 2; i += 256, k++)
        if (i < n4) z[i] = gated(y[i], gate[i]);
}

extern "C" __global__ void __launch_bounds__(128) gated_rows_slow_quantise(const float4* __restrict__ z, char4* __restrict__ q, float* __restrict__ scales, int rows) {
    int row = blockIdx.x * 4 + threadIdx.y, lane = threadIdx.x;
    if (row >= rows) return;
    Row r;
    r.load(z + (size_t)row * 256, lane);
    r.quantise(q + (size_t)row * 256, scales + row, lane);
}

extern "C" __global__ void __launch_bounds__(128) gated_rows_fixed(const float4* __restrict__ x, const float4* __restrict__ gate, char4* __restrict__ q, float* __restrict__ scales, int rows) {
    int row = blockIdx.x * 4 + threadIdx.y, lane = threadIdx.x;
    if (row >= rows) return;
    Row r, g;
    r.load(x + (size_t)row * 256, lane);
    g.load(gate + (size_t)row * 256, lane);
    r.normalise();
#pragma unroll
    for (int k = 0; k < 8; k++) r.v[k] = gated(r.v[k], g.v[k]);
    r.quantise(q + (size_t)row * 256, scales + row, lane);
}
