// Euclidean norm of rows of 64 floats, one warp a row.
//
// slow: one block of 32 threads a row. An SM holds at most 32 blocks, so half of its warp slots stay empty while every
//       warp waits for its single load, and each row pays for the start of a block.
// fixed: the same work in blocks of 256 threads, eight rows a block: all warp slots are in use.

__device__ __forceinline__ void row_norm(const float2* __restrict__ a, float* __restrict__ out, int row) {
    float2 v = a[(size_t)row * 32 + threadIdx.x % 32];
    float s = v.x * v.x + v.y * v.y;
#pragma unroll
    for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
    if (threadIdx.x % 32 == 0) out[row] = sqrtf(s);
}

extern "C" __global__ void __launch_bounds__(32) short_rows_slow(const float2* __restrict__ a, float* __restrict__ out, int rows) {
    if (blockIdx.x < rows) row_norm(a, out, blockIdx.x);
}

extern "C" __global__ void __launch_bounds__(256) short_rows_fixed(const float2* __restrict__ a, float* __restrict__ out, int rows) {
    int row = blockIdx.x * 8 + threadIdx.x / 32;
    if (row < rows) row_norm(a, out, row);
}
