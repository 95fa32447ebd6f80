// A weighted histogram with eight bins: the low three bits of a byte are its bin, the high five its weight.
//
// slow: shared-memory atomics on the eight counters of the block. About four lanes of each warp want the same counter, and all
//       warps of the block want the same eight: the atomics are done one after the other.
// fixed: each thread has its own eight counters in a column of shared memory, no atomics; they are added up at the end.

extern "C" __global__ void __launch_bounds__(256) weighted_bins_slow(const uint4* __restrict__ a, unsigned* __restrict__ out, int n16) {
    __shared__ unsigned bin[8];
    if (threadIdx.x < 8) bin[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n16; i += gridDim.x * blockDim.x) {
        uint4 v = a[i];
        unsigned w[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int j = 0; j < 16; j++) {
            unsigned b = w[j / 4] >> (8 * (j % 4)) & 255;
            atomicAdd(&bin[b & 7], b >> 3);
        }
    }
    __syncthreads();
    if (threadIdx.x < 8) atomicAdd(&out[threadIdx.x], bin[threadIdx.x]);
}

extern "C" __global__ void __launch_bounds__(256) weighted_bins_fixed(const uint4* __restrict__ a, unsigned* __restrict__ out, int n16) {
    __shared__ unsigned bin[8][256];
#pragma unroll
    for (int b = 0; b < 8; b++) bin[b][threadIdx.x] = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n16; i += gridDim.x * blockDim.x) {
        uint4 v = a[i];
        unsigned w[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int j = 0; j < 16; j++) {
            unsigned b = w[j / 4] >> (8 * (j % 4)) & 255;
            bin[b & 7][threadIdx.x] += b >> 3;
        }
    }
    __syncthreads();
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    unsigned s = 0;
#pragma unroll
    for (int k = 0; k < 256; k += 32) s += bin[warp][k + lane];
#pragma unroll
    for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
    if (lane == 0) atomicAdd(&out[warp], s);
}
