// Karplus-Strong synthesis of many strings, one a thread: a delay line of 24 samples, each step replaces the oldest sample by the
// damped mean of the two oldest. The result is the energy of the sound.
//
// slow: the delay line is a ring buffer with a run-time position. Registers cannot be indexed, so it lies in local memory: two loads
//       and a store for each sample.
// fixed: the loop runs over whole periods and the 24 steps of a period are unrolled: all positions are constants, the line stays in
//        registers.

#define DELAY 24

// Noise in [-1, 1): what the string is struck with.
__device__ __forceinline__ void pluck(float (&line)[DELAY], float seed) {
    unsigned u = __float_as_uint(seed);
#pragma unroll
    for (int k = 0; k < DELAY; k++) {
        u = u * 1664525u + 1013904223u;
        line[k] = (float)(int)(u ^ u >> 15) * 0x1p-31f;
    }
}

extern "C" __global__ void __launch_bounds__(160) plucked_strings_slow(const float* __restrict__ seed, const float* __restrict__ damping, float* __restrict__ energy, int n, int periods) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float line[DELAY], g = 0.5f * damping[i], e = 0;
    pluck(line, seed[i]);
    int at = 0;
    for (int t = 0; t < periods * DELAY; t++) {
        int next = at + 1 == DELAY ? 0 : at + 1;
        float v = g * (line[at] + line[next]);
        line[at] = v;
        e = fmaf(v, v, e);
        at = next;
    }
    energy[i] = e;
}

extern "C" __global__ void __launch_bounds__(160) plucked_strings_fixed(const float* __restrict__ seed, const float* __restrict__ damping, float* __restrict__ energy, int n, int periods) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float line[DELAY], g = 0.5f * damping[i], e = 0;
    pluck(line, seed[i]);
    for (int t = 0; t < periods; t++)
#pragma unroll
        for (int at = 0; at < DELAY; at++) {
            float v = g * (line[at] + line[(at + 1) % DELAY]);
            line[at] = v;
            e = fmaf(v, v, e);
        }
    energy[i] = e;
}
