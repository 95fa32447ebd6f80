#include <cooperative_groups.h>
#include <cub/cub.cuh>
namespace cg = cooperative_groups;
#define TILE 32
#define IDX2(r, c, ld) ((r) * (ld) + (c))
constexpr int BLOCK = 256;

// strided: idx built in steps, with temporary names
__global__ void rowSum(const float* __restrict__ m, float* __restrict__ out, int rows, int cols) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float acc = 0.f;
    for (int c = 0; c < cols; ++c) acc += m[row * cols + c]; // expect: strided-access
    out[row] = acc;
}
__global__ void colSum(const float* __restrict__ m, float* __restrict__ out, int rows, int cols) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= cols) return;
    float acc = 0.f;
    for (int r = 0; r < rows; ++r) acc += m[r * cols + col];
    out[col] = acc;
}
// pointer walk
__global__ void rowWalk(const float* __restrict__ m, float* __restrict__ out, int rows, int cols) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float* p = m + (size_t)row * cols;
    float acc = 0;
    for (int c = 0; c < cols; c++) acc += p[c]; // expect: strided-access
    out[row] = acc;
}
__global__ void rowWalk2(const float* __restrict__ m, float* __restrict__ out, int rows, int cols) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float* p = &m[row * cols];
    float acc = 0;
    for (int c = 0; c < cols; c++) acc += *p++; // expect: strided-access
    out[row] = acc;
}
__global__ void macroIdx(const float* __restrict__ m, float* __restrict__ out, int rows, int cols) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float acc = 0;
    for (int c = 0; c < cols; c++) acc += m[IDX2(row, c, cols)]; // expect: strided-access
    out[row] = acc;
}
__global__ void macroIdxGood(const float* __restrict__ m, float* __restrict__ out, int rows, int cols) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= cols) return;
    float acc = 0;
    for (int r = 0; r < rows; r++) acc += m[IDX2(r, col, cols)];
    out[col] = acc;
}
// transposed naive
__global__ void transposeNaive(float* __restrict__ odata, const float* __restrict__ idata, int width, int height) {
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    if (x < width && y < height) odata[x * height + y] = idata[y * width + x]; // expect: strided-access
}
// matmul swapped indices
__global__ void mmSwapped(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int N) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    int col = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < N && col < N) {
        float s = 0.0f;
        for (int k = 0; k < N; k++) s += A[row * N + k] * B[k * N + col]; // expect: strided-access
        C[row * N + col] = s; // expect: strided-access
    }
}
__global__ void mmOk(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int N) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < N && col < N) {
        float s = 0.0f;
        for (int k = 0; k < N; k++) s += A[row * N + k] * B[k * N + col];
        C[row * N + col] = s;
    }
}
__global__ void chunk(const float* __restrict__ a, float* __restrict__ out, int n, int per) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int lo = t * per, hi = min(lo + per, n);
    float s = 0;
    for (int i = lo; i < hi; i++) s += a[i]; // expect: strided-access
    out[t] = s;
}
__global__ void plain_stride(float* a, int stride) { a[threadIdx.x * stride] = 1.0f; } // expect: strided-access
__global__ void plain_stride2(float* a, int n) { int i = (blockIdx.x * blockDim.x + threadIdx.x) * n; a[i] += 1.0f; } // expect: strided-access
// A distance between what two pointers lead to.
__device__ float dist2(const float* p, const float* q, int d) { float s = 0; for (int k = 0; k < d; k++) { float t = p[k] - q[k]; s += t * t; } return s; }
__global__ void nearest(const float* __restrict__ pts, const float* __restrict__ cent, int* __restrict__ label, int n, int k, int d) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int best = 0; float bd = 1e30f;
    for (int c = 0; c < k; c++) { float t = dist2(pts + i * d, cent + c * d, d); if (t < bd) { bd = t; best = c; } } // expect: strided-access
    label[i] = best;
}
// cooperative groups thread index
__global__ void cgRows(const float* __restrict__ m, float* __restrict__ out, int rows, int cols) {
    auto grid = cg::this_grid();
    int row = grid.thread_rank();
    if (row >= rows) return;
    float acc = 0;
    for (int c = 0; c < cols; c++) acc += m[row * cols + c]; // expect: strided-access
    out[row] = acc;
}
// AoS
struct Particle { float x, y, z; float vx, vy, vz; float mass; int id; };
__global__ void kinetic(const Particle* __restrict__ p, float* __restrict__ e, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) e[i] = 0.5f * p[i].mass; // expect: structure-access
}
__global__ void kineticRef(const Particle* __restrict__ ps, float* __restrict__ e, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const Particle& p = ps[i]; // expect: structure-access
    e[i] = p.x + p.y;
}
__global__ void kineticPtr(Particle* ps, float* __restrict__ e, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Particle* p = &ps[i];
    e[i] = p->x + p->y; // expect: structure-access
}
__global__ void kineticPtr2(Particle* ps, float* __restrict__ e, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Particle* p = ps + i;
    e[i] = p->x; // expect: structure-access
}
__global__ void whole(const Particle* __restrict__ ps, Particle* __restrict__ out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { Particle p = ps[i]; p.x += p.vx; p.y += p.vy; out[i] = p; }
}
__global__ void moved(Particle* ps, float dt, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { ps[i].x += ps[i].vx * dt; ps[i].y += ps[i].vy * dt; ps[i].z += ps[i].vz * dt; }
}
// typedef struct, array-of-struct with stride loop
typedef struct { double a; double b; double c; double d; } Quad;
__global__ void quadA(const Quad* __restrict__ q, double* __restrict__ o, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) o[i] = q[i].a; // expect: structure-access
}
// bank conflicts
__global__ void transposeBank(float* __restrict__ o, const float* __restrict__ in, int w, int h) {
    __shared__ float t[TILE][TILE];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += 8) t[threadIdx.y + j][threadIdx.x] = in[(y + j) * w + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x; y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += 8) o[(y + j) * h + x] = t[threadIdx.x][threadIdx.y + j]; // expect: bank-stride
}
__global__ void transposePad(float* __restrict__ o, const float* __restrict__ in, int w, int h) {
    __shared__ float t[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += 8) t[threadIdx.y + j][threadIdx.x] = in[(y + j) * w + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x; y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += 8) o[(y + j) * h + x] = t[threadIdx.x][threadIdx.y + j];
}
template <int N> __global__ void flatTile(float* o) {
    __shared__ float s[64 * 64];
    int tx = threadIdx.x, ty = threadIdx.y;
    s[ty * 64 + tx] = o[ty * 64 + tx];
    __syncthreads();
    o[ty * 64 + tx] = s[tx * 64 + ty]; // expect: bank-stride
}
extern __shared__ float dyn[];
__global__ void dynTile(float* o) {
    dyn[threadIdx.y * 32 + threadIdx.x] = o[threadIdx.x];
    __syncthreads();
    o[threadIdx.y * 32 + threadIdx.x] = dyn[threadIdx.x * 32 + threadIdx.y]; // expect: bank-stride
}
__global__ void dynTile2(float* o) {
    extern __shared__ float buf[];
    buf[threadIdx.y * 32 + threadIdx.x] = o[threadIdx.x];
    __syncthreads();
    o[threadIdx.y * 32 + threadIdx.x] = buf[threadIdx.x * 32 + threadIdx.y]; // expect: bank-stride
}
__global__ void dynTile2Good(float* o) {
    extern __shared__ float buf2[];
    buf2[threadIdx.y * 33 + threadIdx.x] = o[threadIdx.x];
    __syncthreads();
    o[threadIdx.y * 32 + threadIdx.x] = buf2[threadIdx.x * 33 + threadIdx.y];
}
template <typename T, int DIM> __global__ void tmplTile(T* o) {
    __shared__ T s[DIM][DIM];
    s[threadIdx.y][threadIdx.x] = o[threadIdx.x];
    __syncthreads();
    o[threadIdx.y * DIM + threadIdx.x] = s[threadIdx.x][threadIdx.y];
}
