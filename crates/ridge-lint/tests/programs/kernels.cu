#include <cooperative_groups.h>
namespace cg = cooperative_groups;
#define BLOCK_SIZE 256
// divergent barrier
__global__ void reduceBad(const float* __restrict__ in, float* __restrict__ out, int n) {
    __shared__ float s[BLOCK_SIZE];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        s[threadIdx.x] = in[i];
        __syncthreads(); // expect: divergent-barrier
    }
    for (int o = blockDim.x / 2; o > 0; o >>= 1) {
        if (threadIdx.x < o) {
            s[threadIdx.x] += s[threadIdx.x + o];
            __syncthreads(); // expect: divergent-barrier
        }
    }
    if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}
__global__ void reduceGood(const float* __restrict__ in, float* __restrict__ out, int n) {
    __shared__ float s[BLOCK_SIZE];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = i < n ? in[i] : 0.f;
    __syncthreads();
    for (int o = blockDim.x / 2; o > 0; o >>= 1) {
        if (threadIdx.x < o) s[threadIdx.x] += s[threadIdx.x + o];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}
__global__ void cgBad(float* x, int n) {
    cg::thread_block block = cg::this_thread_block();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        x[i] *= 2.0f;
        block.sync(); // expect: divergent-barrier
    }
}
__global__ void cgGood(float* x, int n) {
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<32>(block);
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2.0f;
    block.sync();
    if (threadIdx.x < 32) { tile.sync(); x[i] += 1.0f; }
}
__global__ void loopBad(float* x, int n) {
    __shared__ float s[BLOCK_SIZE];
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        s[threadIdx.x] = x[i];
        __syncthreads(); // expect: divergent-barrier
        x[i] = s[BLOCK_SIZE - 1 - threadIdx.x];
    }
}
__global__ void elseBad(float* x) {
    if (threadIdx.x % 2 == 0) { x[threadIdx.x] = 1; } else { x[threadIdx.x] = 2; __syncthreads(); } // expect: divergent-barrier
}
// atomics
__global__ void sumBad(const int* __restrict__ in, int* total, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(total, in[i]); // expect: atomic-same-address
}
__device__ int counter;
__global__ void countBad(const int* __restrict__ in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&counter, in[i]); // expect: atomic-same-address
}
__global__ void sumGood(const int* __restrict__ in, int* total, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = i < n ? in[i] : 0;
    for (int o = 16; o > 0; o /= 2) v += __shfl_down_sync(0xffffffffu, v, o);
    if (threadIdx.x % 32 == 0) atomicAdd(total, v);
}
__global__ void sumGood2(const int* __restrict__ in, int* total, int n) {
    __shared__ int s;
    if (threadIdx.x == 0) s = 0;
    __syncthreads();
    int local = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) local += in[i];
    local = __reduce_add_sync(0xffffffffu, local);
    int lane = threadIdx.x & 31;
    if (lane == 0) atomicAdd(&s, local);
    __syncthreads();
    if (!threadIdx.x) atomicAdd(total, s);
}
__global__ void histGood(const unsigned char* __restrict__ in, unsigned* hist, int n) {
    __shared__ unsigned h[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) h[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&h[in[i]], 1u); // expect: narrow-elements
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&hist[i], h[i]);
}
__global__ void maxBad(const int* __restrict__ in, int* m, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicMax(&m[0], in[i]); // expect: atomic-same-address
}
__global__ void cudaStdBad(int n, unsigned long long* c) {
    unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
    if (i < n) atomicCAS(c, i, i + 1);
}
// division
__global__ void unflatten(const float* __restrict__ in, float* __restrict__ out, int W, int H, int C, int n) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx >= n) return;
    int w = idx % W; // expect: slow-division
    int h = (idx / W) % H;
    int c = idx / (W * H);
    out[idx] = in[(h * W + w) * C + c];
}
__global__ void ringBad(const float* __restrict__ in, float* __restrict__ out, int n, int period, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int k = 0; k < steps; k++) s += in[(i + k) % period]; // expect: slow-division
    if (i < n) out[i] = s;
}
__global__ void ringGood(const float* __restrict__ in, float* __restrict__ out, int n, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int k = 0; k < steps; k++) s += in[(i + k) % 1024];
    if (i < n) out[i] = s;
}
__global__ void gridStrideDiv(const int* __restrict__ in, int* __restrict__ out, int n, int cols) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int r = i / cols, c = i % cols; // expect: slow-division
        out[c * (n / cols) + r] = in[i];
    }
}
template <int COLS> __global__ void gridStrideDivGood(const int* __restrict__ in, int* __restrict__ out, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int r = i / COLS, c = i % COLS;
        out[c * (n / COLS) + r] = in[i];
    }
}
// local arrays
__global__ void localBad(const int* __restrict__ in, int* __restrict__ out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int hist[16] = {0};
    for (int k = 0; k < 32; k++) hist[in[i * 32 + k] & 15]++; // expect: indexed-local-array, strided-access
    int best = 0;
    for (int k = 1; k < 16; k++) if (hist[k] > hist[best]) best = k;
    out[i] = best;
}
__global__ void localGood(const float* __restrict__ in, float* __restrict__ out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float r[8];
#pragma unroll
    for (int k = 0; k < 8; k++) r[k] = in[k * n + i];
    float s = 0;
#pragma unroll
    for (int k = 0; k < 8; k++) s += r[k] * r[7 - k];
    out[i] = s;
}
__global__ void localParam(const float* __restrict__ in, float* __restrict__ out, int n, int which) {
    float v[4] = {in[threadIdx.x], in[threadIdx.x + n], in[threadIdx.x + 2 * n], in[threadIdx.x + 3 * n]};
    out[threadIdx.x] = v[which]; // expect: indexed-local-array
}
__global__ void localLoop(const float* __restrict__ in, float* __restrict__ out, int n, int m) {
    float v[64];
    for (int k = 0; k < m; k++) v[k] = in[k * n + threadIdx.x]; // expect: indexed-local-array
    float s = 0;
    for (int k = m - 1; k >= 0; k--) s = s * 0.5f + v[k];
    out[threadIdx.x] = s;
}
__global__ void insertion(const float* __restrict__ d, float* __restrict__ out, int n) {
    float best[8]; int cnt = 0;
    for (int k = 0; k < 8; k++) best[k] = 1e30f;
    for (int i = 0; i < n; i++) {
        float v = d[i * 32 + threadIdx.x];
        int j = 7;
        while (j > 0 && best[j - 1] > v) { best[j] = best[j - 1]; j--; } // expect: indexed-local-array
        best[j] = v;
    }
    out[threadIdx.x] = best[0];
}
// narrow
__global__ void bytesBad(const unsigned char* __restrict__ in, unsigned char* __restrict__ out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 255 - in[i]; // expect: narrow-elements
}
__global__ void bytesLoop(const unsigned char* __restrict__ in, unsigned char* __restrict__ out, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = 255 - in[i]; // expect: narrow-elements
}
__global__ void bytesGood(const uchar4* __restrict__ in, uchar4* __restrict__ out, int n4) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n4; i += gridDim.x * blockDim.x) { uchar4 v = in[i]; v.x = 255 - v.x; out[i] = v; }
}
// restrict
__global__ void noRestrict(const float* a, const float* b, float* c, int n) { // expect: missing-restrict
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) for (int k = 0; k < 8; k++) c[k * n + i] = a[i] * b[k];
}
// doubles
__global__ void dbl(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = x[i] * 0.1 + 1.0; // expect: double-literal
}
__global__ void dblGood(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = x[i] * 0.1f + 1.0f;
}
__global__ void dblWanted(double* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = x[i] * 0.1 + 1.0;
}
__global__ void dblFun(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = pow(x[i], 2.0) + fmax(x[i], 0.0); // expect: double-function
}
__device__ float sig(float v) { return 1.0 / (1.0 + exp(-v)); } // expect: double-literal
__global__ void dblVar(const float* __restrict__ a, float* __restrict__ o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = a[i];
    float w = sqrt(v * 2.2); // expect: double-literal
    o[i] = w > 0.3 ? w : 0.3 * v;
}
#define PI 3.14159265358979
__global__ void dblMacro(const float* __restrict__ a, float* __restrict__ o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    o[i] = sinf(2.0f * PI * a[i]); // expect: double-literal
}
// legacy
__device__ float warpSum(float v) {
    for (int o = 16; o; o >>= 1) v += __shfl_down(v, o); // expect: legacy-warp-intrinsic
    return v;
}
__device__ float warpSumGood(float v) {
    for (int o = 16; o; o >>= 1) v += __shfl_down_sync(0xffffffff, v, o);
    return v;
}
// grid arithmetic
__global__ void noCheck(float* x, float a) { int i = blockIdx.x * blockDim.x + threadIdx.x; x[i] *= a; } // expect: missing-bounds-check
__global__ void withCheck(float* x, float a, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= a; }
__global__ void noCheck2(float* x, float a) { int i = blockIdx.x * blockDim.x + threadIdx.x; x[i] = expf(x[i]) * a; } // expect: missing-bounds-check
__global__ void noCheck3(float* x) { x[threadIdx.x + blockIdx.x * blockDim.x] = 0; } // expect: missing-bounds-check
void launch(float* x, int n, int rows, int cols) {
    int threads = 256;
    int blocks = (n + threads - 1) / threads;
    noCheck<<<blocks, threads>>>(x, 2.0f);
    withCheck<<<blocks, threads>>>(x, 2.0f, n);
    dim3 grid(1 + (n - 1) / threads);
    noCheck3<<<grid, threads>>>(x);
    noCheck2<<<(int)ceil(n / 256.0), 256>>>(x, 1.0f);
    withCheck<<<blocks, 100>>>(x, 2.0f, n); // expect: partial-warp-block
    dim3 b(10, 10);
    withCheck<<<blocks, b>>>(x, 2.0f, n); // expect: partial-warp-block
    dim3 c(16, 16);
    withCheck<<<blocks, c>>>(x, 2.0f, n);
    withCheck<<<blocks, 32>>>(x, 2.0f, n); // expect: single-warp-block
    size_t bytes = rows * cols * sizeof(float); // expect: index-overflow
    size_t total = rows * cols;
    size_t good = (size_t)rows * cols * sizeof(float);
}
__global__ void overflowIdx(float* x, int n, int pitch) {
    int row = blockIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    size_t o = row * pitch + col; // expect: index-overflow
    if (col < n) x[o] = 0.0f;
}
__global__ void overflowTid(float* x, long long n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x; // expect: index-overflow
    if (i < n) x[i] = 0.0f;
}
