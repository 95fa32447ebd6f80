// Dot product of two vectors of 8-bit integers.
//
// slow: one byte a load. A warp asks for 32 bytes at a time; the load/store unit and the issue slots are full of tiny requests,
//       and too few bytes are in flight.
// fixed: 16 bytes a load and four products an instruction.

__device__ __forceinline__ void add_up(int s, int* out) {
#pragma unroll
    for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
    if (threadIdx.x % 32 == 0) atomicAdd(out, s);
}

extern "C" __global__ void __launch_bounds__(256) int8_dot_slow(const signed char* __restrict__ a, const signed char* __restrict__ b, int* __restrict__ out, int n) {
    int s = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) s += a[i] * b[i];
    add_up(s, out);
}

extern "C" __global__ void __launch_bounds__(256) int8_dot_fixed(const int4* __restrict__ a, const int4* __restrict__ b, int* __restrict__ out, int n) {
    int s = 0;
#pragma unroll 2
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 16; i += gridDim.x * blockDim.x) {
        int4 u = a[i], v = b[i];
        s = __dp4a(u.x, v.x, s);
        s = __dp4a(u.y, v.y, s);
        s = __dp4a(u.z, v.z, s);
        s = __dp4a(u.w, v.w, s);
    }
    add_up(s, out);
}
