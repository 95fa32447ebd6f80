// Repulsive part of t-SNE, all pairs: q = 1 / (1 + d^2), Z += q, force += q^2 (yi - yj). Points in tiles of 128 in shared memory,
// one point a thread, the partners split over the second grid dimension.
//
// slow: the literals 1.0 are double, so the distance is converted, the division runs in double, and the result is converted back,
//       once for each pair.
// fixed: the same with 1.0f.

template <class F>
__device__ __forceinline__ void repulse(const float2* __restrict__ y, float* __restrict__ force, int n, int chunk, F kernel) {
    __shared__ float2 tile[128];
    int i = blockIdx.x * 128 + threadIdx.x, first = blockIdx.y * chunk;
    float2 me = y[i];
    float fx = 0, fy = 0, z = 0;
    for (int t = first; t < first + chunk; t += 128) {
        __syncthreads();
        tile[threadIdx.x] = y[t + threadIdx.x];
        __syncthreads();
#pragma unroll 4
        for (int j = 0; j < 128; j++) {
            float dx = me.x - tile[j].x, dy = me.y - tile[j].y;
            float q = kernel(dx * dx + dy * dy);
            z += q;
            fx += q * q * dx;
            fy += q * q * dy;
        }
    }
    atomicAdd(&force[i], fx);
    atomicAdd(&force[n + i], fy);
    atomicAdd(&force[2 * n + i], z);
}

extern "C" __global__ void __launch_bounds__(128) tsne_repulsion_slow(const float2* __restrict__ y, float* __restrict__ force, int n, int chunk) {
    repulse(y, force, n, chunk, [](float d2) -> float { return 1.0 / (1.0 + d2); });
}

extern "C" __global__ void __launch_bounds__(128) tsne_repulsion_fixed(const float2* __restrict__ y, float* __restrict__ force, int n, int chunk) {
    repulse(y, force, n, chunk, [](float d2) -> float { return __fdividef(1.0f, 1.0f + d2); });
}
