// Matrix instructions of one warp (mma.sync): eight accumulators for each warp, and signs that change with each step, so
// that sums stay where they are representable.
typedef unsigned int u32;
typedef unsigned long long u64;

#define ARCH (__CUDA_ARCH__)

struct Fp16 { // m16n8k16, or m16n8k8 before 8.0
    typedef float D;
    static const u32 SIGN = 0x80008000u;
    static __device__ __forceinline__ void step(D (&d)[4], const u32 (&a)[4], const u32 (&b)[2]) {
#if ARCH >= 800
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#elif ARCH >= 750
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(b[0]));
#endif
    }
};
struct Fp16Sum16 {
    typedef u32 D;
    static const u32 SIGN = 0x80008000u;
    static __device__ __forceinline__ void step(D (&d)[4], const u32 (&a)[4], const u32 (&b)[2]) {
#if ARCH >= 800
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"
            : "+r"(d[0]), "+r"(d[1]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#elif ARCH >= 750
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3}, {%4}, {%0,%1};"
            : "+r"(d[0]), "+r"(d[1]) : "r"(a[0]), "r"(a[1]), "r"(b[0]));
#endif
    }
};
struct Bf16 {
    typedef float D;
    static const u32 SIGN = 0x80008000u;
    static __device__ __forceinline__ void step(D (&d)[4], const u32 (&a)[4], const u32 (&b)[2]) {
#if ARCH >= 800
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
    }
};
struct Tf32 {
    typedef float D;
    static const u32 SIGN = 0x80000000u;
    static __device__ __forceinline__ void step(D (&d)[4], const u32 (&a)[4], const u32 (&b)[2]) {
#if ARCH >= 800
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
    }
};
struct Int8 { // m16n8k32, or m8n8k16 before 8.0
    typedef int D;
    static const u32 SIGN = 0xffffffffu; // -x - 1: near enough to a change of sign that sums stay small.
    static __device__ __forceinline__ void step(D (&d)[4], const u32 (&a)[4], const u32 (&b)[2]) {
#if ARCH >= 800
        asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#elif ARCH >= 750
        asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0,%1}, {%2}, {%3}, {%0,%1};"
            : "+r"(d[0]), "+r"(d[1]) : "r"(a[0]), "r"(b[0]));
#endif
    }
};
struct Fp8 {
    typedef float D;
    static const u32 SIGN = 0x80808080u;
    static __device__ __forceinline__ void step(D (&d)[4], const u32 (&a)[4], const u32 (&b)[2]) {
#if ARCH >= 890
        asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
    }
};

template <class Op, int UNROLL> __global__ void products(u32* out, const u32* operands, u32 steps) {
    typename Op::D d[8][4];
    u32 a[2][4], b[2];
    const u32* own = operands + threadIdx.x % 32 * 8;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        a[0][k] = own[k];
        a[1][k] = own[k] ^ Op::SIGN;
    }
    b[0] = own[4];
    b[1] = own[5];
#pragma unroll
    for (int c = 0; c < 8; c++)
#pragma unroll
        for (int k = 0; k < 4; k++) d[c][k] = 0;
#pragma unroll 1
    for (u32 s = 0; s < steps; s += UNROLL) {
#pragma unroll
        for (int u = 0; u < UNROLL; u++)
#pragma unroll
            for (int c = 0; c < 8; c++) Op::step(d[c], a[u % 2], b);
    }
    // One step more, so that something is left.
    u32 all = 0;
#pragma unroll
    for (int c = 0; c < 8; c++) {
        Op::step(d[c], a[0], b);
#pragma unroll
        for (int k = 0; k < 4; k++) all = all * 31 + *(u32*)&d[c][k];
    }
    out[(u64)blockIdx.x * blockDim.x + threadIdx.x] = all;
}

// Double precision: m16n8k16 from 9.0 on, m8n8k4 on 8.x.
template <int UNROLL> __global__ void products_fp64(u32* out, const double* operands, u32 steps) {
    double d[8][4], a[8], b[4];
    const double* own = operands + threadIdx.x % 32 * 12;
#pragma unroll
    for (int k = 0; k < 8; k++) a[k] = own[k];
#pragma unroll
    for (int k = 0; k < 4; k++) b[k] = own[8 + k];
#pragma unroll
    for (int c = 0; c < 8; c++)
#pragma unroll
        for (int k = 0; k < 4; k++) d[c][k] = 0;
#pragma unroll 1
    for (u32 s = 0; s < steps; s += UNROLL) {
#pragma unroll
        for (int u = 0; u < UNROLL; u++)
#pragma unroll
            for (int c = 0; c < 8; c++) {
#if ARCH >= 900
                asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7,%8,%9,%10,%11}, {%12,%13,%14,%15}, {%0,%1,%2,%3};"
                    : "+d"(d[c][0]), "+d"(d[c][1]), "+d"(d[c][2]), "+d"(d[c][3])
                    : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]),
                      "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
#elif ARCH >= 800
                asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                    : "+d"(d[c][0]), "+d"(d[c][1]) : "d"(a[0]), "d"(b[0]));
#endif
            }
    }
    u32 all = 0;
#pragma unroll
    for (int c = 0; c < 8; c++)
#pragma unroll
        for (int k = 0; k < 4; k++) {
            u64 bits = (u64)__double_as_longlong(d[c][k]);
            all = all * 31 + ((u32)bits ^ (u32)(bits >> 32));
        }
    out[(u64)blockIdx.x * blockDim.x + threadIdx.x] = all;
}
