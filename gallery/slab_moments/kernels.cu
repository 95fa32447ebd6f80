// First and second moments of two slabs of a volume of bytes.
//
// slow: each thread adds its sums to the four results itself: a quarter of a million float atomics on each address, 32 lanes
//       of a warp on the same one. And the voxels are read one byte a load.
// fixed: the block reduces its sums and adds once. The voxels are still read byte by byte.

extern "C" __global__ void __launch_bounds__(512) slab_moments_slow(const unsigned char* __restrict__ voxels, float* __restrict__ moments, int slab) {
    int stride = gridDim.x * blockDim.x;
    for (int s = 0; s < 2; s++) {
        const unsigned char* v = voxels + (size_t)s * slab;
        unsigned sum = 0, squares = 0;
#pragma unroll 1
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < slab; i += stride) {
            unsigned x = v[i];
            sum += x;
            squares += x * x;
        }
        atomicAdd(&moments[2 * s], (float)sum);
        atomicAdd(&moments[2 * s + 1], (float)squares);
    }
}

__device__ __forceinline__ float warp_sum(float x) {
#pragma unroll
    for (int o = 16; o; o >>= 1) x += __shfl_xor_sync(~0u, x, o);
    return x;
}

extern "C" __global__ void __launch_bounds__(512) slab_moments_fixed(const unsigned char* __restrict__ voxels, float* __restrict__ moments, int slab) {
    __shared__ float2 parts[16];
    int stride = gridDim.x * blockDim.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int s = 0; s < 2; s++) {
        const unsigned char* v = voxels + (size_t)s * slab;
        unsigned sum = 0, squares = 0;
#pragma unroll 1
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < slab; i += stride) {
            unsigned x = v[i];
            sum += x;
            squares += x * x;
        }
        float a = warp_sum((float)sum), b = warp_sum((float)squares);
        if (lane == 0) parts[warp] = make_float2(a, b);
        __syncthreads();
        if (warp == 0) {
            float2 p = lane < 16 ? parts[lane] : make_float2(0, 0);
            a = warp_sum(p.x);
            b = warp_sum(p.y);
            if (lane == 0) {
                atomicAdd(&moments[2 * s], a);
                atomicAdd(&moments[2 * s + 1], b);
            }
        }
        __syncthreads();
    }
}
