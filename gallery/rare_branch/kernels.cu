// Each warp walks a linked list of 128-byte nodes (31 values and a link) and adds the values up. A few sums in a million
// exceed a limit and go through an expensive refinement.
//
// slow: the refinement keeps 168 values in registers. Registers are allotted to a kernel, not to a branch, so every warp
//       pays for a branch that hardly any takes: few warps fit on an SM, and the walk waits for one DRAM access after
//       another with nobody to fill the time.
// fixed: the refinement works on one value after the other in a handful of registers. It is slower, which does not
//        matter, and the walk runs with all the warps that an SM can hold.

#define TERMS 168
#define ROUNDS 8

__device__ __forceinline__ float walk(const unsigned* __restrict__ nodes, unsigned mask, int hops) {
    unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    unsigned node = (warp * 2654435761u) & mask;
    float sum = 0;
#pragma unroll 1
    for (int h = 0; h < hops; h++) {
        unsigned w = nodes[(size_t)node * 32 + lane];
        sum += (float)(w >> 8) * (1.f / 16777216.f);
        node = __shfl_sync(~0u, w, 31) & mask;
    }
    return sum;
}

extern "C" __global__ void __launch_bounds__(128) rare_branch_slow(const unsigned* __restrict__ nodes, const float* __restrict__ table,
                                                                   float* __restrict__ out, unsigned mask, int hops, float limit) {
    float sum = walk(nodes, mask, hops);
    if (sum > limit) {
        float r[TERMS];
#pragma unroll
        for (int k = 0; k < TERMS; k++) r[k] = table[k] * sum;
#pragma unroll 1
        for (int n = 0; n < ROUNDS; n++) {
#pragma unroll
            for (int k = 0; k < TERMS; k++) r[k] = r[k] - 0.01f * r[k] * r[k];
        }
        sum = 0;
#pragma unroll
        for (int k = 0; k < TERMS; k++) sum += r[k];
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

extern "C" __global__ void __launch_bounds__(128) rare_branch_fixed(const unsigned* __restrict__ nodes, const float* __restrict__ table,
                                                                    float* __restrict__ out, unsigned mask, int hops, float limit) {
    float sum = walk(nodes, mask, hops);
    if (sum > limit) {
        float total = 0;
#pragma unroll 1
        for (int k = 0; k < TERMS; k++) {
            float r = table[k] * sum;
#pragma unroll 1
            for (int n = 0; n < ROUNDS; n++) r = r - 0.01f * r * r;
            total += r;
        }
        sum = total;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
