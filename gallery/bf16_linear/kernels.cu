// A linear layer: C = A * W^T with bf16 inputs, both with k running along the rows, and a float result.
//
// slow: a well-tiled kernel that converts its operands to float and multiplies on the FMA pipes.
// fixed: the same tile on the tensor cores (ldmatrix and mma).
#include <cuda_bf16.h>

__device__ __forceinline__ float2 unpack(unsigned u) { return make_float2(__uint_as_float(u << 16), __uint_as_float(u & 0xffff0000u)); }

extern "C" __global__ void __launch_bounds__(256) bf16_linear_slow(const __nv_bfloat16* __restrict__ A, const __nv_bfloat16* __restrict__ W, float* __restrict__ C, int n, int k) {
    __shared__ __align__(16) float As[8][132], Ws[8][132];
    int t = threadIdx.x, tx = t % 16, ty = t / 16, r = t / 2, c = t % 2 * 4;
    const __nv_bfloat16* a = A + (size_t)(blockIdx.y * 128 + r) * k + c;
    const __nv_bfloat16* w = W + (size_t)(blockIdx.x * 128 + r) * k + c;
    float acc[8][8] = {};
    for (int k0 = 0; k0 < k; k0 += 8) {
        uint2 u = *(const uint2*)(a + k0), v = *(const uint2*)(w + k0);
        float2 u0 = unpack(u.x), u1 = unpack(u.y), v0 = unpack(v.x), v1 = unpack(v.y);
        __syncthreads();
        As[c][r] = u0.x;
        As[c + 1][r] = u0.y;
        As[c + 2][r] = u1.x;
        As[c + 3][r] = u1.y;
        Ws[c][r] = v0.x;
        Ws[c + 1][r] = v0.y;
        Ws[c + 2][r] = v1.x;
        Ws[c + 3][r] = v1.y;
        __syncthreads();
#pragma unroll
        for (int j = 0; j < 8; j++) {
            float x[8], y[8];
            *(float4*)&x[0] = *(const float4*)&As[j][ty * 4];
            *(float4*)&x[4] = *(const float4*)&As[j][64 + ty * 4];
            *(float4*)&y[0] = *(const float4*)&Ws[j][tx * 4];
            *(float4*)&y[4] = *(const float4*)&Ws[j][64 + tx * 4];
#pragma unroll
            for (int p = 0; p < 8; p++)
#pragma unroll
                for (int q = 0; q < 8; q++) acc[p][q] += x[p] * y[q];
        }
    }
#pragma unroll
    for (int p = 0; p < 8; p++) {
        size_t row = blockIdx.y * 128 + p / 4 * 64 + ty * 4 + p % 4;
        float* out = C + row * n + blockIdx.x * 128 + tx * 4;
        *(float4*)out = make_float4(acc[p][0], acc[p][1], acc[p][2], acc[p][3]);
        *(float4*)(out + 64) = make_float4(acc[p][4], acc[p][5], acc[p][6], acc[p][7]);
    }
}

// Four 8 x 8 pieces of a tile in shared memory; lane l names the row of piece l / 8.
__device__ __forceinline__ void load4(unsigned (&r)[4], const __nv_bfloat16* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"((unsigned)__cvta_generic_to_shared(row)));
}

// c (16 x 8) += a (16 x 16) * b (16 x 8)
__device__ __forceinline__ void multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

extern "C" __global__ void __launch_bounds__(256, 2) bf16_linear_fixed(const __nv_bfloat16* __restrict__ A, const __nv_bfloat16* __restrict__ W, float* __restrict__ C, int n, int k) {
    __shared__ __align__(128) __nv_bfloat16 As[128][40], Ws[128][40];
    int t = threadIdx.x, warp = t / 32, lane = t % 32, wy = warp / 2, wx = warp % 2, r = t / 4, c = t % 4 * 8;
    float acc[2][8][4] = {};
#pragma unroll 1
    for (int k0 = 0; k0 < k; k0 += 32) {
        uint4 u[2], v[2];
#pragma unroll
        for (int j = 0; j < 2; j++) {
            u[j] = *(const uint4*)(A + (size_t)(blockIdx.y * 128 + j * 64 + r) * k + k0 + c);
            v[j] = *(const uint4*)(W + (size_t)(blockIdx.x * 128 + j * 64 + r) * k + k0 + c);
        }
        __syncthreads();
#pragma unroll
        for (int j = 0; j < 2; j++) {
            *(uint4*)&As[j * 64 + r][c] = u[j];
            *(uint4*)&Ws[j * 64 + r][c] = v[j];
        }
        __syncthreads();
#pragma unroll
        for (int kk = 0; kk < 32; kk += 16) {
            unsigned a[2][4], b[4][4];
#pragma unroll
            for (int p = 0; p < 2; p++) load4(a[p], &As[wy * 32 + p * 16 + lane % 16][kk + lane / 16 * 8]);
#pragma unroll
            for (int q = 0; q < 4; q++) load4(b[q], &Ws[wx * 64 + q * 16 + lane / 16 * 8 + lane % 8][kk + lane / 8 % 2 * 8]);
#pragma unroll
            for (int p = 0; p < 2; p++)
#pragma unroll
                for (int q = 0; q < 8; q++) multiply(acc[p][q], a[p], b[q / 2][q % 2 * 2], b[q / 2][q % 2 * 2 + 1]);
        }
    }
#pragma unroll
    for (int p = 0; p < 2; p++)
#pragma unroll
        for (int q = 0; q < 8; q++) {
            size_t row = blockIdx.y * 128 + wy * 32 + p * 16 + lane / 4;
            float* out = C + row * n + blockIdx.x * 128 + wx * 64 + q * 8 + lane % 4 * 2;
            *(float2*)out = make_float2(acc[p][q][0], acc[p][q][1]);
            *(float2*)(out + 8 * n) = make_float2(acc[p][q][2], acc[p][q][3]);
        }
}
