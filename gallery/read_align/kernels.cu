// Local alignment score (Smith-Waterman, linear gaps) of pairs of short reads: 32 bases in a 64-bit word, two bits a base.
// One thread a pair; the current row of the recurrence is in shared memory.
//
// slow: each thread has its 32 cells next to each other, so the same cell of the 32 threads of a warp always lies in the same bank.
//       The match score also comes from a constant table that the lanes index differently, which matters less.
// fixed: the cells of a block are interleaved by thread, and the four scores are bytes of one register.

#define THREADS 128
#define BASES 32
#define GAP 2

typedef unsigned long long u64;

__constant__ int scores[4];  // by the exclusive or of two bases: equal, and three kinds of substitution

struct FromTable {
    __device__ __forceinline__ int operator()(unsigned x) const { return scores[x]; }
};
struct FromBytes {
    unsigned packed;
    __device__ __forceinline__ int operator()(unsigned x) const { return (signed char)(packed >> (8 * x)); }
};

// Cell j of this thread is at row[j * STEP].
template <int STEP, class Score> __device__ __forceinline__ int align(int* row, u64 a, u64 b, int length, Score score) {
    for (int j = 0; j < length; j++) row[j * STEP] = 0;
    int best = 0;
    for (int i = 0; i < length; i++, a >>= 2) {
        unsigned base = (unsigned)a & 3;
        u64 rest = b;
        int diagonal = 0, left = 0;
#pragma unroll 4
        for (int j = 0; j < length; j++, rest >>= 2) {
            int up = row[j * STEP];
            int s = diagonal + score(((unsigned)rest & 3) ^ base);
            s = max(max(s, 0), max(up, left) - GAP);
            row[j * STEP] = s;
            diagonal = up;
            left = s;
            best = max(best, s);
        }
    }
    return best;
}

extern "C" __global__ void __launch_bounds__(THREADS) read_align_slow(const uint2* __restrict__ first, const uint2* __restrict__ second, int* __restrict__ out, int length) {
    __shared__ int rows[THREADS * BASES];
    int i = blockIdx.x * THREADS + threadIdx.x;
    uint2 a = first[i], b = second[i];
    out[i] = align<1>(rows + threadIdx.x * BASES, (u64)a.y << 32 | a.x, (u64)b.y << 32 | b.x, length, FromTable());
}

extern "C" __global__ void __launch_bounds__(THREADS) read_align_fixed(const uint2* __restrict__ first, const uint2* __restrict__ second, int* __restrict__ out, int length) {
    __shared__ int rows[THREADS * BASES];
    int i = blockIdx.x * THREADS + threadIdx.x;
    uint2 a = first[i], b = second[i];
    unsigned packed = 0;
    for (int k = 0; k < 4; k++) packed |= (unsigned)(scores[k] & 255) << (8 * k);
    out[i] = align<THREADS>(rows + threadIdx.x, (u64)a.y << 32 | a.x, (u64)b.y << 32 | b.x, length, FromBytes{packed});
}
