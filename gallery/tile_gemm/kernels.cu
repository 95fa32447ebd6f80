// C = A * B in single precision, all row-major.
//
// slow: the textbook tile of 32 x 32 in shared memory, one output a thread. DRAM and L2 are at ease, but each multiply-add
//       fetches its operands from shared memory: that pipe is full and the FMA pipes wait.
// fixed: a tile of 128 x 128 and 8 x 8 outputs a thread: 16 values from shared memory serve 64 multiply-adds in registers.

extern "C" __global__ void __launch_bounds__(1024) tile_gemm_slow(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int n, int k) {
    __shared__ float As[32][32], Bs[32][32];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 32 + ty, col = blockIdx.x * 32 + tx;
    float s = 0;
    for (int k0 = 0; k0 < k; k0 += 32) {
        As[ty][tx] = A[(size_t)row * k + k0 + tx];
        Bs[ty][tx] = B[(size_t)(k0 + ty) * n + col];
        __syncthreads();
#pragma unroll
        for (int j = 0; j < 32; j++) s += As[ty][j] * Bs[j][tx];
        __syncthreads();
    }
    C[(size_t)row * n + col] = s;
}

extern "C" __global__ void __launch_bounds__(256) tile_gemm_fixed(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int n, int k) {
    __shared__ __align__(16) float As[8][132], Bs[8][128];
    int t = threadIdx.x, tx = t % 16, ty = t / 16;
    const float* a = A + (size_t)(blockIdx.y * 128 + t / 2) * k + t % 2 * 4;
    const float* b = B + (size_t)(t / 32) * n + blockIdx.x * 128 + t % 32 * 4;
    float acc[8][8] = {};
    for (int k0 = 0; k0 < k; k0 += 8) {
        float4 u = *(const float4*)(a + k0), v = *(const float4*)(b + (size_t)k0 * n);
        __syncthreads();
        int c = t % 2 * 4, r = t / 2;
        As[c][r] = u.x;
        As[c + 1][r] = u.y;
        As[c + 2][r] = u.z;
        As[c + 3][r] = u.w;
        *(float4*)&Bs[t / 32][t % 32 * 4] = v;
        __syncthreads();
#pragma unroll
        for (int j = 0; j < 8; j++) {
            float x[8], y[8];
            *(float4*)&x[0] = *(const float4*)&As[j][ty * 4];
            *(float4*)&x[4] = *(const float4*)&As[j][64 + ty * 4];
            *(float4*)&y[0] = *(const float4*)&Bs[j][tx * 4];
            *(float4*)&y[4] = *(const float4*)&Bs[j][64 + tx * 4];
#pragma unroll
            for (int p = 0; p < 8; p++)
#pragma unroll
                for (int q = 0; q < 8; q++) acc[p][q] += x[p] * y[q];
        }
    }
#pragma unroll
    for (int p = 0; p < 8; p++) {
        size_t row = blockIdx.y * 128 + p / 4 * 64 + ty * 4 + p % 4;
        float* out = C + row * n + blockIdx.x * 128 + tx * 4;
        *(float4*)out = make_float4(acc[p][0], acc[p][1], acc[p][2], acc[p][3]);
        *(float4*)(out + 64) = make_float4(acc[p][4], acc[p][5], acc[p][6], acc[p][7]);
    }
}
