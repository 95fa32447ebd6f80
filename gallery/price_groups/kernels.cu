// A database query: per group (return flag and line status, four groups) the number of rows and the sums of quantity, price, discounted
// price and price with tax, for the rows up to a date (after the first query of TPC-H; sums modulo 2^32).
//
// slow: five shared-memory atomics a row, the counters of the block in a table of four lines. Eight lanes of a warp want the same
//       counter at the same time, and all warps of the block want the same twenty: they are served one after the other.
// fixed: every thread sums up all four groups in registers (a select instead of an index), the warp adds them with shuffles, and only
//        the result of the warp goes to the counters.

constexpr int GROUPS = 4, SUMS = 5;

struct Row {
    unsigned quantity, price, discounted, charge;
    bool taken;
    int group;
};

// Two words a row. a: price (16 bits), group (the highest 2 bits); b: quantity (6 bits), discount and tax in percent (4 bits each), date (the highest 12 bits).
__device__ __forceinline__ Row decode(unsigned a, unsigned b, unsigned last) {
    Row r;
    r.group = a >> 30;
    r.quantity = b & 63;
    unsigned discount = min(b >> 6 & 15, 10u);
    r.price = a & 0xffff;
    r.discounted = r.price * (100 - discount);
    r.charge = r.discounted * (100 + (b >> 10 & 15)) >> 6;
    r.taken = (b >> 20) <= last;
    return r;
}

extern "C" __global__ void __launch_bounds__(384) price_groups_slow(const uint4* __restrict__ a, const uint4* __restrict__ b, unsigned* __restrict__ out,
                                                                    int n4, unsigned last) {
    __shared__ unsigned table[GROUPS][SUMS];
    if (threadIdx.x < GROUPS * SUMS) table[threadIdx.x / SUMS][threadIdx.x % SUMS] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 384 + threadIdx.x; i < n4; i += gridDim.x * 384) {
        uint4 u = a[i], v = b[i];
        unsigned us[4] = {u.x, u.y, u.z, u.w}, vs[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int j = 0; j < 4; j++) {
            Row r = decode(us[j], vs[j], last);
            if (r.taken) {
                atomicAdd(&table[r.group][0], 1u);
                atomicAdd(&table[r.group][1], r.quantity);
                atomicAdd(&table[r.group][2], r.price);
                atomicAdd(&table[r.group][3], r.discounted);
                atomicAdd(&table[r.group][4], r.charge);
            }
        }
    }
    __syncthreads();
    if (threadIdx.x < GROUPS * SUMS) atomicAdd(&out[threadIdx.x], table[threadIdx.x / SUMS][threadIdx.x % SUMS]);
}

extern "C" __global__ void __launch_bounds__(384) price_groups_fixed(const uint4* __restrict__ a, const uint4* __restrict__ b, unsigned* __restrict__ out,
                                                                     int n4, unsigned last) {
    __shared__ unsigned table[GROUPS][SUMS];
    if (threadIdx.x < GROUPS * SUMS) table[threadIdx.x / SUMS][threadIdx.x % SUMS] = 0;
    __syncthreads();
    unsigned sum[GROUPS][SUMS] = {};
    for (int i = blockIdx.x * 384 + threadIdx.x; i < n4; i += gridDim.x * 384) {
        uint4 u = a[i], v = b[i];
        unsigned us[4] = {u.x, u.y, u.z, u.w}, vs[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int j = 0; j < 4; j++) {
            Row r = decode(us[j], vs[j], last);
#pragma unroll
            for (int g = 0; g < GROUPS; g++)
                if (r.taken && r.group == g) {
                    sum[g][0]++;
                    sum[g][1] += r.quantity;
                    sum[g][2] += r.price;
                    sum[g][3] += r.discounted;
                    sum[g][4] += r.charge;
                }
        }
    }
#pragma unroll
    for (int g = 0; g < GROUPS; g++)
#pragma unroll
        for (int k = 0; k < SUMS; k++) {
            unsigned s = __reduce_add_sync(~0u, sum[g][k]);
            if (threadIdx.x % 32 == 0) atomicAdd(&table[g][k], s);
        }
    __syncthreads();
    if (threadIdx.x < GROUPS * SUMS) atomicAdd(&out[threadIdx.x], table[threadIdx.x / SUMS][threadIdx.x % SUMS]);
}
