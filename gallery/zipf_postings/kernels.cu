// Scores of search terms: for each term of a batch the sum of the quantised scores of its postings. The length of a posting list follows
// Zipf's law, total / rank of the term: most lists are short, a few are thousands of times longer.
//
// slow: one block a term. Nearly all blocks are done at once, and a handful of SMs work through the longest lists alone.
// fixed: a small kernel cuts the lists into chunks of at most 8192 postings and writes down which ones there are; blocks take chunks, the
//        sums of the chunks are added with one atomic each.

#define CHUNK 8192u

__device__ __forceinline__ unsigned list_length(unsigned rank, unsigned total) { return total / rank; }
__device__ __forceinline__ unsigned list_start(unsigned term, unsigned mask) { return (term * 2654435761u & mask) & ~31u; }

// A posting: document in the upper 20 bits, term frequency and length class below.
__device__ __forceinline__ unsigned score(unsigned posting, unsigned idf) {
    unsigned frequency = posting >> 6 & 63u, length = posting & 63u;
    return idf * frequency * (96u - length) >> 8;
}

__device__ __forceinline__ unsigned score_range(const unsigned* __restrict__ postings, unsigned start, unsigned count, unsigned idf, unsigned mask) {
    unsigned s = 0;
#pragma unroll 4
    for (int i = threadIdx.x; i < (int)count; i += 256) s += score(postings[(start + i) & mask], idf);
    return s;
}

// The sum over the block, in thread 0.
__device__ unsigned block_sum(unsigned s) {
    __shared__ unsigned part[8];
    s = __reduce_add_sync(~0u, s);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
    __syncthreads();
    s = threadIdx.x < 8 ? part[threadIdx.x] : 0;
    if (threadIdx.x < 32) s = __reduce_add_sync(~0u, s);
    __syncthreads();
    return s;
}

extern "C" __global__ void __launch_bounds__(256) zipf_postings_slow(const unsigned* __restrict__ ranks, const unsigned* __restrict__ postings, unsigned* __restrict__ out,
                                                                     unsigned total, unsigned mask) {
    unsigned term = blockIdx.x, rank = ranks[term];
    unsigned s = block_sum(score_range(postings, list_start(term, mask), list_length(rank, total), 64 + (rank >> 6), mask));
    if (threadIdx.x == 0) out[term] = s;
}

// One block of 1024 threads, eight terms a thread: a list of (term, chunk) and its length; clears the sums.
extern "C" __global__ void __launch_bounds__(1024) zipf_postings_plan(const unsigned* __restrict__ ranks, uint2* __restrict__ plan, unsigned* __restrict__ planned,
                                                                      unsigned* __restrict__ out, unsigned total) {
    __shared__ unsigned warps[32];
    unsigned first = threadIdx.x * 8, count[8], mine = 0, lane = threadIdx.x % 32;
#pragma unroll
    for (int k = 0; k < 8; k++) {
        count[k] = (list_length(ranks[first + k], total) + CHUNK - 1) / CHUNK;
        mine += count[k];
        out[first + k] = 0;
    }
    unsigned scan = mine;
#pragma unroll
    for (int o = 1; o < 32; o *= 2) {
        unsigned v = __shfl_up_sync(~0u, scan, o);
        if (lane >= o) scan += v;
    }
    if (lane == 31) warps[threadIdx.x / 32] = scan;
    __syncthreads();
    if (threadIdx.x < 32) {
        unsigned w = warps[lane];
#pragma unroll
        for (int o = 1; o < 32; o *= 2) {
            unsigned v = __shfl_up_sync(~0u, w, o);
            if (lane >= o) w += v;
        }
        warps[lane] = w;
    }
    __syncthreads();
    unsigned place = scan - mine + (threadIdx.x < 32 ? 0 : warps[threadIdx.x / 32 - 1]);
    for (int k = 0; k < 8; k++)
        for (unsigned c = 0; c < count[k]; c++) plan[place++] = make_uint2(first + k, c);
    if (threadIdx.x == 1023) *planned = place;
}

extern "C" __global__ void __launch_bounds__(256) zipf_postings_fixed(const unsigned* __restrict__ ranks, const unsigned* __restrict__ postings, const uint2* __restrict__ plan,
                                                                      const unsigned* __restrict__ planned, unsigned* __restrict__ out, unsigned total, unsigned mask) {
    unsigned chunks = *planned;
    for (unsigned j = blockIdx.x; j < chunks; j += gridDim.x) {
        uint2 p = plan[j];
        unsigned rank = ranks[p.x], length = list_length(rank, total), from = p.y * CHUNK;
        unsigned s = block_sum(score_range(postings, list_start(p.x, mask) + from, min(CHUNK, length - from), 64 + (rank >> 6), mask));
        if (threadIdx.x == 0) atomicAdd(&out[p.x], s);
    }
}
