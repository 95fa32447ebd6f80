// What looks like a mistake and is none, as public code has it.
#define KERNEL_LOOP_LIKE_ELSEWHERE 1
constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }

// A macro of another file declares the index.
__global__ void scatter(int num, float* out, const int* __restrict__ to) {
    SOME_KERNEL_LOOP(idx, num) {
        const int target = to[idx];
        atomicAdd(out + target, 1.0f);
    }
}

// The preprocessor chooses where an array lies.
__global__ void chosen(float* out, const int* __restrict__ in) {
#if USE_SHARED
    __shared__ float list[12 * 32];
#else
    float list[12];
#endif
    int edge = in[threadIdx.x];
    out[threadIdx.x] = list[edge * 32 + threadIdx.x];
}

// The array holds pointers; what is indexed at run time lies behind them.
__global__ void behind(int* out) {
    extern __shared__ int smem[];
    volatile int* part[4];
    for (int i = 0; i < 4; ++i) part[i] = &smem[i * 32];
    out[threadIdx.x] = part[0][threadIdx.x / 32] + part[3][threadIdx.x];
}

// Unrolled up to the constant.
__global__ void early(const float* __restrict__ a, float* out, int n) {
    float v[4];
#pragma unroll
    for (int u = 0; u < 4 && u < n; u++) v[u] = a[u * n + threadIdx.x];
    float s = 0.0f;
#pragma unroll
    for (int u = 0; u < 4; u++) s += v[u];
    out[threadIdx.x] = s;
}

// Few rounds, each with its own constant.
__global__ void doubling(const float* __restrict__ in, float* out) {
    __shared__ float s[256];
    unsigned tid = threadIdx.x;
    s[tid] = in[tid];
    __syncthreads();
    for (unsigned stride = 1; stride < 256; stride *= 2) {
        if (tid % (2 * stride) == 0) s[tid] += s[tid + stride];
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = s[0];
}

// The divisors are known when it is compiled, though not here.
template <int K, int N> __global__ void tiles(const float* __restrict__ a, float* out) {
    constexpr int columns = ceil_div(K, 4);
    constexpr unsigned pipes = size<2>(0);
    const int linear = threadIdx.y * blockDim.x + threadIdx.x;
    const int x = linear % columns, y = linear / columns, z = linear % pipes, w = linear / pipes;
    out[linear] = a[x + 32 * y + 64 * z + w];
}

// Assembly writes.
__global__ void told(unsigned* out, unsigned* smids, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        out[i] = i;
        asm volatile("mov.u32 %0, %%smid;" : "=r"(smids[i]));
    }
}

// Both sides are constants.
__global__ void gelu(const float* __restrict__ in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float c = sqrtf(2.0f / M_PI);
    if (i < n) out[i] = c * in[i];
}

// What a type parameter stands for may be float.
template <typename T> __global__ void back(const float p, T* out) { out[threadIdx.x] = (T)(p - 1.0); }

// A coordinate, and no index of an array.
__global__ void coordinate(float* out, size_t width, size_t pitch) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x < width) out[x + blockIdx.y * pitch] = 0.0f;
}

// Whoever gets the element may use all of it.
struct Cell { float a, b, c, d, e, f, g, h; };
__device__ float all(const Cell* cell);
__global__ void handed(const Cell* __restrict__ cells, float* out) {
    int i = threadIdx.x;
    out[i] = cells[i].a + all(&cells[i]);
}

// A step for each axis.
__device__ __forceinline__ int flat(int x, int y, int sx, int sy) { return x * sx + y * sy; }
__global__ void axes(const float* __restrict__ a, float* out, int width, int height, int sx, int sy) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= width) return;
    for (int y = 0; y < height; y++) out[y * width + x] = a[flat(x, y, sx, sy)]; // expect: strided-access
}

__global__ void bounded(float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[min(i, n - 1)] = 1.0f;
}

__global__ void cuda_fill(float* out) { out[threadIdx.x] = 0.0f; }

template <int M, int S> struct Plan {
    static constexpr int tile = M;
    static constexpr int stages = S;
    size_t bytes() { return stages * tile * sizeof(float); }
    // Its caller asks.
    void fill(float* out) { cuda_fill<<<8, 256>>>(out); }
};

void launches(float* out, int n) {
    // All of these fit into a warp, or into the places of an SM.
    cuda_fill<<<1, 10>>>(out);
    cuda_fill<<<dim3(2, 2), dim3(2, 3)>>>(out);
    cuda_fill<<<4, 32>>>(out);
    bounded<<<ceil_div(n, 256), 256>>>(out, n);
}

// A pointer to a row, from a function that knows which thread runs it.
__device__ float mine(const float* p, int n) { return p[threadIdx.x * n]; }
__global__ void asks(const float* __restrict__ a, float* out, int n) { out[threadIdx.x] = mine(a + blockIdx.x * n, n); }

// Tiles and parts of a block wait for themselves.
__global__ void tile_wait(float* x, int n) {
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<32>(block);
    if (threadIdx.x < n) {
        x[threadIdx.x] += 1.0f;
        tile.sync();
    }
    cg::sync(block);
}

// The clock is divided by its ticks, and the time by what it moved.
void seconds(float* x, int reps, size_t bytes) {
    cuda_fill<<<8, 256>>>(x);
    CHECK(cudaDeviceSynchronize());
    clock_t start = clock();
    for (int r = 0; r < reps; r++) cuda_fill<<<8, 256>>>(x);
    CHECK(cudaDeviceSynchronize());
    double s = (double)(clock() - start) / CLOCKS_PER_SEC;
    printf("%f s, %f GB/s\n", s, bytes * reps / s / 1e9);
}
