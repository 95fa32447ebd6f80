// Haar wavelet transform of segments of 1024 samples, in place in shared memory, one warp a segment.
//
// slow: at level l the warp touches every 2^l-th word. The strides are powers of two, so the lanes fall into fewer and fewer banks:
//       2-way conflicts at the first level, 32-way at the fifth.
// fixed: one word of padding after every 32 spreads each of these strides over all banks.

#define SEGMENT 1024

template <int PAD>
__device__ __forceinline__ int slot(int i) { return PAD ? i + (i >> 5) : i; }

template <int PAD>
__device__ __forceinline__ void haar(const float* __restrict__ in, float* __restrict__ out, int levels, float* s) {
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    s += warp * (SEGMENT + PAD * SEGMENT / 32);
    size_t base = ((size_t)blockIdx.x * (blockDim.x / 32) + warp) * SEGMENT;
#pragma unroll 8
    for (int k = lane; k < SEGMENT; k += 32) s[slot<PAD>(k)] = in[base + k];
    __syncwarp();
    for (int l = 0; l < levels; l++) {
        int stride = 1 << l;
        for (int p = lane; p < SEGMENT / 2 / stride; p += 32) {
            int i = 2 * stride * p;
            float a = s[slot<PAD>(i)], b = s[slot<PAD>(i + stride)];
            s[slot<PAD>(i)] = (a + b) * 0.70710678f;
            s[slot<PAD>(i + stride)] = (a - b) * 0.70710678f;
        }
        __syncwarp();
    }
#pragma unroll 8
    for (int k = lane; k < SEGMENT; k += 32) out[base + k] = s[slot<PAD>(k)];
}

extern "C" __global__ void __launch_bounds__(128) haar_inplace_slow(const float* __restrict__ in, float* __restrict__ out, int levels) {
    __shared__ float s[4 * SEGMENT];
    haar<0>(in, out, levels, s);
}

extern "C" __global__ void __launch_bounds__(128) haar_inplace_fixed(const float* __restrict__ in, float* __restrict__ out, int levels) {
    __shared__ float s[4 * (SEGMENT + SEGMENT / 32)];
    haar<1>(in, out, levels, s);
}
