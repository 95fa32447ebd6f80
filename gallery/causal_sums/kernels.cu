// Query i adds up a compact kernel over all keys that are not later than it: the work grows with i (a causal mask).
//
// slow: block b takes a contiguous chunk of queries. The last block has twice the average work, the first next to none;
//       the SMs of the early chunks go idle while the late ones run on.
// fixed: each block takes one half chunk from the front and its mirror image from the back, so all blocks have equal work.

__device__ __forceinline__ float weight(float x, float y) {
    float d = x - y;
    return fmaxf(1.f - d * d, 0.f);
}

__device__ __forceinline__ void query(const float* __restrict__ x, const float4* __restrict__ y, float* __restrict__ out, int i) {
    float q = x[i], s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    int keys4 = i / 16;
#pragma unroll 4
    for (int j = 0; j < keys4; j++) {
        float4 k = y[j];
        s0 += weight(q, k.x);
        s1 += weight(q, k.y);
        s2 += weight(q, k.z);
        s3 += weight(q, k.w);
    }
    out[i] = (s0 + s1) + (s2 + s3);
}

extern "C" __global__ void __launch_bounds__(1024) causal_sums_slow(const float* __restrict__ x, const float4* __restrict__ y, float* __restrict__ out) {
    query(x, y, out, blockIdx.x * 1024 + threadIdx.x);
}

extern "C" __global__ void __launch_bounds__(1024) causal_sums_fixed(const float* __restrict__ x, const float4* __restrict__ y, float* __restrict__ out) {
    int chunk = threadIdx.x < 512 ? blockIdx.x : 2 * gridDim.x - 1 - blockIdx.x;
    query(x, y, out, chunk * 512 + threadIdx.x % 512);
}
