// Sparsemax of rows of 49152 logits: out = max(x - tau, 0) with tau such that a row of the result adds up to one. tau lies between
// max - 1 and max and is found by bisection.
//
// slow: the maximum, eight steps of the bisection and the result each read the row from memory. Blocks that run at the same time hold
//       100 MB of rows; L2 keeps little of them from one pass to the next.
// fixed: a block of 1024 threads holds the row in registers, 48 values a thread: one read, one write.

constexpr int WIDTH = 49152, HALVINGS = 8;

struct Max {
    static __device__ __forceinline__ float of(float a, float b) { return fmaxf(a, b); }
};
struct Sum {
    static __device__ __forceinline__ float of(float a, float b) { return a + b; }
};

template <class Op, int THREADS>
__device__ __forceinline__ float block_reduce(float v) {
    __shared__ float part[THREADS / 32];
#pragma unroll
    for (int o = 16; o; o >>= 1) v = Op::of(v, __shfl_xor_sync(~0u, v, o));
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    v = part[threadIdx.x % (THREADS / 32)];
#pragma unroll
    for (int o = THREADS / 64; o; o >>= 1) v = Op::of(v, __shfl_xor_sync(~0u, v, o));
    __syncthreads();
    return v;
}

__device__ __forceinline__ float largest(float m, float4 v) { return fmaxf(fmaxf(m, fmaxf(v.x, v.y)), fmaxf(v.z, v.w)); }
__device__ __forceinline__ float4 above(float4 v, float t) { return make_float4(fmaxf(v.x - t, 0.f), fmaxf(v.y - t, 0.f), fmaxf(v.z - t, 0.f), fmaxf(v.w - t, 0.f)); }
__device__ __forceinline__ float total(float4 v) { return (v.x + v.y) + (v.z + v.w); }

extern "C" __global__ void __launch_bounds__(512) sparsemax_rows_slow(const float4* __restrict__ logits, float4* __restrict__ out) {
    const float4* x = logits + (size_t)blockIdx.x * (WIDTH / 4);
    float4* to = out + (size_t)blockIdx.x * (WIDTH / 4);
    float m = -1e30f;
#pragma unroll 8
    for (int i = threadIdx.x; i < WIDTH / 4; i += 512) m = largest(m, x[i]);
    m = block_reduce<Max, 512>(m);
    float low = m - 1.f, high = m;
#pragma unroll 1
    for (int k = 0; k < HALVINGS; k++) {
        float t = 0.5f * (low + high), s = 0.f;
#pragma unroll 8
        for (int i = threadIdx.x; i < WIDTH / 4; i += 512) s += total(above(x[i], t));
        s = block_reduce<Sum, 512>(s);
        if (s > 1.f) low = t;
        else high = t;
    }
    float tau = 0.5f * (low + high);
#pragma unroll 8
    for (int i = threadIdx.x; i < WIDTH / 4; i += 512) to[i] = above(x[i], tau);
}

extern "C" __global__ void __launch_bounds__(1024) sparsemax_rows_fixed(const float4* __restrict__ logits, float4* __restrict__ out) {
    const float4* x = logits + (size_t)blockIdx.x * (WIDTH / 4) + threadIdx.x;
    float4* to = out + (size_t)blockIdx.x * (WIDTH / 4) + threadIdx.x;
    float4 row[WIDTH / 4096];
    float m = -1e30f;
#pragma unroll
    for (int k = 0; k < WIDTH / 4096; k++) row[k] = x[k * 1024];
#pragma unroll
    for (int k = 0; k < WIDTH / 4096; k++) m = largest(m, row[k]);
    m = block_reduce<Max, 1024>(m);
    float low = m - 1.f, high = m;
#pragma unroll 1
    for (int k = 0; k < HALVINGS; k++) {
        float t = 0.5f * (low + high), s = 0.f;
#pragma unroll
        for (int k = 0; k < WIDTH / 4096; k++) s += total(above(row[k], t));
        s = block_reduce<Sum, 1024>(s);
        if (s > 1.f) low = t;
        else high = t;
    }
    float tau = 0.5f * (low + high);
#pragma unroll
    for (int k = 0; k < WIDTH / 4096; k++) to[k * 1024] = above(row[k], tau);
}
