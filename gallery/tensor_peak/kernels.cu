// The steady state of a large bf16 matrix product: each block multiplies the same 128 x 64 by 64 x 128 tiles in shared memory again and
// again and adds the products up. Nothing to mend: the tensor cores are busy nearly all the time. Needs compute capability 9.0a.
#include <cuda_bf16.h>

#define TILE_K 64

// Position of (row, k) in a tile of 8 x 8 core matrices, each 128 bytes in a piece, core matrices along k next to each other.
__device__ __forceinline__ int core(int row, int k) { return (row / 8 * (TILE_K / 8) + k / 8) * 64 + row % 8 * 8 + k % 8; }

// Shared-memory descriptor without swizzle: 128 bytes from core matrix to core matrix along k, 1024 bytes from one group of eight rows to the next.
__device__ __forceinline__ unsigned long long descriptor(const void* p) {
    unsigned long long address = __cvta_generic_to_shared(p);
    return (address & 0x3ffff) >> 4 | (unsigned long long)(128 >> 4) << 16 | (unsigned long long)(1024 >> 4) << 32;
}

#define R8(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])

// d (64 x 128) += a (64 x 16) * b (16 x 128), by the 128 threads of a warp group.
__device__ __forceinline__ void multiply(float (&d)[64], unsigned long long a, unsigned long long b) {
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
        "%64, %65, 1, 1, 1, 0, 0;\n"
        : R8(d, 0), R8(d, 8), R8(d, 16), R8(d, 24), R8(d, 32), R8(d, 40), R8(d, 48), R8(d, 56)
        : "l"(a), "l"(b));
}

extern "C" __global__ void __launch_bounds__(256, 2) tensor_peak_slow(const __nv_bfloat16* __restrict__ A, const __nv_bfloat16* __restrict__ B, float* __restrict__ C, int rounds) {
    __shared__ __align__(128) __nv_bfloat16 As[128 * TILE_K], Bs[128 * TILE_K];
    for (int i = threadIdx.x; i < 128 * TILE_K; i += 256) {
        As[core(i / TILE_K, i % TILE_K)] = A[(size_t)blockIdx.x * 128 * TILE_K + i];
        Bs[core(i / TILE_K, i % TILE_K)] = B[(size_t)blockIdx.x * 128 * TILE_K + i];
    }
    asm volatile("fence.proxy.async.shared::cta;\n" ::: "memory");
    __syncthreads();
    int group = threadIdx.x / 128, warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
    unsigned long long a = descriptor(As + group * 64 * TILE_K), b = descriptor(Bs);
    float d[64];
#pragma unroll
    for (int i = 0; i < 64; i++) d[i] = 0.f;
#pragma unroll 1
    for (int r = 0; r < rounds; r += 4) {
        asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory");
#pragma unroll
        for (int k = 0; k < 16; k++) multiply(d, a + k % 4 * 16, b + k % 4 * 16);
        asm volatile("wgmma.commit_group.sync.aligned;\n" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;\n" ::: "memory");
    }
    float* out = C + (size_t)blockIdx.x * 128 * 128 + (group * 64 + warp * 16 + lane / 4) * 128 + lane % 4 * 2;
#pragma unroll
    for (int j = 0; j < 16; j++) {
        *(float2*)(out + j * 8) = make_float2(d[4 * j], d[4 * j + 1]);
        *(float2*)(out + j * 8 + 8 * 128) = make_float2(d[4 * j + 2], d[4 * j + 3]);
    }
}
