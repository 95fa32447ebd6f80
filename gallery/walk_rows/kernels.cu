// Random walks on a graph with 32 neighbours a node, one warp a walk: the neighbour list of every visited node is collected
// (the sampling step of a graph network). The next node is one of the list just read, so a walk has one load in flight.
//
// slow: a walk keeps its 128 lists in registers and writes them when it has ended. With about 140 registers a thread an SM holds a
//       fifth of the warps that it could, and nothing else can hide the latency of the chain.
// fixed: each list is written as soon as it has arrived. Few registers, all warp slots in use.

constexpr int steps = 128;

__device__ __forceinline__ unsigned random_lane(unsigned& state) {
    state = state * 1664525u + 1013904223u;
    return state >> 27;
}

extern "C" __global__ void __launch_bounds__(96) walk_rows_slow(const unsigned* graph, unsigned* out, int walks, unsigned mask) {
    int lane = threadIdx.x & 31, walk = blockIdx.x * 3 + (threadIdx.x >> 5);
    if (walk >= walks) return;
    unsigned state = walk * 2654435761u, node = state & mask;
    unsigned list[steps];
#pragma unroll
    for (int k = 0; k < steps; k++) {
        list[k] = graph[(size_t)node * 32 + lane];
        node = __shfl_sync(~0u, list[k], random_lane(state)) & mask;
    }
#pragma unroll
    for (int k = 0; k < steps; k++) out[((size_t)walk * steps + k) * 32 + lane] = list[k] & mask;
}

extern "C" __global__ void __launch_bounds__(96) walk_rows_fixed(const unsigned* graph, unsigned* out, int walks, unsigned mask) {
    int lane = threadIdx.x & 31, walk = blockIdx.x * 3 + (threadIdx.x >> 5);
    if (walk >= walks) return;
    unsigned state = walk * 2654435761u, node = state & mask;
#pragma unroll 4
    for (int k = 0; k < steps; k++) {
        unsigned list = graph[(size_t)node * 32 + lane];
        node = __shfl_sync(~0u, list, random_lane(state)) & mask;
        out[((size_t)walk * steps + k) * 32 + lane] = list & mask;
    }
}
