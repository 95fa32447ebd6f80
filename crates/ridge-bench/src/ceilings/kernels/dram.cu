// Device memory. Every thread moves 16 bytes at a time, ITEMS of them before it uses the first: with one load in flight
// for each thread, no occupancy fills the memory of a large GPU.
typedef unsigned int u32;
typedef unsigned long long u64;

// STREAMING loads and stores leave the caches first.
template <int STREAMING> __device__ __forceinline__ uint4 load(const uint4* from) {
    uint4 v;
    if (STREAMING)
        asm volatile("ld.global.cs.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(from));
    else
        asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(from));
    return v;
}

template <int STREAMING> __device__ __forceinline__ void store(uint4* to, uint4 v) {
    if (STREAMING)
        asm volatile("st.global.cs.v4.u32 [%0], {%1, %2, %3, %4};"
                     :: "l"(to), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
    else
        asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};"
                     :: "l"(to), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
}

// Repeats a pattern of `period` items, a power of two, through a buffer: what is read later is random and known.
__global__ void spread(uint4* to, const uint4* pattern, u64 count, u64 period) {
    u64 step = (u64)gridDim.x * blockDim.x;
    for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
        to[i] = pattern[i & (period - 1)];
}

// `count` is a multiple of what a block does in one turn. A grid of count / (ITEMS * blockDim.x) blocks has one turn each.
template <int ITEMS, int STREAMING> __global__ void copy(uint4* to, const uint4* from, u64 count) {
    u64 turn = (u64)ITEMS * blockDim.x;
    for (u64 base = blockIdx.x * turn + threadIdx.x; base < count; base += gridDim.x * turn) {
        uint4 v[ITEMS];
#pragma unroll
        for (int k = 0; k < ITEMS; k++) v[k] = load<STREAMING>(from + base + (u64)k * blockDim.x);
#pragma unroll
        for (int k = 0; k < ITEMS; k++) store<STREAMING>(to + base + (u64)k * blockDim.x, v[k]);
    }
}

// Sums all words; one value for each block is added to `sum`, so that nothing is written back that counts.
template <int ITEMS, int STREAMING> __global__ void read(u32* sum, const uint4* from, u64 count) {
    __shared__ u32 all;
    if (threadIdx.x == 0) all = 0;
    __syncthreads();
    u32 own = 0;
    u64 turn = (u64)ITEMS * blockDim.x;
    for (u64 base = blockIdx.x * turn + threadIdx.x; base < count; base += gridDim.x * turn) {
        uint4 v[ITEMS];
#pragma unroll
        for (int k = 0; k < ITEMS; k++) v[k] = load<STREAMING>(from + base + (u64)k * blockDim.x);
#pragma unroll
        for (int k = 0; k < ITEMS; k++) own += v[k].x + v[k].y + v[k].z + v[k].w;
    }
#pragma unroll
    for (int lane = 16; lane > 0; lane >>= 1) own += __shfl_down_sync(0xffffffffu, own, lane);
    if (threadIdx.x % 32 == 0) atomicAdd(&all, own);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(sum, all);
}

// Writes a value that depends on the place, and repeats with the same period as the pattern.
template <int ITEMS, int STREAMING> __global__ void write(uint4* to, u64 count, u32 mask, u32 factor) {
    u64 turn = (u64)ITEMS * blockDim.x;
    for (u64 base = blockIdx.x * turn + threadIdx.x; base < count; base += gridDim.x * turn) {
#pragma unroll
        for (int k = 0; k < ITEMS; k++) {
            u64 i = base + (u64)k * blockDim.x;
            u32 x = ((u32)i & mask) * factor;
            store<STREAMING>(to + i, make_uint4(x, x + 1, x + 2, x + 3));
        }
    }
}

template <int ITEMS, int STREAMING>
__global__ void triad(uint4* to, const uint4* left, const uint4* right, float factor, u64 count) {
    u64 turn = (u64)ITEMS * blockDim.x;
    for (u64 base = blockIdx.x * turn + threadIdx.x; base < count; base += gridDim.x * turn) {
        uint4 a[ITEMS], b[ITEMS];
#pragma unroll
        for (int k = 0; k < ITEMS; k++) {
            a[k] = load<STREAMING>(left + base + (u64)k * blockDim.x);
            b[k] = load<STREAMING>(right + base + (u64)k * blockDim.x);
        }
#pragma unroll
        for (int k = 0; k < ITEMS; k++) {
            uint4 r;
            r.x = __float_as_uint(__fmaf_rn(factor, __uint_as_float(b[k].x), __uint_as_float(a[k].x)));
            r.y = __float_as_uint(__fmaf_rn(factor, __uint_as_float(b[k].y), __uint_as_float(a[k].y)));
            r.z = __float_as_uint(__fmaf_rn(factor, __uint_as_float(b[k].z), __uint_as_float(a[k].z)));
            r.w = __float_as_uint(__fmaf_rn(factor, __uint_as_float(b[k].w), __uint_as_float(a[k].w)));
            store<STREAMING>(to + base + (u64)k * blockDim.x, r);
        }
    }
}
