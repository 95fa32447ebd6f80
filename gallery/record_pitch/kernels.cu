// Looks up records of eight floats at random and adds each one up; eight lanes share a record.
//
// slow: a ninth float (a tag that this kernel does not need) makes the records 36 bytes long. Seven of eight records start in
//       the middle of a 32-byte sector and touch two of them.
// fixed: the tag lives elsewhere; a record is 32 bytes, aligned, exactly one sector.

__device__ __forceinline__ void lookup(const float* __restrict__ records, const unsigned* __restrict__ index, float* __restrict__ out, int queries, int pitch) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, q = t / 8, k = t % 8;
    if (q >= queries) return;
    float v = records[(size_t)index[q] * pitch + k];
#pragma unroll
    for (int o = 4; o; o >>= 1) v += __shfl_xor_sync(~0u, v, o);
    if (k == 0) out[q] = v;
}

extern "C" __global__ void __launch_bounds__(256) record_pitch_slow(const float* __restrict__ records, const unsigned* __restrict__ index, float* __restrict__ out, int queries) {
    lookup(records, index, out, queries, 9);
}

extern "C" __global__ void __launch_bounds__(256) record_pitch_fixed(const float* __restrict__ records, const unsigned* __restrict__ index, float* __restrict__ out, int queries) {
    lookup(records, index, out, queries, 8);
}
