// Digests of records of 64 bytes with the compression function of BLAKE2s; word w of record i is at words[w * records + i].
//
// slow: 1024 threads a block, sixteen records a thread. The registers let one block run on an SM, and there are eight blocks more than SMs:
//       the second wave takes as long as the first and uses eight SMs.
// fixed: 256 threads a block, one record a thread: the same work in pieces that are a sixty-fourth as large.

__device__ constexpr unsigned char sigma[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};

__device__ __forceinline__ unsigned rotate(unsigned x, int n) { return __funnelshift_r(x, x, n); }

__device__ __forceinline__ void mix(unsigned& a, unsigned& b, unsigned& c, unsigned& d, unsigned x, unsigned y) {
    a += b + x;
    d = rotate(d ^ a, 16);
    c += d;
    b = rotate(b ^ c, 12);
    a += b + y;
    d = rotate(d ^ a, 8);
    c += d;
    b = rotate(b ^ c, 7);
}

__device__ __forceinline__ uint2 digest(const unsigned* __restrict__ words, int records, int i, unsigned key) {
    unsigned m[16];
#pragma unroll
    for (int w = 0; w < 16; w++) m[w] = words[(size_t)w * records + i];
    unsigned v[16] = {0x6b08e647u ^ key, 0xbb67ae85u, 0x3c6ef372u, 0xa54ff53au, 0x510e527fu, 0x9b05688cu, 0x1f83d9abu, 0x5be0cd19u,
                      0x6a09e667u, 0xbb67ae85u, 0x3c6ef372u, 0xa54ff53au, 0x510e527fu ^ 64u, 0x9b05688cu, ~0x1f83d9abu, 0x5be0cd19u};
#pragma unroll
    for (int r = 0; r < 10; r++) {
#pragma unroll
        for (int k = 0; k < 4; k++) mix(v[k], v[4 + k], v[8 + k], v[12 + k], m[sigma[r][2 * k]], m[sigma[r][2 * k + 1]]);
#pragma unroll
        for (int k = 0; k < 4; k++) mix(v[k], v[4 + (k + 1) % 4], v[8 + (k + 2) % 4], v[12 + (k + 3) % 4], m[sigma[r][8 + 2 * k]], m[sigma[r][9 + 2 * k]]);
    }
    return make_uint2(0x6b08e647u ^ key ^ v[0] ^ v[8], 0xbb67ae85u ^ v[1] ^ v[9]);
}

extern "C" __global__ void __launch_bounds__(1024, 1) record_digests_slow(const unsigned* __restrict__ words, uint2* __restrict__ out, int records, int each, unsigned key) {
#pragma unroll 1
    for (int j = 0; j < each; j++) {
        int i = (blockIdx.x * each + j) * 1024 + threadIdx.x;
        out[i] = digest(words, records, i, key);
    }
}

extern "C" __global__ void __launch_bounds__(256, 4) record_digests_fixed(const unsigned* __restrict__ words, uint2* __restrict__ out, int records, unsigned key) {
    int i = blockIdx.x * 256 + threadIdx.x;
    out[i] = digest(words, records, i, key);
}
