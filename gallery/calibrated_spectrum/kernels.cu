// Spectrum of the events of a detector: a raw code goes through the calibration table of its pixel and then into one of 4096 channels.
//
// slow: each of the four warps of a block has its own 16 KB of counters, 64 KB a block: three blocks, twelve warps an SM. Two dependent loads
//       an event have nobody to hide behind.
// fixed: the four warps share one set of counters: 16 KB a block, fifty-two warps.

template <int SETS>
__device__ __forceinline__ void spectrum(const unsigned* __restrict__ events, const float2* __restrict__ calibration, unsigned* counts, int n, float limit) {
    extern __shared__ unsigned bins[];
    for (int i = threadIdx.x; i < SETS * 4096; i += 128) bins[i] = 0;
    __syncthreads();
    unsigned* mine = bins + (SETS == 1 ? 0 : threadIdx.x / 32 * 4096);
#pragma unroll 1
    for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128) {
        unsigned e = events[i];
        float2 c = calibration[e >> 23];
        float energy = fmaf((float)(e & 0x7fffff), c.x, c.y);
        atomicAdd(mine + (int)fminf(energy, limit), 1u);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 4096; i += 128) {
        unsigned s = 0;
#pragma unroll
        for (int k = 0; k < SETS; k++) s += bins[k * 4096 + i];
        if (s) atomicAdd(counts + i, s);
    }
}

extern "C" __global__ void __launch_bounds__(128) calibrated_spectrum_slow(const unsigned* __restrict__ events, const float2* __restrict__ calibration, unsigned* counts, int n,
                                                                           float limit) {
    spectrum<4>(events, calibration, counts, n, limit);
}

extern "C" __global__ void __launch_bounds__(128) calibrated_spectrum_fixed(const unsigned* __restrict__ events, const float2* __restrict__ calibration, unsigned* counts, int n,
                                                                            float limit) {
    spectrum<1>(events, calibration, counts, n, limit);
}
