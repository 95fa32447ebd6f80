// Denoising of video in cubes of 8 x 8 x 8: a Hadamard transform along three axes, small coefficients set to zero, and back.
// 64 threads a cube, each of them transforms one line at a time; four cubes a block.
//
// slow: the cube lies in shared memory with strides 1, 8 and 64. Lines along y start at multiples of 64 words and lines along x at multiples
//       of 8: the lanes of a warp meet in a few banks.
// fixed: strides 1, 9 and 76.

__device__ __forceinline__ void hadamard(float (&v)[8]) {
#pragma unroll
    for (int h = 1; h < 8; h *= 2)
#pragma unroll
        for (int i = 0; i < 8; i++)
            if (!(i & h)) {
                float a = v[i], b = v[i + h];
                v[i] = a + b;
                v[i + h] = a - b;
            }
}

template <int S> __device__ __forceinline__ void get(const float* s, float (&v)[8]) {
#pragma unroll
    for (int k = 0; k < 8; k++) v[k] = s[k * S];
}
template <int S> __device__ __forceinline__ void put(float* s, const float (&v)[8]) {
#pragma unroll
    for (int k = 0; k < 8; k++) s[k * S] = v[k];
}

template <int Y, int Z> __device__ __forceinline__ void denoise(const float* __restrict__ in, float* __restrict__ out, float threshold) {
    __shared__ float cubes[4][8 * Z];
    float* s = cubes[threadIdx.y];
    int a = threadIdx.x % 8, b = threadIdx.x / 8;
    size_t base = ((size_t)blockIdx.x * 4 + threadIdx.y) * 512 + threadIdx.x;
    float* along_z = s + a + b * Y;      // a = x, b = y
    float* along_x = s + a * Y + b * Z;  // a = y, b = z
    float* along_y = s + a * Z + b;      // a = z, b = x
    float v[8];
    get<64>(in + base, v);
    hadamard(v);
    put<Z>(along_z, v);
    __syncthreads();
    get<Y>(along_y, v);
    hadamard(v);
    put<Y>(along_y, v);
    __syncthreads();
    get<1>(along_x, v);
    hadamard(v);
#pragma unroll
    for (int k = 0; k < 8; k++) v[k] = fabsf(v[k]) < threshold ? 0.f : v[k] * (1.f / 512.f);
    hadamard(v);
    put<1>(along_x, v);
    __syncthreads();
    get<Y>(along_y, v);
    hadamard(v);
    put<Y>(along_y, v);
    __syncthreads();
    get<Z>(along_z, v);
    hadamard(v);
    put<64>(out + base, v);
}

extern "C" __global__ void __launch_bounds__(256) cube_denoise_slow(const float* __restrict__ in, float* __restrict__ out, float threshold) {
    denoise<8, 64>(in, out, threshold);
}

extern "C" __global__ void __launch_bounds__(256) cube_denoise_fixed(const float* __restrict__ in, float* __restrict__ out, float threshold) {
    denoise<9, 76>(in, out, threshold);
}
