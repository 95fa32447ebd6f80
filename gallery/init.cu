// Fills and compares buffers for run.py. What a buffer starts with depends only on its line in bench.toml (README.md says how), so
// any other driver can make the same data.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

typedef unsigned u32;
typedef unsigned long long u64;

__device__ u32 mix(u32 x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}
__device__ u32 number(u64 i, u32 seed) { return mix((u32)i ^ mix(seed + 0x9e3779b9u)); }

// A permutation of 0 .. 2^bits - 1 and its inverse.
__device__ u32 permute(u32 x, int bits, u32 seed) {
    u32 mask = bits == 32 ? ~0u : (1u << bits) - 1;
    int half = (bits + 1) / 2;
    for (int r = 0; r < 4; r++) {
        x = (x * 0x2c1b3c6du + mix(seed * 4 + r)) & mask;
        x ^= x >> half;
    }
    return x;
}
__device__ u32 permute_back(u32 x, int bits, u32 seed) {
    u32 mask = bits == 32 ? ~0u : (1u << bits) - 1;
    int half = (bits + 1) / 2;
    u32 inverse = 0x2c1b3c6du;
    for (int k = 0; k < 5; k++) inverse *= 2u - 0x2c1b3c6du * inverse;
    for (int r = 3; r >= 0; r--) {
        x ^= x >> half;
        x = ((x - mix(seed * 4 + r)) * inverse) & mask;
    }
    return x;
}

template <class T> __device__ T from_float(float v) { return (T)v; }
template <> __device__ __half from_float<__half>(float v) { return __float2half_rn(v); }
template <> __device__ __nv_bfloat16 from_float<__nv_bfloat16>(float v) { return __float2bfloat16_rn(v); }

template <class T>
__device__ void fill_float(T* p, u64 n, int mode, double low, double high, u32 seed, u32 take, u32 group, u32 offset) {
    for (u64 j = blockIdx.x * (u64)blockDim.x + threadIdx.x; j < n; j += (u64)gridDim.x * blockDim.x) {
        float v;
        if (mode == 0) v = (float)low;
        else if (mode == 1) v = (float)j;
        else v = (float)low + ((float)high - (float)low) * ((float)(number(j / take * group + offset + j % take, seed) >> 8) * (1.f / 16777216.f));
        p[j] = from_float<T>(v);
    }
}

template <class T>
__device__ void fill_int(T* p, u64 n, int mode, double low, double high, u32 seed, int bits) {
    for (u64 j = blockIdx.x * (u64)blockDim.x + threadIdx.x; j < n; j += (u64)gridDim.x * blockDim.x) {
        u32 step = (u32)high;
        long long v;
        switch (mode) {
            case 0: v = (long long)low; break;
            case 1: v = j; break;
            case 2: v = (long long)low + (long long)(((u64)number(j, seed) * (u64)(long long)(high - low)) >> 32); break;
            case 3: v = number(j, seed); break;
            case 4: v = permute((u32)j, bits, seed); break;
            case 5: v = permute_back((u32)j, bits, seed); break;
            case 6: v = j * step + number(j, seed) % step; break;
            default: { u32 k = permute((u32)j, bits, seed); v = (u64)k * step + number(k, seed) % step; }
        }
        p[j] = (T)v;
    }
}

#define FLOAT(name, type) \
    extern "C" __global__ void fill_##name(type* p, u64 n, int mode, double low, double high, u32 seed, int bits, u32 take, u32 group, u32 offset) { fill_float<type>(p, n, mode, low, high, seed, take, group, offset); }
#define INTEGER(name, type) \
    extern "C" __global__ void fill_##name(type* p, u64 n, int mode, double low, double high, u32 seed, int bits, u32 take, u32 group, u32 offset) { fill_int<type>(p, n, mode, low, high, seed, bits); }
FLOAT(f32, float)
FLOAT(f16, __half)
FLOAT(bf16, __nv_bfloat16)
INTEGER(i8, signed char)
INTEGER(u8, unsigned char)
INTEGER(i32, int)
INTEGER(u32, u32)

// sums[0] += (a - b)^2, sums[1] += b^2, sums[2] += a, sums[3] += b, sums[4] += number of values that are not finite
template <class T>
__device__ void compare(const T* a, const T* b, u64 n, double* sums) {
    double d = 0, s = 0, x = 0, y = 0, bad = 0;
    for (u64 j = blockIdx.x * (u64)blockDim.x + threadIdx.x; j < n; j += (u64)gridDim.x * blockDim.x) {
        double u = (double)(float)a[j], v = (double)(float)b[j];
        if (sizeof(T) == 4 && (T)0.5f == (T)0.f) u = (double)(long long)a[j], v = (double)(long long)b[j];
        d += (u - v) * (u - v);
        s += v * v;
        x += u;
        y += v;
        if (!isfinite(u) || !isfinite(v)) bad += 1;
    }
    atomicAdd(&sums[0], d);
    atomicAdd(&sums[1], s);
    atomicAdd(&sums[2], x);
    atomicAdd(&sums[3], y);
    atomicAdd(&sums[4], bad);
}
#define COMPARE(name, type) \
    extern "C" __global__ void compare_##name(const type* a, const type* b, u64 n, double* sums) { compare<type>(a, b, n, sums); }
COMPARE(f32, float)
COMPARE(f16, __half)
COMPARE(bf16, __nv_bfloat16)
COMPARE(i8, signed char)
COMPARE(u8, unsigned char)
COMPARE(i32, int)
COMPARE(u32, u32)

// Overwrites a buffer larger than L2, so that the next kernel starts with none of its own data in the cache.
extern "C" __global__ void flush(uint4* p, u64 n) {
    for (u64 j = blockIdx.x * (u64)blockDim.x + threadIdx.x; j < n; j += (u64)gridDim.x * blockDim.x) p[j] = make_uint4(1, 2, 3, 4);
}

// Keeps the stream busy for a while, so that what follows is queued before it starts.
extern "C" __global__ void hold(u64 nanoseconds) {
    u64 start, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (now - start < nanoseconds);
}
