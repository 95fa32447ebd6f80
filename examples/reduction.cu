// Sums of rows: one block for each row, by a tree in shared memory or by shuffles between the lanes of warps.

template <int WIDTH>
__device__ void by_tree(const float* in, float* out, int columns) {
    __shared__ float part[WIDTH];
    const float* row = in + (size_t)blockIdx.x * columns;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < columns; i += WIDTH) sum += row[i];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int width = WIDTH / 2; width > 0; width /= 2) {
        if (threadIdx.x < width) part[threadIdx.x] += part[threadIdx.x + width];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

template <int WIDTH>
__device__ void by_shuffles(const float* in, float* out, int columns) {
    __shared__ float part[WIDTH / 32];
    const float4* row = (const float4*)(in + (size_t)blockIdx.x * columns);
    float sum = 0.0f;
    for (int i = threadIdx.x; i < columns / 4; i += WIDTH) {
        float4 v = row[i];
        sum += (v.x + v.y) + (v.z + v.w);
    }
    for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_down_sync(~0u, sum, lane);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < WIDTH / 32 ? part[threadIdx.x] : 0.0f;
        for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_down_sync(~0u, sum, lane);
        if (threadIdx.x == 0) out[blockIdx.x] = sum;
    }
}

#ifndef THREADS
#define THREADS 256
#endif

extern "C" __global__ void row_sums_tree(const float* in, float* out, int columns) { by_tree<THREADS>(in, out, columns); }
extern "C" __global__ void row_sums_shuffle(const float* in, float* out, int columns) { by_shuffles<THREADS>(in, out, columns); }
