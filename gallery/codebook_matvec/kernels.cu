// Matrix times vector with weights of four bits; every row has a codebook of 16 values of its own. One thread a row, weights of all rows
// side by side, eight to a word; the vector is in shared memory.
//
// slow: the codebook is a private array. The code that picks the value comes from memory, so the array is local memory; the lanes of a
//       warp pick different values and therefore different lines: about fourteen for each load.
// fixed: the codebook is a column of shared memory, one bank a lane. Whatever the codes are, a load takes one step.

constexpr int K = 2048, THREADS = 128, LEVELS = 16;

__device__ __forceinline__ void stage_vector(const float* __restrict__ x, float (&s)[K]) {
#pragma unroll 4
    for (int k = 0; k < K; k += THREADS) s[k + threadIdx.x] = x[k + threadIdx.x];
}

template <class Lookup>
__device__ __forceinline__ float row_product(const unsigned* __restrict__ codes, const float (&x)[K], int row, int rows, Lookup lookup) {
    float s[4] = {};
#pragma unroll 4
    for (int w = 0; w < K / 8; w++) {
        unsigned c = codes[w * rows + row];
        float4 lo = *(const float4*)&x[8 * w], hi = *(const float4*)&x[8 * w + 4];
        float v[8] = {lo.x, lo.y, lo.z, lo.w, hi.x, hi.y, hi.z, hi.w};
#pragma unroll
        for (int j = 0; j < 8; j++) s[j % 4] += lookup(c >> 4 * j & 15) * v[j];
    }
    return (s[0] + s[1]) + (s[2] + s[3]);
}

extern "C" __global__ void __launch_bounds__(THREADS) codebook_matvec_slow(const unsigned* __restrict__ codes, const float* __restrict__ codebook,
                                                                           const float* __restrict__ x, float* __restrict__ y, int rows) {
    __shared__ __align__(16) float sx[K];
    int row = blockIdx.x * THREADS + threadIdx.x;
    stage_vector(x, sx);
    float level[LEVELS];
#pragma unroll
    for (int l = 0; l < LEVELS; l++) level[l] = codebook[l * rows + row];
    __syncthreads();
    y[row] = row_product(codes, sx, row, rows, [&](unsigned code) { return level[code]; });
}

extern "C" __global__ void __launch_bounds__(THREADS) codebook_matvec_fixed(const unsigned* __restrict__ codes, const float* __restrict__ codebook,
                                                                            const float* __restrict__ x, float* __restrict__ y, int rows) {
    __shared__ __align__(16) float sx[K];
    __shared__ float level[LEVELS][THREADS];
    int row = blockIdx.x * THREADS + threadIdx.x;
    stage_vector(x, sx);
#pragma unroll
    for (int l = 0; l < LEVELS; l++) level[l][threadIdx.x] = codebook[l * rows + row];
    __syncthreads();
    y[row] = row_product(codes, sx, row, rows, [&](unsigned code) { return level[code][threadIdx.x]; });
}
