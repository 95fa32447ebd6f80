// Fetches one value for each entry of an index list.
//
// slow: the list is in random order. Each lane touches another 32-byte sector for its 4 bytes.
// fixed: the same list, sorted. Neighbouring lanes read neighbouring values; a sector serves several of them. (The order of the
//        results differs, so the sums are compared.)

__device__ __forceinline__ void gather(const float* __restrict__ v, const unsigned* __restrict__ index, float* __restrict__ out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = v[index[i]];
}

extern "C" __global__ void __launch_bounds__(256) gather_order_slow(const float* __restrict__ v, const unsigned* __restrict__ index, float* __restrict__ out, int n) {
    gather(v, index, out, n);
}

extern "C" __global__ void __launch_bounds__(256) gather_order_fixed(const float* __restrict__ v, const unsigned* __restrict__ index, float* __restrict__ out, int n) {
    gather(v, index, out, n);
}
