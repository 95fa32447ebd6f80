// Pooled embeddings through an indirection: a bag holds up to 24 feature ids (padded with -1), an id is looked up in a slot map
// (rows with equal content share a slot), and the row of 32 floats is added to the bag's sum. One warp a bag, one float a lane.
//
// slow: id, slot, row, addition, next id: three loads that wait for each other, 24 times. A warp has one row in flight at most.
// fixed: the lanes fetch all ids and all slots of the bag at once; the rows are requested eight at a time.

#define BAG 24

extern "C" __global__ void __launch_bounds__(128) embedding_bag_slow(const int* __restrict__ ids, const int* __restrict__ slot, const float* __restrict__ table, float* __restrict__ out, int bags) {
    int bag = (blockIdx.x * 128 + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (bag >= bags) return;
    float sum = 0;
    for (int k = 0; k < BAG; k++) {
        int id = ids[bag * BAG + k];
        if (id < 0) break;
        sum += table[(size_t)slot[id] * 32 + lane];
    }
    out[bag * 32 + lane] = sum;
}

extern "C" __global__ void __launch_bounds__(128) embedding_bag_fixed(const int* __restrict__ ids, const int* __restrict__ slot, const float* __restrict__ table, float* __restrict__ out, int bags) {
    int bag = (blockIdx.x * 128 + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (bag >= bags) return;
    int id = lane < BAG ? ids[bag * BAG + lane] : -1;
    int count = __ffs(__ballot_sync(~0u, id < 0)) - 1;
    int mine = lane < count ? slot[id] : 0;
    float sum = 0;
#pragma unroll
    for (int k = 0; k < BAG; k += 8) {
        float v[8];
#pragma unroll
        for (int u = 0; u < 8; u++) {
            int s = __shfl_sync(~0u, mine, k + u);
            v[u] = k + u < count ? table[(size_t)s * 32 + lane] : 0.f;
        }
#pragma unroll
        for (int u = 0; u < 8; u++) sum += v[u];
    }
    out[bag * 32 + lane] = sum;
}
