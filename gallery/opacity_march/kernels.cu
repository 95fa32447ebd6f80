// Radiative transfer along rays through a voxel model: a warp follows one ray, a lane holds one of 32 wavelengths. At each step the
// path says which voxel comes next, the voxel which material it has, the material how much it absorbs at each wavelength. A ray ends
// as soon as every wavelength is absorbed.
//
// slow: step by step. Three loads depend on each other, and the next step waits for the decision to go on: a warp has one access
//       in flight although the path is known beforehand.
// fixed: eight steps at once. Lanes fetch voxels and materials of eight steps together, eight rows of absorption are in flight, then the
//       steps are added up in the same order with the same test.

#define STEPS 64

__device__ __forceinline__ float emitted(float transmission, float absorption) { return transmission * absorption * 0.25f; }

extern "C" __global__ void __launch_bounds__(256) opacity_march_slow(const unsigned* __restrict__ paths, const unsigned* __restrict__ voxels, const float* __restrict__ absorption,
                                                                     float* __restrict__ out, int rays, unsigned voxel_mask, unsigned material_mask, float limit) {
    int ray = (blockIdx.x * 256 + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (ray >= rays) return;
    const unsigned* path = paths + (size_t)ray * STEPS;
    float transmission = 1.f, intensity = 0.f;
#pragma unroll 1
    for (int s = 0; s < STEPS; s++) {
        unsigned material = voxels[path[s] & voxel_mask] & material_mask;
        float a = absorption[(size_t)material * 32 + lane];
        intensity += emitted(transmission, a);
        transmission -= transmission * a;
        if (__all_sync(~0u, transmission < limit)) break;
    }
    out[(size_t)ray * 32 + lane] = intensity;
}

extern "C" __global__ void __launch_bounds__(256) opacity_march_fixed(const unsigned* __restrict__ paths, const unsigned* __restrict__ voxels, const float* __restrict__ absorption,
                                                                      float* __restrict__ out, int rays, unsigned voxel_mask, unsigned material_mask, float limit) {
    int ray = (blockIdx.x * 256 + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (ray >= rays) return;
    const unsigned* path = paths + (size_t)ray * STEPS;
    float transmission = 1.f, intensity = 0.f;
    bool going = true;
    for (int s0 = 0; s0 < STEPS && going; s0 += 8) {
        unsigned material = 0;
        if (lane < 8) material = voxels[path[s0 + lane] & voxel_mask] & material_mask;
        float a[8];
#pragma unroll
        for (int k = 0; k < 8; k++) a[k] = absorption[(size_t)__shfl_sync(~0u, material, k) * 32 + lane];
#pragma unroll
        for (int k = 0; k < 8; k++) {
            if (going) {
                intensity += emitted(transmission, a[k]);
                transmission -= transmission * a[k];
            }
            going = going && !__all_sync(~0u, transmission < limit);
        }
    }
    out[(size_t)ray * 32 + lane] = intensity;
}
