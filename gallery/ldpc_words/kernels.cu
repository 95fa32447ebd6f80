// Min-sum decoding of a quasi-cyclic LDPC code (1024 checks of eight bits, 2048 bits in four checks each), one block a word.
//
// slow: the eight messages of a check are neighbours in shared memory, so lanes that are neighbours as bits are eight words
//       apart: eight lanes to a bank. Each iteration also counts the failed checks and adds up the reliability with two trees
//       of eleven barriers each.
// fixed: messages sorted by column block: neighbouring lanes, neighbouring words. The trees stay.

#define CHECKS 1024
#define SHIFT(r, c) (((r) * 67 + (c) * (29 + 18 * (r)) + 5) & 255)

template <bool BY_COLUMN> __device__ __forceinline__ int edge(int check, int c) { return BY_COLUMN ? c * CHECKS + check : check * 8 + c; }

// Bits to checks: each bit subtracts what the check itself has said.
template <bool BY_COLUMN> __device__ __forceinline__ float bit_pass(float* messages, int v, float channel, float damp) {
    int c = v >> 8, j = v & 255;
    float m[4], total = channel;
#pragma unroll
    for (int r = 0; r < 4; r++) {
        m[r] = messages[edge<BY_COLUMN>((r << 8) + ((j - SHIFT(r, c)) & 255), c)];
        total += m[r];
    }
#pragma unroll
    for (int r = 0; r < 4; r++) messages[edge<BY_COLUMN>((r << 8) + ((j - SHIFT(r, c)) & 255), c)] = damp * (total - m[r]);
    return total;
}

// Checks to bits: the product of the other signs and the smallest of the other magnitudes.
template <bool BY_COLUMN> __device__ __forceinline__ void check_pass(float* messages, int check, int& failed, int& reliability) {
    float m[8], least = 1e30f, second = 1e30f;
    unsigned sign = 0;
#pragma unroll
    for (int c = 0; c < 8; c++) {
        m[c] = messages[edge<BY_COLUMN>(check, c)];
        float a = fabsf(m[c]);
        sign ^= __float_as_uint(m[c]);
        second = fminf(second, fmaxf(least, a));
        least = fminf(least, a);
    }
#pragma unroll
    for (int c = 0; c < 8; c++) {
        float a = fabsf(m[c]) == least ? second : least;
        messages[edge<BY_COLUMN>(check, c)] = __uint_as_float(__float_as_uint(0.8f * a) | ((sign ^ __float_as_uint(m[c])) & 0x80000000u));
    }
    failed = sign >> 31;
    reliability = (int)(fminf(least, 16.f) * 256.f);
}

__device__ __forceinline__ int tree_sum(int* work, int x) {
    int t = threadIdx.x;
    work[t] = x;
    __syncthreads();
    for (int s = CHECKS / 2; s; s >>= 1) {
        if (t < s) work[t] += work[t + s];
        __syncthreads();
    }
    int sum = work[0];
    __syncthreads();
    return sum;
}

__device__ __forceinline__ float damping(int failed, int reliability) { return 0.85f + 0.1f * failed / CHECKS + 0.0001f * reliability / CHECKS; }

extern "C" __global__ void __launch_bounds__(1024, 1) ldpc_words_slow(const float* __restrict__ channel, float* __restrict__ out, int iterations) {
    __shared__ float messages[CHECKS * 8];
    __shared__ int work[CHECKS];
    int t = threadIdx.x;
    size_t word = (size_t)blockIdx.x * 2048;
    float first = channel[word + t], second = channel[word + t + 1024], a = 0, b = 0, damp = 1;
    for (int c = 0; c < 8; c++) messages[c * CHECKS + t] = 0;
    __syncthreads();
    for (int it = 0; it < iterations; it++) {
        a = bit_pass<false>(messages, t, first, damp);
        b = bit_pass<false>(messages, t + 1024, second, damp);
        __syncthreads();
        int failed, reliability;
        check_pass<false>(messages, t, failed, reliability);
        failed = tree_sum(work, failed);
        reliability = tree_sum(work, reliability);
        damp = damping(failed, reliability);
    }
    out[word + t] = a;
    out[word + t + 1024] = b;
}

extern "C" __global__ void __launch_bounds__(1024, 1) ldpc_words_fixed(const float* __restrict__ channel, float* __restrict__ out, int iterations) {
    __shared__ float messages[CHECKS * 8];
    __shared__ int work[CHECKS];
    int t = threadIdx.x;
    size_t word = (size_t)blockIdx.x * 2048;
    float first = channel[word + t], second = channel[word + t + 1024], a = 0, b = 0, damp = 1;
    for (int c = 0; c < 8; c++) messages[c * CHECKS + t] = 0;
    __syncthreads();
    for (int it = 0; it < iterations; it++) {
        a = bit_pass<true>(messages, t, first, damp);
        b = bit_pass<true>(messages, t + 1024, second, damp);
        __syncthreads();
        int failed, reliability;
        check_pass<true>(messages, t, failed, reliability);
        failed = tree_sum(work, failed);
        reliability = tree_sum(work, reliability);
        damp = damping(failed, reliability);
    }
    out[word + t] = a;
    out[word + t + 1024] = b;
}
