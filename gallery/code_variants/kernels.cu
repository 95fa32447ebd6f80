// Sixteen polynomials of degree 128; each warp evaluates one of them at its samples.
//
// slow: a template instance for each polynomial, unrolled, with the coefficients inside the instructions. Together they are far
//       larger than the instruction caches, and the warps of an SM are all in different places: they wait for code.
// fixed: one loop for all polynomials that takes the coefficients from a small table. More instructions run, but they are there.

#define DEGREE 128
#define POINTS 8

__host__ __device__ constexpr float coefficient(int m) { return 0.25f + (float)m / 512.f; }
__host__ __device__ constexpr int place(int variant, int k) { return (variant * 37 + k * 11) & 63; }

template <int V>
__device__ __forceinline__ void evaluate(float (&s)[POINTS], const float (&x)[POINTS]) {
#pragma unroll
    for (int k = 0; k < DEGREE; k++)
#pragma unroll
        for (int p = 0; p < POINTS; p++) s[p] = fmaf(s[p], x[p], coefficient(place(V, k)));
}

extern "C" __global__ void __launch_bounds__(256) code_variants_slow(const float* __restrict__ a, float* __restrict__ out) {
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    size_t base = (size_t)warp * POINTS * 32 + lane;
    float x[POINTS], s[POINTS] = {};
#pragma unroll
    for (int p = 0; p < POINTS; p++) x[p] = a[base + p * 32];
    switch (warp % 16) {
        case 0: evaluate<0>(s, x); break;
        case 1: evaluate<1>(s, x); break;
        case 2: evaluate<2>(s, x); break;
        case 3: evaluate<3>(s, x); break;
        case 4: evaluate<4>(s, x); break;
        case 5: evaluate<5>(s, x); break;
        case 6: evaluate<6>(s, x); break;
        case 7: evaluate<7>(s, x); break;
        case 8: evaluate<8>(s, x); break;
        case 9: evaluate<9>(s, x); break;
        case 10: evaluate<10>(s, x); break;
        case 11: evaluate<11>(s, x); break;
        case 12: evaluate<12>(s, x); break;
        case 13: evaluate<13>(s, x); break;
        case 14: evaluate<14>(s, x); break;
        default: evaluate<15>(s, x); break;
    }
#pragma unroll
    for (int p = 0; p < POINTS; p++) out[base + p * 32] = s[p];
}

extern "C" __global__ void __launch_bounds__(256) code_variants_fixed(const float* __restrict__ a, float* __restrict__ out) {
    __shared__ float table[64];
    if (threadIdx.x < 64) table[threadIdx.x] = coefficient(threadIdx.x);
    __syncthreads();
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32, variant = warp % 16;
    size_t base = (size_t)warp * POINTS * 32 + lane;
    float x[POINTS], s[POINTS] = {};
#pragma unroll
    for (int p = 0; p < POINTS; p++) x[p] = a[base + p * 32];
#pragma unroll 8
    for (int k = 0; k < DEGREE; k++) {
        float c = table[place(variant, k)];
#pragma unroll
        for (int p = 0; p < POINTS; p++) s[p] = fmaf(s[p], x[p], c);
    }
#pragma unroll
    for (int p = 0; p < POINTS; p++) out[base + p * 32] = s[p];
}
