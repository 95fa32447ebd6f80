// Light that passes straight through a cloud: for each ray along y, the optical depth of a volume [z][y][x] and its densest cell.
//
// slow: neighbouring threads take neighbouring z: their addresses are a whole slice apart, each lane touches a sector of its own
//       and uses four of its 32 bytes.
// fixed: neighbouring threads take neighbouring x. Nothing else differs.

struct Ray { float depth, peak; };

__device__ __forceinline__ Ray march(const float* __restrict__ cell, int steps, int pitch) {
    Ray r = {0.f, 0.f};
#pragma unroll 6
    for (int y = 0; y < steps; y++) {
        float d = cell[(size_t)y * pitch];
        r.depth += d;
        r.peak = fmaxf(r.peak, d);
    }
    return r;
}

__device__ __forceinline__ void store(float* __restrict__ light, float* __restrict__ peak, int at, Ray r, float sigma) {
    light[at] = __expf(-sigma * r.depth);
    peak[at] = r.peak;
}

extern "C" __global__ void __launch_bounds__(128) shadow_rays_slow(const float* __restrict__ density, float* __restrict__ light, float* __restrict__ peak, int nx, int ny, float sigma) {
    int z = blockIdx.x * 128 + threadIdx.x, x = blockIdx.y;
    Ray r = march(density + (size_t)z * ny * nx + x, ny, nx);
    store(light, peak, z * nx + x, r, sigma);
}

extern "C" __global__ void __launch_bounds__(128) shadow_rays_fixed(const float* __restrict__ density, float* __restrict__ light, float* __restrict__ peak, int nx, int ny, float sigma) {
    int x = blockIdx.x * 128 + threadIdx.x, z = blockIdx.y;
    Ray r = march(density + (size_t)z * ny * nx + x, ny, nx);
    store(light, peak, z * nx + x, r, sigma);
}
