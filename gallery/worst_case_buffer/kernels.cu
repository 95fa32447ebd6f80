// Blocks follow chains of rows: the last word of a row says which row comes next. A row is staged in shared memory, where each word
// is combined with two neighbours.
//
// slow: the buffer is sized for the longest row that could ever come (12288 words). The rows at hand have 256 words, but only four
//       blocks of two warps fit on an SM, too few to hide the latency of the chain.
// fixed: the buffer is sized at launch for the rows that are there: 1 KiB a block, and 32 blocks fit.

__device__ __forceinline__ void follow(const unsigned* __restrict__ rows, unsigned* __restrict__ out, unsigned mask, int length, int hops, unsigned* stage) {
    unsigned row = (blockIdx.x * 2654435761u) & mask, sum = 0;
    for (int h = 0; h < hops; h++) {
#pragma unroll 4
        for (int i = threadIdx.x; i < length; i += 64) stage[i] = rows[(size_t)row * length + i];
        __syncthreads();
#pragma unroll 4
        for (int i = threadIdx.x; i < length; i += 64) {
            unsigned left = stage[i ? i - 1 : length - 1], right = stage[i + 1 < length ? i + 1 : 0];
            sum += stage[i] ^ (left >> 1) ^ (right << 1);
        }
        row = stage[length - 1] & mask;
        __syncthreads();
    }
    out[blockIdx.x * 64 + threadIdx.x] = sum;
}

extern __shared__ unsigned sized_at_launch[];

extern "C" __global__ void __launch_bounds__(64) worst_case_buffer_slow(const unsigned* __restrict__ rows, unsigned* __restrict__ out, unsigned mask, int length, int hops) {
    __shared__ unsigned stage[12288];
    follow(rows, out, mask, length, hops, stage);
}

extern "C" __global__ void __launch_bounds__(64) worst_case_buffer_fixed(const unsigned* __restrict__ rows, unsigned* __restrict__ out, unsigned mask, int length, int hops) {
    follow(rows, out, mask, length, hops, sized_at_launch);
}
