// Adds up chunks of 256 consecutive floats.
//
// slow: one thread a chunk, as one would write it for a CPU. In each step the lanes of a warp read 32 different cache lines,
//       which L1 looks up one after the other; the lines of all threads of an SM hardly fit into it.
// fixed: one warp a chunk. The lanes read neighbouring 16-byte pieces and add up with shuffles.

extern "C" __global__ void __launch_bounds__(256) thread_chunks_slow(const float* __restrict__ a, float* __restrict__ out, int chunks, int length) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= chunks) return;
    float s = 0;
    for (int k = 0; k < length; k++) s += a[(size_t)t * length + k];
    out[t] = s;
}

extern "C" __global__ void __launch_bounds__(256) thread_chunks_fixed(const float4* __restrict__ a, float* __restrict__ out, int chunks, int length) {
    int lane = threadIdx.x % 32, chunk = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (chunk >= chunks) return;
    const float4* p = a + (size_t)chunk * (length / 4);
    float s = 0;
#pragma unroll 2
    for (int k = lane; k < length / 4; k += 32) {
        float4 v = p[k];
        s += (v.x + v.y) + (v.z + v.w);
    }
#pragma unroll
    for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
    if (lane == 0) out[chunk] = s;
}
