// Kernels of the conformance suite.

extern "C" __global__ void scale(float* out, const float* in, float factor, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = factor * in[i];
}

// The same, four at a time.
extern "C" __global__ void scale4(float4* out, const float4* in, float factor, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / 4) return;
    float4 x = in[i];
    out[i] = make_float4(factor * x.x, factor * x.y, factor * x.z, factor * x.w);
}

extern "C" __global__ void count(unsigned* counter) {
    if (blockIdx.x == 0 && threadIdx.x == 0) *counter += 1;
}

// Takes so many nanoseconds of the device's timer.
extern "C" __global__ void wait_ns(unsigned long long time) {
    unsigned long long start, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    do {
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    } while (now - start < time);
}

// Turns the numbers of a block around, by way of dynamic shared memory of any size.
extern "C" __global__ void turn(unsigned* out, const unsigned* in, unsigned last) {
    extern __shared__ unsigned tile[];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[last - threadIdx.x] = in[i];
    __syncthreads();
    out[blockIdx.x * blockDim.x + (blockDim.x - 1 - threadIdx.x)] = tile[last - threadIdx.x];
}

// How many blocks the cluster of a block has.
extern "C" __global__ void cluster_size(unsigned* out) {
    unsigned blocks = 1;
#if __CUDA_ARCH__ >= 900
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
#endif
    if (threadIdx.x == 0) out[blockIdx.x] = blocks;
}

// Holds 192 numbers at once, so that a block of 1024 threads has not enough registers.
extern "C" __global__ void greedy(float* out, const float* in) {
    float held[192];
#pragma unroll
    for (int i = 0; i < 192; ++i) held[i] = in[threadIdx.x + i * 1024];
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 192; ++i) {
        held[i] = held[i] * held[191 - i] + sum;
        sum += held[i];
    }
#pragma unroll
    for (int i = 0; i < 192; ++i) out[threadIdx.x + i * 1024] = held[i];
}

extern "C" __global__ void outside(float* out) { out[(1ull << 44) + threadIdx.x] = 1; }

extern "C" __global__ void misaligned(float* out) { *(volatile int*)((char*)out + 1) = 1; }

extern "C" __global__ void trap_(float* out) {
    out[threadIdx.x] = 1;
    asm volatile("trap;");
}

extern "C" __global__ void endless(float* out) {
    while (*(volatile float*)out != 12345.0f) {}
}

__constant__ float weights[64];
__device__ unsigned total;

// Reads a variable of the module and writes another.
extern "C" __global__ void weigh(float* out) {
    out[threadIdx.x] = 2.0f * weights[threadIdx.x];
    if (threadIdx.x == 0) total += 1;
}
