// A first-order recursive filter along the rows of a matrix: y[k] = x[k] + y[k-1] / 2, one thread a row. Tiles of 128 rows and
// 32 columns go through shared memory, so that global memory is read and written along the rows.
//
// slow: the tile has a pitch of 32 words. Thread t walks along row t, all lanes of a warp are in the same bank: 32-way conflicts.
// fixed: a pitch of 33 words moves each row by one bank. Nothing else changes.

__device__ __forceinline__ void filter(const float* __restrict__ in, float* __restrict__ out, int cols, int pitch, float* tile) {
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    size_t row0 = (size_t)blockIdx.x * 128;
    float y = 0;
    for (int c0 = 0; c0 < cols; c0 += 32) {
#pragma unroll 8
        for (int r = warp; r < 128; r += 4) tile[r * pitch + lane] = in[(row0 + r) * cols + c0 + lane];
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < 32; k++) {
            y = fmaf(0.5f, y, tile[t * pitch + k]);
            tile[t * pitch + k] = y;
        }
        __syncthreads();
#pragma unroll 8
        for (int r = warp; r < 128; r += 4) out[(row0 + r) * cols + c0 + lane] = tile[r * pitch + lane];
        __syncthreads();
    }
}

// The pitch is a run-time argument: with a constant one the compiler could use 16-byte accesses, which hide a part of the conflicts.
extern "C" __global__ void __launch_bounds__(128) iir_rows_slow(const float* __restrict__ in, float* __restrict__ out, int cols, int pitch) {
    __shared__ float tile[128 * 32];
    filter(in, out, cols, pitch, tile);
}

extern "C" __global__ void __launch_bounds__(128) iir_rows_fixed(const float* __restrict__ in, float* __restrict__ out, int cols, int pitch) {
    __shared__ float tile[128 * 33];
    filter(in, out, cols, pitch, tile);
}
