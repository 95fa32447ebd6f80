// A soft limiter for 16-bit float audio: a rational approximation of tanh behind a gain.
//
// slow: a grid-stride loop with one sample an iteration: a warp has 64 bytes in flight, and the next load is behind the store of this one
//       (in and out may overlap as far as the compiler knows).
// fixed: eight samples an iteration, one 128-bit load and store.
#include <cuda_fp16.h>

__device__ __forceinline__ float limit(float x, float gain) {
    x = fminf(fmaxf(x * gain, -3.f), 3.f);
    float q = x * x;
    return x * __fdividef(27.f + q, 27.f + 9.f * q);
}

extern "C" __global__ void __launch_bounds__(512) soft_limiter_slow(const __half* in, __half* out, int n, float gain) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = __float2half_rn(limit(__half2float(in[i]), gain));
}

__device__ __forceinline__ unsigned pair(unsigned p, float gain) {
    float2 v = __half22float2(*reinterpret_cast<__half2*>(&p));
    __half2 r = __floats2half2_rn(limit(v.x, gain), limit(v.y, gain));
    return *reinterpret_cast<unsigned*>(&r);
}

extern "C" __global__ void __launch_bounds__(512) soft_limiter_fixed(const uint4* in, uint4* out, int n8, float gain) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n8; i += gridDim.x * blockDim.x) {
        uint4 v = in[i];
        v.x = pair(v.x, gain);
        v.y = pair(v.y, gain);
        v.z = pair(v.z, gain);
        v.w = pair(v.w, gain);
        out[i] = v;
    }
}
