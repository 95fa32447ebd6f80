// Ozone in a column of air (64 levels, eight species a level), then the surface temperature under it, step by step.
//
// slow: literals without an f and the double versions of exp and sqrt: the whole balance is computed in double precision. Before
//       that each thread walks its own column: 4 bytes out of every sector, 2 kB from lane to lane.
// fixed: float literals and functions. Each thread still walks its own column.

extern "C" __global__ void __launch_bounds__(256, 4) ozone_columns_slow(const float* __restrict__ air, const float* __restrict__ sun, float* __restrict__ out, int steps) {
    int cell = blockIdx.x * 256 + threadIdx.x;
    const float* mine = air + (size_t)cell * 512 + 3;
    float column = 0, height = 0;
#pragma unroll 8
    for (int l = 0; l < 64; l++) {
        float v = mine[l * 8];
        column += v;
        height = fmaf(v, (float)l, height);
    }
    float reach = height / (64.f * column), light = sun[cell], t = 2.f + reach;
    for (int k = 0; k < steps; k++) {
        float keep = exp(-0.05 * t - 0.001 * column);
        t += 0.02 * (light / (1.0 + 0.4 * keep) - 0.45 * sqrt(0.5 + t) * (1.0 - 0.3 * reach * exp(-0.2 * t)));
    }
    out[cell] = t;
}

extern "C" __global__ void __launch_bounds__(256, 4) ozone_columns_fixed(const float* __restrict__ air, const float* __restrict__ sun, float* __restrict__ out, int steps) {
    int cell = blockIdx.x * 256 + threadIdx.x;
    const float* mine = air + (size_t)cell * 512 + 3;
    float column = 0, height = 0;
#pragma unroll 8
    for (int l = 0; l < 64; l++) {
        float v = mine[l * 8];
        column += v;
        height = fmaf(v, (float)l, height);
    }
    float reach = height / (64.f * column), light = sun[cell], t = 2.f + reach;
    for (int k = 0; k < steps; k++) {
        float keep = expf(-0.05f * t - 0.001f * column);
        t += 0.02f * (light / (1.f + 0.4f * keep) - 0.45f * sqrtf(0.5f + t) * (1.f - 0.3f * reach * expf(-0.2f * t)));
    }
    out[cell] = t;
}
