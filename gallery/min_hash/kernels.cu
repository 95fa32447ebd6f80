// MinHash signatures of documents: for each of 128 hash functions (a x + b) mod p the smallest value over the 512 shingles of a
// document. p is the prime 2^31 - 1. One block a document, one thread a hash function.
//
// slow: the remainder of a 64-bit number by a 64-bit number that is known at run time only: a subroutine of about a hundred
//       instructions for each shingle and function.
// fixed: 2^31 is 1 modulo p, so the upper bits are added to the lower ones, two times. The same values.

constexpr int functions = 128, shingles = 512;

struct Divide {
    unsigned long long p;
    __device__ __forceinline__ unsigned operator()(unsigned long long v) const { return (unsigned)(v % p); }
};

struct Fold {
    __device__ __forceinline__ unsigned operator()(unsigned long long v) const {
        constexpr unsigned p = 0x7fffffff;
        unsigned s = ((unsigned)v & p) + (unsigned)(v >> 31);
        s = (s & p) + (s >> 31);
        return s == p ? 0 : s;
    }
};

template <class Remainder>
__device__ __forceinline__ void signature(const unsigned* __restrict__ text, const uint2* __restrict__ coefficients, unsigned* __restrict__ out, Remainder remainder) {
    __shared__ unsigned x[shingles];
    for (int i = threadIdx.x; i < shingles; i += functions) x[i] = text[(size_t)blockIdx.x * shingles + i];
    __syncthreads();
    uint2 c = coefficients[threadIdx.x];
    unsigned least = ~0u;
#pragma unroll 4
    for (int i = 0; i < shingles; i++) least = min(least, remainder((unsigned long long)c.x * x[i] + c.y));
    out[(size_t)blockIdx.x * functions + threadIdx.x] = least;
}

extern "C" __global__ void __launch_bounds__(functions) min_hash_slow(const unsigned* __restrict__ text, const uint2* __restrict__ coefficients, unsigned* __restrict__ out, long long prime) {
    signature(text, coefficients, out, Divide{(unsigned long long)prime});
}

extern "C" __global__ void __launch_bounds__(functions) min_hash_fixed(const unsigned* __restrict__ text, const uint2* __restrict__ coefficients, unsigned* __restrict__ out, long long prime) {
    signature(text, coefficients, out, Fold());
}
