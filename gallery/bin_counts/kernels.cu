// Each thread counts how its own bytes fall into 32 bins and writes the sum of the squared counts.
//
// slow: the counters are a private array, and the bin is known only at run time. Registers cannot be indexed, so the
//       array lives in local memory: a load and a store through L1 for each byte, each lane in another cache line.
// fixed: the counters are a column of shared memory. Lane l always uses bank l, so there are no conflicts.

extern "C" __global__ void __launch_bounds__(128) bin_counts_slow(const uint4* __restrict__ a, unsigned* __restrict__ out, int words) {
    unsigned count[32];
#pragma unroll
    for (int b = 0; b < 32; b++) count[b] = 0;
    int t = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    for (int k = 0; k < words; k++) {
        uint4 v = a[(size_t)k * threads + t];
        unsigned w[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int j = 0; j < 16; j++) count[(w[j / 4] >> (8 * (j % 4) + 3)) & 31]++;
    }
    unsigned s = 0;
#pragma unroll
    for (int b = 0; b < 32; b++) s += count[b] * count[b];
    out[t] = s;
}

extern "C" __global__ void __launch_bounds__(128) bin_counts_fixed(const uint4* __restrict__ a, unsigned* __restrict__ out, int words) {
    __shared__ unsigned count[32][128];
#pragma unroll
    for (int b = 0; b < 32; b++) count[b][threadIdx.x] = 0;
    int t = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    for (int k = 0; k < words; k++) {
        uint4 v = a[(size_t)k * threads + t];
        unsigned w[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int j = 0; j < 16; j++) count[(w[j / 4] >> (8 * (j % 4) + 3)) & 31][threadIdx.x]++;
    }
    unsigned s = 0;
#pragma unroll
    for (int b = 0; b < 32; b++) s += count[b][threadIdx.x] * count[b][threadIdx.x];
    out[t] = s;
}
