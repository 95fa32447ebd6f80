// Manhattan distances between all rows of two sets of histograms, 192 bins, stored bin by bin (transposed).
//
// slow: a thread a pair. For each bin it loads both operands, two loads for two additions, although a block uses each of them
//       dozens of times.
// fixed: blocks of 64 x 128 pairs, 16 bins at a time in shared memory, 8 x 4 pairs in the registers of a thread.

#define BINS 192
#define ROWS 2048
#define COLS 4096

extern "C" __global__ void __launch_bounds__(256) l1_distances_slow(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ dist) {
    int j = blockIdx.x * 64 + threadIdx.x, i = blockIdx.y * 4 + threadIdx.y;
    float d = 0;
#pragma unroll 8
    for (int k = 0; k < BINS; k++) d += fabsf(a[k * ROWS + i] - b[k * COLS + j]);
    dist[(size_t)i * COLS + j] = d;
}

extern "C" __global__ void __launch_bounds__(256) l1_distances_fixed(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ dist) {
    constexpr int STEP = 16;
    __shared__ float ta[STEP][64], tb[STEP][128];
    int tx = threadIdx.x % 32, ty = threadIdx.x / 32, i0 = blockIdx.y * 64, j0 = blockIdx.x * 128;
    float d[8][4] = {};
    for (int k0 = 0; k0 < BINS; k0 += STEP) {
        __syncthreads();
        ((float4*)ta)[threadIdx.x] = *(const float4*)&a[(k0 + threadIdx.x / 16) * ROWS + i0 + threadIdx.x % 16 * 4];
#pragma unroll
        for (int h = 0; h < 2; h++) ((float4*)tb)[h * 256 + threadIdx.x] = *(const float4*)&b[(k0 + h * 8 + threadIdx.x / 32) * COLS + j0 + threadIdx.x % 32 * 4];
        __syncthreads();
#pragma unroll 4
        for (int k = 0; k < STEP; k++) {
            float x[8], y[4];
            *(float4*)&x[0] = *(float4*)&ta[k][ty * 8], *(float4*)&x[4] = *(float4*)&ta[k][ty * 8 + 4];
            *(float4*)y = *(float4*)&tb[k][tx * 4];
#pragma unroll
            for (int u = 0; u < 8; u++)
#pragma unroll
                for (int v = 0; v < 4; v++) d[u][v] += fabsf(x[u] - y[v]);
        }
    }
#pragma unroll
    for (int u = 0; u < 8; u++) *(float4*)&dist[(size_t)(i0 + ty * 8 + u) * COLS + j0 + tx * 4] = *(float4*)d[u];
}
