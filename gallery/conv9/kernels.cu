// A 9 x 9 convolution of an image that carries its own border of four pixels.
//
// slow: one thread an output, 81 loads through L1 for 81 multiply-adds. Neighbouring threads load almost the same pixels;
//       the load/store unit is busy while the FMA pipes wait.
// fixed: a block stages its part of the image in shared memory, and each thread computes eight outputs of a column: a value
//        that it has loaded serves up to eight of them from registers.

__host__ __device__ constexpr float tap(int dx, int dy) { return 1.f / (float)(4 + dx * dx + dy * dy + (dx > dy)); }

extern "C" __global__ void __launch_bounds__(256) conv9_slow(const float* __restrict__ in, float* __restrict__ out, int width, int pitch) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    float s = 0;
#pragma unroll
    for (int dx = 0; dx < 9; dx++)
#pragma unroll
        for (int dy = 0; dy < 9; dy++) s += tap(dx - 4, dy - 4) * in[(size_t)(y + dy) * pitch + x + dx];
    out[(size_t)y * width + x] = s;
}

extern "C" __global__ void __launch_bounds__(256) conv9_fixed(const float* __restrict__ in, float* __restrict__ out, int width, int pitch) {
    __shared__ float tile[72][40];
    int x0 = blockIdx.x * 32, y0 = blockIdx.y * 64;
    for (int i = threadIdx.y * 32 + threadIdx.x; i < 72 * 40; i += 256) tile[i / 40][i % 40] = in[(size_t)(y0 + i / 40) * pitch + x0 + i % 40];
    __syncthreads();
    float s[8] = {};
#pragma unroll
    for (int dx = 0; dx < 9; dx++) {
        float column[16];
#pragma unroll
        for (int k = 0; k < 16; k++) column[k] = tile[threadIdx.y * 8 + k][threadIdx.x + dx];
#pragma unroll
        for (int r = 0; r < 8; r++)
#pragma unroll
            for (int dy = 0; dy < 9; dy++) s[r] += tap(dx - 4, dy - 4) * column[r + dy];
    }
#pragma unroll
    for (int r = 0; r < 8; r++) out[(size_t)(y0 + threadIdx.y * 8 + r) * width + x0 + threadIdx.x] = s[r];
}
