// L2, L1 and shared memory: the same data again and again.
typedef unsigned int u32;
typedef unsigned long long u64;

// `parts` blocks of data of 16 * ITEMS * blockDim.x bytes; each pass another SM reads a part, as `shift` is no multiple of
// the SMs. Loads go past the L1.
template <int ITEMS>
__global__ void l2(u32* sum, const uint4* from, u32 parts, u32 passes, u32 shift) {
    u32 own = 0;
    u32 turn = ITEMS * blockDim.x;
    for (u32 pass = 0; pass < passes; pass++) {
        // Every block reads `parts / gridDim.x` parts in a pass, at least one.
        for (u32 p = blockIdx.x; p < max(parts, gridDim.x); p += gridDim.x) {
            u32 part = (p + pass * shift) % parts;
            const uint4* base = from + (u64)part * turn + threadIdx.x;
            uint4 v[ITEMS];
#pragma unroll
            for (int k = 0; k < ITEMS; k++)
                asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                             : "=r"(v[k].x), "=r"(v[k].y), "=r"(v[k].z), "=r"(v[k].w)
                             : "l"(base + k * blockDim.x));
#pragma unroll
            for (int k = 0; k < ITEMS; k++) own += v[k].x + v[k].y + v[k].z + v[k].w;
        }
    }
    atomicAdd(sum, own);
}

template <int WORDS> struct Words;
template <> struct Words<1> {
    static __device__ __forceinline__ u32 load(const u32* p) {
        u32 a;
        asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(a) : "l"(p));
        return a;
    }
};
template <> struct Words<2> {
    static __device__ __forceinline__ u32 load(const u32* p) {
        u32 a, b;
        asm volatile("ld.global.ca.v2.u32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "l"(p));
        return a + b;
    }
};
template <> struct Words<4> {
    static __device__ __forceinline__ u32 load(const u32* p) {
        u32 a, b, c, d;
        asm volatile("ld.global.ca.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(p));
        return a + b + c + d;
    }
};

// 512 threads read within 16 KiB, neighbours neighbours. The base moves with each turn of the loop and the eight loads of a
// turn have eight addresses: else the compiler loads once, in front of the loop.
template <int WORDS> __global__ void l1(u32* sum, const u32* from, u32 passes) {
    const u32* base = from + threadIdx.x * WORDS;
    u32 own = 0;
#pragma unroll 1
    for (u32 pass = 0; pass < passes; pass += 8) {
        const u32* p = base + (pass & 8) * 128;
#pragma unroll
        for (int k = 0; k < 8; k++) own += Words<WORDS>::load(p + k * 128);
    }
    atomicAdd(sum, own);
}

// The same from shared memory, 16 bytes each: no bank is asked twice at a time.
__global__ void shared_read(u32* sum, const uint4* from, u32 passes) {
    __shared__ uint4 data[1024];
    data[threadIdx.x] = from[threadIdx.x];
    data[threadIdx.x + 512] = from[threadIdx.x + 512];
    __syncthreads();
    u32 base = (u32)__cvta_generic_to_shared(data + threadIdx.x);
    u32 own = 0;
#pragma unroll 1
    for (u32 pass = 0; pass < passes; pass += 8) {
        u32 p = base + (pass & 8) * 512;
#pragma unroll
        for (int k = 0; k < 8; k++) {
            u32 a, b, c, d;
            asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                         : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(p + k * 512));
            own += a + b + c + d;
        }
    }
    atomicAdd(sum, own);
}
