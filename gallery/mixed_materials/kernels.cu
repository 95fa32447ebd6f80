// Pressure of fluid cells from density and energy. Each cell holds one of eight materials, in random order, and each material has
// its own equation of state, solved by a few steps of its own iteration.
//
// slow: one thread a cell in the order of memory. Nearly every warp holds all eight materials and executes all eight iterations,
//       each with four of its lanes.
// fixed: a block sorts its 2048 cells by material in shared memory first, so that nearly all warps execute one iteration.

constexpr int tile = 2048, threads = 256, kinds = 8;

template <int K> __device__ __noinline__ float state(float rho, float e) {
    float p = (0.2f + 0.05f * K) * rho * e, t = e, c = 0.31f + 0.017f * K;
#pragma unroll 4
    for (int step = 0; step < 20; step++, c += 0.003f) {
        float cold = rho * (c + rho * (0.11f - rho * (0.07f + 0.013f * K)));
        float heat = t * (0.9f - 0.02f * K + t * (0.05f * c - 0.01f * t * p));
        t = t + 0.25f * (e - cold - heat);
        p = p + 0.3f * (rho * t * (1.f - 0.04f * K) + (K & 1 ? cold * heat : cold + 0.2f * heat) - p);
    }
    return p;
}

__device__ __forceinline__ float pressure(int material, float rho, float e) {
    switch (material) {
        case 0: return state<0>(rho, e);
        case 1: return state<1>(rho, e);
        case 2: return state<2>(rho, e);
        case 3: return state<3>(rho, e);
        case 4: return state<4>(rho, e);
        case 5: return state<5>(rho, e);
        case 6: return state<6>(rho, e);
        default: return state<7>(rho, e);
    }
}

extern "C" __global__ void __launch_bounds__(threads) mixed_materials_slow(const unsigned char* __restrict__ material, const float* __restrict__ rho, const float* __restrict__ energy, float* __restrict__ out) {
    int first = blockIdx.x * tile;
#pragma unroll 1
    for (int k = threadIdx.x; k < tile; k += threads) out[first + k] = pressure(material[first + k], rho[first + k], energy[first + k]);
}

extern "C" __global__ void __launch_bounds__(threads) mixed_materials_fixed(const unsigned char* __restrict__ material, const float* __restrict__ rho, const float* __restrict__ energy, float* __restrict__ out) {
    __shared__ float density[tile], heat[tile];
    __shared__ unsigned short order[tile];
    __shared__ int start[kinds][threads / 32];
    int first = blockIdx.x * tile, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;

    // Each warp owns 256 consecutive cells. Count the materials of each warp, then give each cell its place.
    unsigned char mine[8];
    int count = 0; // of material `lane`, for lanes 0..7
#pragma unroll
    for (int r = 0; r < 8; r++) {
        int k = warp * 256 + r * 32 + lane;
        mine[r] = material[first + k] & 7;
        density[k] = rho[first + k];
        heat[k] = energy[first + k];
#pragma unroll
        for (int m = 0; m < kinds; m++) {
            int c = __popc(__ballot_sync(~0u, mine[r] == m));
            if (lane == m) count += c;
        }
    }
    if (lane < kinds) start[lane][warp] = count;
    __syncthreads();
    if (threadIdx.x < 32) { // 64 counts: an exclusive sum in the order material, warp
        int* s = &start[0][0];
        int a = s[2 * lane], b = s[2 * lane + 1], sum = a + b;
#pragma unroll
        for (int o = 1; o < 32; o *= 2) {
            int up = __shfl_up_sync(~0u, sum, o);
            if (lane >= o) sum += up;
        }
        s[2 * lane] = sum - a - b;
        s[2 * lane + 1] = sum - b;
    }
    __syncthreads();
    int next = lane < kinds ? start[lane][warp] : 0;
#pragma unroll
    for (int r = 0; r < 8; r++) {
        unsigned same = __match_any_sync(~0u, mine[r]);
        int place = __shfl_sync(~0u, next, mine[r]) + __popc(same & ((1u << lane) - 1));
        order[place] = warp * 256 + r * 32 + lane;
#pragma unroll
        for (int m = 0; m < kinds; m++) {
            int c = __popc(__ballot_sync(~0u, mine[r] == m));
            if (lane == m) next += c;
        }
    }
    __syncthreads();
#pragma unroll 1
    for (int k = threadIdx.x; k < tile; k += threads) {
        int cell = order[k];
        density[cell] = pressure(material[first + cell] & 7, density[cell], heat[cell]);
    }
    __syncthreads();
#pragma unroll
    for (int k = threadIdx.x; k < tile; k += threads) out[first + k] = density[k];
}
