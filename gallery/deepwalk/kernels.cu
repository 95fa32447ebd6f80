// Random walks on a graph of fixed degree (DeepWalk): each thread makes one walk of 384 hops, the next vertex depends on the last one.
// The paths of the walks go out row by row, so they pass through shared memory to be written in order.
//
// slow: the whole path of each walk is staged until its end: 98,560 bytes for 64 walks. Two blocks of two warps fit on an SM, and
//       all of them wait for the next vertex.
// fixed: the stage is emptied every eight hops, 2.3 KiB a block; the rows still go out in whole 32-byte sectors.

#define WALKS 64
#define DEGREE 8

extern __shared__ unsigned stage[];

__device__ __forceinline__ unsigned shake(unsigned x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    return x;
}

// Moves `hops` staged vertices of each walk of the block to its row, from column `first` on.
template <int PART>
__device__ __forceinline__ void empty(unsigned* __restrict__ paths, int length, int first, int hops, int pitch) {
    for (int j = threadIdx.x / PART; j < WALKS; j += WALKS / PART)
        for (int h = threadIdx.x % PART; h < hops; h += PART) __stcs(&paths[(size_t)(blockIdx.x * WALKS + j) * length + first + h], stage[j * pitch + h]);
}

extern "C" __global__ void __launch_bounds__(WALKS) deepwalk_slow(const unsigned* __restrict__ graph, unsigned* __restrict__ paths, unsigned mask, int length) {
    unsigned walk = blockIdx.x * WALKS + threadIdx.x, vertex = shake(walk) & mask, state = shake(walk + 0x9e3779b9u);
    int pitch = length + 1;
#pragma unroll 1
    for (int h = 0; h < length; h++) {
        stage[threadIdx.x * pitch + h] = vertex;
        state = shake(state + vertex);
        vertex = graph[vertex * DEGREE + state % DEGREE] & mask;
    }
    __syncthreads();
    empty<64>(paths, length, 0, length, pitch);
}

extern "C" __global__ void __launch_bounds__(WALKS) deepwalk_fixed(const unsigned* __restrict__ graph, unsigned* __restrict__ paths, unsigned mask, int length) {
    unsigned walk = blockIdx.x * WALKS + threadIdx.x, vertex = shake(walk) & mask, state = shake(walk + 0x9e3779b9u);
#pragma unroll 1
    for (int first = 0; first < length; first += 8) {
#pragma unroll 1
        for (int h = 0; h < 8; h++) {
            stage[threadIdx.x * 9 + h] = vertex;
            state = shake(state + vertex);
            vertex = graph[vertex * DEGREE + state % DEGREE] & mask;
        }
        __syncthreads();
        empty<8>(paths, length, first, 8, 9);
        __syncthreads();
    }
}
