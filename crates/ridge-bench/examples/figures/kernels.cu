// Kernels whose work can be made larger by an exact share: bytes of one, instructions of the other.

// 16 floats in each thread, and a sum for each warp: what is written is next to nothing, so bytes are those of n.
extern "C" __global__ void sum(const float4* in, float* out) {
    const float4* from = in + (size_t)blockIdx.x * 4 * blockDim.x + threadIdx.x;
    float total = 0.0f;
    for (int i = 0; i < 4; i++) {
        float4 v = from[i * blockDim.x];
        total += (v.x + v.y) + (v.z + v.w);
    }
    for (int lane = 16; lane > 0; lane /= 2) total += __shfl_down_sync(~0u, total, lane);
    if (threadIdx.x % 32 == 0) out[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = total;
}

extern "C" __global__ void fma_chain(float* out, int iterations) {
    float a = threadIdx.x * 1e-3f, b = a + 1.0f, c = a + 2.0f, d = a + 3.0f;
    #pragma unroll 1
    for (int i = 0; i < iterations; i++) {
        a = fmaf(a, 0.999f, 0.5f);
        b = fmaf(b, 0.999f, 0.5f);
        c = fmaf(c, 0.999f, 0.5f);
        d = fmaf(d, 0.999f, 0.5f);
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = (a + b) + (c + d);
}
