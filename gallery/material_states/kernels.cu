// Pressure relaxation of the zones of a hydrodynamics code: every zone has one of eight materials, each with its own equation of state.
//
// slow: zone by zone in memory order. The materials of a warp are mixed, so it goes through all eight loops one after the other, each with a
//       few active lanes.
// fixed: the block sorts its 1024 zones by material in shared memory first; nearly all warps have one material.

template <int Material> __device__ __forceinline__ float pressure(float r, float e) {
    if constexpr (Material == 0) return 0.4f * r * e;
    else if constexpr (Material == 1) return 1.8f * r * e - 0.35f;
    else if constexpr (Material == 2) return __fdividef(0.5f * r * e, 1.f - 0.2f * r) - 0.15f * r * r;
    else if constexpr (Material == 3) { float m = r - 1.f; return m * (1.1f + m * (0.7f + m * 0.4f)) + 0.9f * r * e; }
    else if constexpr (Material == 4) { float v = __fdividef(1.f, r); return 1.3f * __expf(-1.5f * v) + 0.2f * __expf(-0.6f * v) + 0.3f * r * e; }
    else if constexpr (Material == 5) { float m = r - 1.f, q = __fdividef(e, r * r) + 1.f; return (0.5f + __fdividef(0.8f, q)) * r * e + 0.6f * m + 0.3f * m * m; }
    else if constexpr (Material == 6) { float s = r * rsqrtf(r); return 0.3f * r * s + 0.2f * r * r * s * e; }
    else { float m = __fdividef(r - 1.f, r), d = 1.f - 0.9f * m; return __fdividef(0.8f * m, d * d) + 0.7f * e; }
}

template <int Material> __device__ __forceinline__ float relax(float r, float e, float target, int steps) {
    float p = 0;
#pragma unroll 4
    for (int k = 0; k < steps; k++) {
        p = pressure<Material>(r, e);
        float d = fminf(fmaxf(0.08f * (target - p), -0.05f), 0.05f);
        e = fmaxf(e + 0.1f * p * d, 0.05f);
        r = fminf(fmaxf(r + d, 0.5f), 2.f);
    }
    return p + 0.01f * r;
}

__device__ __forceinline__ float zone(int material, float r, float e, float target, int steps) {
    switch (material) {
        case 0: return relax<0>(r, e, target, steps);
        case 1: return relax<1>(r, e, target, steps);
        case 2: return relax<2>(r, e, target, steps);
        case 3: return relax<3>(r, e, target, steps);
        case 4: return relax<4>(r, e, target, steps);
        case 5: return relax<5>(r, e, target, steps);
        case 6: return relax<6>(r, e, target, steps);
        default: return relax<7>(r, e, target, steps);
    }
}

extern "C" __global__ void __launch_bounds__(256) material_states_slow(const unsigned char* __restrict__ material, const float* __restrict__ density,
                                                                       const float* __restrict__ energy, float* __restrict__ out, float target, int steps) {
    int first = blockIdx.x * 1024;
    for (int k = threadIdx.x; k < 1024; k += 256) out[first + k] = zone(material[first + k], density[first + k], energy[first + k], target, steps);
}

extern "C" __global__ void __launch_bounds__(256) material_states_fixed(const unsigned char* __restrict__ material, const float* __restrict__ density,
                                                                        const float* __restrict__ energy, float* __restrict__ out, float target, int steps) {
    __shared__ int count[8];
    __shared__ unsigned short order[1024];
    int first = blockIdx.x * 1024, t = threadIdx.x;
    if (t < 8) count[t] = 0;
    __syncthreads();
    int m[4], rank[4];
#pragma unroll
    for (int k = 0; k < 4; k++) {
        m[k] = material[first + 256 * k + t];
        rank[k] = atomicAdd(count + m[k], 1);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 4; k++) {
        int place = rank[k];
#pragma unroll
        for (int j = 0; j < 7; j++)
            if (j < m[k]) place += count[j];
        order[place] = (unsigned short)(m[k] << 10 | (256 * k + t));
    }
    __syncthreads();
    for (int k = t; k < 1024; k += 256) {
        int z = first + (order[k] & 1023);
        out[z] = zone(order[k] >> 10, density[z], energy[z], target, steps);
    }
}
