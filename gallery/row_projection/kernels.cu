// Kaczmarz iterations: each system has its own right-hand side and projects its vector of 512 numbers onto one equation after the other.
//
// slow: a block a system, one number a thread. The dot product of each step is summed up by a tree in shared memory: nine levels with a
//       barrier each, two more barriers around them.
// fixed: a warp a system, sixteen numbers a thread: sums in registers and five shuffles, no barrier.

constexpr int N = 512;

__device__ __forceinline__ float tree(float v) {
    __shared__ float s[N];
    int t = threadIdx.x;
    s[t] = v;
    __syncthreads();
    for (int h = N / 2; h > 0; h /= 2) {
        if (t < h) s[t] += s[t + h];
        __syncthreads();
    }
    float r = s[0];
    __syncthreads();
    return r;
}

extern "C" __global__ void __launch_bounds__(N) row_projection_slow(const float* __restrict__ rows, const float* __restrict__ right, float* __restrict__ out, int equations,
                                                                    int sweeps, float relax) {
    int t = threadIdx.x;
    float x = 0;
    const float* b = right + (size_t)blockIdx.x * equations;
    for (int sweep = 0; sweep < sweeps; sweep++) {
        float next = rows[t];
        for (int e = 0; e < equations; e++) {
            float a = next;
            if (e + 1 < equations) next = rows[(e + 1) * N + t];
            x += relax * (b[e] - tree(a * x)) * a;
        }
    }
    out[(size_t)blockIdx.x * N + t] = x;
}

__device__ __forceinline__ float dot(float4 a, float4 b) { return a.x * b.x + a.y * b.y + (a.z * b.z + a.w * b.w); }
__device__ __forceinline__ void add(float4& x, float c, float4 a) {
    x.x += c * a.x;
    x.y += c * a.y;
    x.z += c * a.z;
    x.w += c * a.w;
}

extern "C" __global__ void __launch_bounds__(128) row_projection_fixed(const float4* __restrict__ rows, const float* __restrict__ right, float4* __restrict__ out, int equations,
                                                                       int sweeps, float relax) {
    int lane = threadIdx.x % 32, system = blockIdx.x * 4 + threadIdx.x / 32;
    float4 x[4] = {}, next[4];
    const float* b = right + (size_t)system * equations;
    for (int sweep = 0; sweep < sweeps; sweep++) {
#pragma unroll
        for (int k = 0; k < 4; k++) next[k] = rows[32 * k + lane];
        for (int e = 0; e < equations; e++) {
            float4 a[4];
            float s = 0;
#pragma unroll
            for (int k = 0; k < 4; k++) a[k] = next[k], s += dot(a[k], x[k]);
            if (e + 1 < equations)
#pragma unroll
                for (int k = 0; k < 4; k++) next[k] = rows[(e + 1) * (N / 4) + 32 * k + lane];
#pragma unroll
            for (int o = 16; o; o /= 2) s += __shfl_xor_sync(~0u, s, o);
            float c = relax * (b[e] - s);
#pragma unroll
            for (int k = 0; k < 4; k++) add(x[k], c, a[k]);
        }
    }
#pragma unroll
    for (int k = 0; k < 4; k++) out[(size_t)system * (N / 4) + 32 * k + lane] = x[k];
}
