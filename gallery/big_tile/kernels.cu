// C = A * B in single precision with a register tile of T x T outputs a thread.
//
// slow: T = 16. The 256 sums alone are more than the 255 registers that a thread can have, so the compiler keeps a part of
//       them in local memory and moves them in and out in every step.
// fixed: T = 8. 64 sums and their operands fit, and four times as many threads share the block's tile.

template <int T>
__device__ __forceinline__ void product(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int n, int k) {
    constexpr int SIDE = 128 / T, THREADS = SIDE * SIDE;
    __shared__ __align__(16) float As[8][132], Bs[8][128];
    int t = threadIdx.x, tx = t % SIDE, ty = t / SIDE;
    float acc[T][T] = {};
    for (int k0 = 0; k0 < k; k0 += 8) {
        __syncthreads();
#pragma unroll
        for (int i = t; i < 256; i += THREADS) {
            float4 u = *(const float4*)(A + (size_t)(blockIdx.y * 128 + i / 2) * k + k0 + i % 2 * 4);
            int c = i % 2 * 4, r = i / 2;
            As[c][r] = u.x;
            As[c + 1][r] = u.y;
            As[c + 2][r] = u.z;
            As[c + 3][r] = u.w;
            *(float4*)&Bs[i / 32][i % 32 * 4] = *(const float4*)(B + (size_t)(k0 + i / 32) * n + blockIdx.x * 128 + i % 32 * 4);
        }
        __syncthreads();
#pragma unroll
        for (int j = 0; j < 8; j++) {
            float x[T], y[T];
#pragma unroll
            for (int p = 0; p < T; p += 4) {
                *(float4*)&x[p] = *(const float4*)&As[j][p * SIDE + ty * 4];
                *(float4*)&y[p] = *(const float4*)&Bs[j][p * SIDE + tx * 4];
            }
#pragma unroll
            for (int p = 0; p < T; p++)
#pragma unroll
                for (int q = 0; q < T; q++) acc[p][q] += x[p] * y[q];
        }
    }
#pragma unroll
    for (int p = 0; p < T; p++)
#pragma unroll
        for (int q = 0; q < T; q += 4) {
            size_t row = blockIdx.y * 128 + p / 4 * 4 * SIDE + ty * 4 + p % 4;
            *(float4*)(C + row * n + blockIdx.x * 128 + q * SIDE + tx * 4) = make_float4(acc[p][q], acc[p][q + 1], acc[p][q + 2], acc[p][q + 3]);
        }
}

extern "C" __global__ void __launch_bounds__(64) big_tile_slow(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int n, int k) {
    product<16>(A, B, C, n, k);
}

extern "C" __global__ void __launch_bounds__(256) big_tile_fixed(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int n, int k) {
    product<8>(A, B, C, n, k);
}
