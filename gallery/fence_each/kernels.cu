// A producer writes an array and then announces, through a counter, that its part is complete.
//
// slow: a device-wide fence after every store. Each one waits until the store before it is visible to all SMs, so a
//       thread has a single access in flight.
// fixed: one fence after the last store. It orders all stores of the thread before the announcement, which is all that
//        the consumer relies on.

extern "C" __global__ void __launch_bounds__(256) fence_each_slow(const float* __restrict__ a, float* __restrict__ out, unsigned* done, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        out[i] = a[i] * 1.5f + 0.25f;
        __threadfence();
    }
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(done, 1u);
}

extern "C" __global__ void __launch_bounds__(256) fence_each_fixed(const float* __restrict__ a, float* __restrict__ out, unsigned* done, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = a[i] * 1.5f + 0.25f;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(done, 1u);
}
