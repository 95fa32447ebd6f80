// Each warp walks eight linked lists of 128-byte nodes and adds their values up.
//
// slow: one list after the other. The address of a node is in the node before it, so a warp has a single access in flight and
//       waits for the full DRAM latency at every hop.
// fixed: the eight lists side by side: eight independent accesses in flight, an eighth of the waiting.

#define LISTS 8

extern "C" __global__ void __launch_bounds__(256) list_walk_slow(const unsigned* __restrict__ nodes, unsigned* __restrict__ out, unsigned mask, int hops) {
    unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
#pragma unroll 1
    for (int l = 0; l < LISTS; l++) {
        unsigned list = warp * LISTS + l, node = (list * 2654435761u) & mask, sum = 0;
#pragma unroll 1
        for (int h = 0; h < hops; h++) {
            unsigned w = nodes[(size_t)node * 32 + lane];
            sum += w;
            node = __shfl_sync(~0u, w, 31) & mask;
        }
        out[list * 32 + lane] = sum;
    }
}

extern "C" __global__ void __launch_bounds__(256) list_walk_fixed(const unsigned* __restrict__ nodes, unsigned* __restrict__ out, unsigned mask, int hops) {
    unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    unsigned node[LISTS], sum[LISTS], w[LISTS];
#pragma unroll
    for (int l = 0; l < LISTS; l++) {
        node[l] = ((warp * LISTS + l) * 2654435761u) & mask;
        sum[l] = 0;
    }
#pragma unroll 1
    for (int h = 0; h < hops; h++) {
#pragma unroll
        for (int l = 0; l < LISTS; l++) w[l] = nodes[(size_t)node[l] * 32 + lane];
#pragma unroll
        for (int l = 0; l < LISTS; l++) {
            sum[l] += w[l];
            node[l] = __shfl_sync(~0u, w[l], 31) & mask;
        }
    }
#pragma unroll
    for (int l = 0; l < LISTS; l++) out[(warp * LISTS + l) * 32 + lane] = sum[l];
}
