// Keeps the values above a limit, in any order. The output is a ring whose size is a power of two.
//
// slow: every kept value takes its place from one global counter. A branch that a quarter of the lanes take leads to atomics on a
//       single address (one a warp, since the compiler merges the lanes).
// fixed: a warp counts its kept values with a ballot, the block adds the counts up and moves the counter once for 2048 values.

extern "C" __global__ void __launch_bounds__(256) compact_counter_slow(const float* __restrict__ a, float* __restrict__ out, unsigned* counter, int n, float limit) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = a[i];
    if (v > limit) {
        unsigned place = atomicAdd(counter, 1u);
        out[place & (n - 1)] = v;
    }
}

extern "C" __global__ void __launch_bounds__(256) compact_counter_fixed(const float* __restrict__ a, float* __restrict__ out, unsigned* counter, int n, float limit) {
    __shared__ unsigned warp_place[8], block_place;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int base = blockIdx.x * 2048 + threadIdx.x;
    float v[8];
    unsigned kept[8], mine = 0;
#pragma unroll
    for (int k = 0; k < 8; k++) v[k] = a[base + k * 256];
#pragma unroll
    for (int k = 0; k < 8; k++) {
        kept[k] = __ballot_sync(~0u, v[k] > limit);
        mine += __popc(kept[k]);
    }
    if (lane == 0) warp_place[warp] = mine;
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned total = 0;
        for (int w = 0; w < 8; w++) {
            unsigned c = warp_place[w];
            warp_place[w] = total;
            total += c;
        }
        block_place = atomicAdd(counter, total);
    }
    __syncthreads();
    unsigned place = block_place + warp_place[warp];
#pragma unroll
    for (int k = 0; k < 8; k++) {
        if (kept[k] >> lane & 1) out[(place + __popc(kept[k] & ((1u << lane) - 1))) & (n - 1)] = v[k];
        place += __popc(kept[k]);
    }
}
