// Arithmetic of threads: chains of one instruction, eight of them independent in each thread. The start of a chain depends
// on the lane and the chain, so that the host can compute what comes out.
typedef unsigned int u32;
typedef unsigned long long u64;

// x = x * a + b, where a is a little above -1: values that neither grow nor settle.
struct Fp32 {
    typedef float T;
    static __device__ __forceinline__ void step(T& x, T a, T b) {
        asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x) : "f"(a), "f"(b));
    }
    static __device__ __forceinline__ u32 bits(T x) { return __float_as_uint(x); }
};
struct Fp64 {
    typedef double T;
    static __device__ __forceinline__ void step(T& x, T a, T b) {
        asm volatile("fma.rn.f64 %0, %0, %1, %2;" : "+d"(x) : "d"(a), "d"(b));
    }
    static __device__ __forceinline__ u32 bits(T x) {
        u64 all = (u64)__double_as_longlong(x);
        return (u32)all ^ (u32)(all >> 32);
    }
};
struct Half2 {
    typedef u32 T;
    static __device__ __forceinline__ void step(T& x, T a, T b) {
        asm volatile("fma.rn.f16x2 %0, %0, %1, %2;" : "+r"(x) : "r"(a), "r"(b));
    }
    static __device__ __forceinline__ u32 bits(T x) { return x; }
};
struct Multiply {
    typedef u32 T;
    static __device__ __forceinline__ void step(T& x, T a, T b) {
        asm volatile("mad.lo.u32 %0, %0, %1, %2;" : "+r"(x) : "r"(a), "r"(b));
    }
    static __device__ __forceinline__ u32 bits(T x) { return x; }
};
// The compiler knows that the reciprocal of a reciprocal is what there was; of this one it does not.
struct RootReciprocal {
    typedef float T;
    static __device__ __forceinline__ void step(T& x, T, T) {
        asm volatile("rsqrt.approx.ftz.f32 %0, %0;" : "+f"(x));
    }
    static __device__ __forceinline__ u32 bits(T x) { return __float_as_uint(x); }
};

// `starts` has eight values for each of eight lanes.
template <class Op, int UNROLL>
__global__ void chains(u32* out, const typename Op::T* starts, typename Op::T a, typename Op::T b, u32 steps) {
    typename Op::T x[8];
#pragma unroll
    for (int c = 0; c < 8; c++) x[c] = starts[(threadIdx.x % 8) * 8 + c];
#pragma unroll 1
    for (u32 s = 0; s < steps; s += UNROLL) {
#pragma unroll
        for (int u = 0; u < UNROLL; u++)
#pragma unroll
            for (int c = 0; c < 8; c++) Op::step(x[c], a, b);
    }
    u32 all = 0;
#pragma unroll
    for (int c = 0; c < 8; c++) all = all * 31 + Op::bits(x[c]);
    out[(u64)blockIdx.x * blockDim.x + threadIdx.x] = all;
}

// Additions of three terms, which only the integer units take: the compiler turns additions of two terms into
// multiply-adds where that balances the pipes. The last term of a chain is the chain before it, so that none can be folded.
template <int UNROLL> __global__ void additions(u32* out, const u32* starts, u32 a, u32 steps) {
    u32 x[8];
#pragma unroll
    for (int c = 0; c < 8; c++) x[c] = starts[(threadIdx.x % 8) * 8 + c];
#pragma unroll 1
    for (u32 s = 0; s < steps; s += UNROLL) {
#pragma unroll
        for (int u = 0; u < UNROLL; u++)
#pragma unroll
            for (int c = 0; c < 8; c++) x[c] = x[c] + x[(c + 3) % 8] + a;
    }
    u32 all = 0;
#pragma unroll
    for (int c = 0; c < 8; c++) all = all * 31 + x[c];
    out[(u64)blockIdx.x * blockDim.x + threadIdx.x] = all;
}
