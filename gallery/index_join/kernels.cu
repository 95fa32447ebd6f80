// A join through two B-trees of 32-way nodes. A warp descends index A with its key; the key that it finds in the leaf is looked up in
// index B. At each level the lanes compare the 32 keys of a node at once and count those that are smaller.
//
// slow: a block of 8 x 4 threads, one warp, for each key. An SM holds 32 blocks, so at most half of its warp slots are in use, and every
//       warp waits for one node after the other.
// fixed: sixteen keys a block: all 64 warp slots are in use.

struct Tree {
    const unsigned* __restrict__ nodes;
    int levels;
};

// The place of the key in the leaf level: node * 32 + slot.
__device__ __forceinline__ unsigned descend(Tree tree, unsigned key, int lane, unsigned& found) {
    unsigned node = 0, first = 0, count = 1, slot = 0, mine = 0;
#pragma unroll 1
    for (int l = 0; l < tree.levels; l++) {
        mine = tree.nodes[(size_t)(first + node) * 32 + lane];
        slot = min(__popc(__ballot_sync(~0u, mine < key)), 31);
        first += count;
        count *= 32;
        node = node * 32 + slot;
    }
    found = __shfl_sync(~0u, mine, slot);
    return node;
}

__device__ __forceinline__ void join(Tree a, Tree b, unsigned key, int lane, uint2* __restrict__ out) {
    unsigned through, value;
    unsigned place = descend(a, key, lane, through);
    unsigned row = descend(b, through * 2654435761u, lane, value);
    if (lane == 0) *out = make_uint2(place, row ^ value);
}

extern "C" __global__ void __launch_bounds__(32) index_join_slow(const unsigned* __restrict__ a, const unsigned* __restrict__ b, const unsigned* __restrict__ keys,
                                                                  uint2* __restrict__ out, int count, int levels) {
    int q = blockIdx.x, lane = threadIdx.y * 8 + threadIdx.x;
    if (q < count) join({a, levels}, {b, levels}, keys[q], lane, out + q);
}

extern "C" __global__ void __launch_bounds__(512) index_join_fixed(const unsigned* __restrict__ a, const unsigned* __restrict__ b, const unsigned* __restrict__ keys,
                                                                   uint2* __restrict__ out, int count, int levels) {
    int q = blockIdx.x * 16 + threadIdx.y, lane = threadIdx.x;
    if (q < count) join({a, levels}, {b, levels}, keys[q], lane, out + q);
}
