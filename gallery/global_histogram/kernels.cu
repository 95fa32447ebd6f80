// A histogram of 32-bit keys by their highest byte, 256 bins.
//
// slow: one atomic in global memory for each key. All of them meet in the few L2 slices that own the 1 KiB of counters.
// fixed: each block counts in its own shared memory and adds its 256 sums to the global counters once.

extern "C" __global__ void __launch_bounds__(256) global_histogram_slow(const unsigned* __restrict__ key, unsigned* __restrict__ count, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&count[key[i] >> 24], 1u);
}

extern "C" __global__ void __launch_bounds__(256) global_histogram_fixed(const unsigned* __restrict__ key, unsigned* __restrict__ count, int n) {
    __shared__ unsigned local[256];
    local[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[key[i] >> 24], 1u);
    __syncthreads();
    atomicAdd(&count[threadIdx.x], local[threadIdx.x]);
}
