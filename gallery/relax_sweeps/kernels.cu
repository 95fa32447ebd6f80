// Jacobi sweeps on a small periodic grid of 64 x 64 points.
//
// slow: one launch a sweep, two hundred in a row. A sweep takes about a microsecond, starting it takes longer.
// fixed: the whole grid fits into the shared memory of one block, which does all sweeps in one launch.

#define SIDE 64

__device__ __forceinline__ float relax(const float* g, int i) {
    int x = i % SIDE, y = i / SIDE;
    float west = g[y * SIDE + (x + SIDE - 1) % SIDE], east = g[y * SIDE + (x + 1) % SIDE];
    float north = g[(y + SIDE - 1) % SIDE * SIDE + x], south = g[(y + 1) % SIDE * SIDE + x];
    return 0.5f * g[i] + 0.125f * ((west + east) + (north + south));
}

extern "C" __global__ void __launch_bounds__(256) relax_sweeps_slow(const float* __restrict__ from, float* __restrict__ to) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = relax(from, i);
}

extern "C" __global__ void __launch_bounds__(1024) relax_sweeps_fixed(float* __restrict__ grid, int sweeps) {
    __shared__ float g[2][SIDE * SIDE];
    for (int i = threadIdx.x; i < SIDE * SIDE; i += 1024) g[0][i] = grid[i];
    __syncthreads();
    for (int s = 0; s < sweeps; s++) {
#pragma unroll
        for (int k = 0; k < 4; k++) g[~s & 1][k * 1024 + threadIdx.x] = relax(g[s & 1], k * 1024 + threadIdx.x);
        __syncthreads();
    }
    for (int i = threadIdx.x; i < SIDE * SIDE; i += 1024) grid[i] = g[sweeps & 1][i];
}
