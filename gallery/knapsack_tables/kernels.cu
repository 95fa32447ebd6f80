// Knapsack tables, one block an instance and one thread a capacity: row t + 1 is computed from row t, and the whole table is kept for the
// way back. A flag says that the table of an instance is complete.
//
// slow: a device-wide fence before the barrier of every row. Only threads of the same block read the row, but each thread waits until its
//       store is visible to all SMs, and the L1 cache is thrown away, for each of 64 items.
// fixed: the barrier alone orders the accesses of a block. One fence at the end, before the flag.

constexpr int ITEMS = 64;

template <bool FENCE>
__device__ __forceinline__ void fill(const unsigned char* __restrict__ weights, const unsigned char* __restrict__ values, int* table, unsigned* complete) {
    __shared__ int weight[ITEMS], value[ITEMS];
    int c = threadIdx.x, width = blockDim.x;
    if (c < ITEMS) {
        weight[c] = weights[blockIdx.x * ITEMS + c];
        value[c] = values[blockIdx.x * ITEMS + c];
    }
    int* row = table + (size_t)blockIdx.x * (ITEMS + 1) * width;
    int best = 0;
    row[c] = 0;
#pragma unroll 2
    for (int t = 0; t < ITEMS; t++) {
        if (FENCE) __threadfence();
        __syncthreads();
        int w = weight[t];
        if (c >= w) best = max(best, row[c - w] + value[t]);
        row += width;
        row[c] = best;
    }
    __threadfence();
    __syncthreads();
    if (c == 0) complete[blockIdx.x] = 1;
}

extern "C" __global__ void __launch_bounds__(512) knapsack_tables_slow(const unsigned char* __restrict__ weights, const unsigned char* __restrict__ values, int* table,
                                                                       unsigned* complete) {
    fill<true>(weights, values, table, complete);
}

extern "C" __global__ void __launch_bounds__(512) knapsack_tables_fixed(const unsigned char* __restrict__ weights, const unsigned char* __restrict__ values, int* table,
                                                                        unsigned* complete) {
    fill<false>(weights, values, table, complete);
}
