// A stack of exposures of a mosaic sensor: mean and spread of every pixel, then the settling of its filter class, step by step.
//
// slow: every sample is a record of eight floats, of which one is wanted (stride of 32 bytes from lane to lane); and the eight
//       filter classes alternate along a line, so that every warp goes through the code of all eight.
// fixed: the wanted member has a plane of its own. The classes still alternate within a warp.

struct Sample { float time, bias, signal, gain, dark, offset, temperature, flags; };

template <int C> __device__ float settle(float mean, float spread) {
    constexpr float a = 0.031f + 0.007f * C, b = 0.46f - 0.029f * C;
    float x = mean, y = spread;
#pragma unroll 4
    for (int k = 0; k < 128; k++) {
        if constexpr (C % 4 == 0) {
            float f = fmaf(x, fmaf(x, b, -a), mean);
            x = fmaf(a, f - y, x * (1.f - a));
            y = fmaf(b * a, fmaf(x, x, -y), y);
            y = fminf(y, 2.f + a * x);
        } else if constexpr (C % 4 == 1) {
            float g = __fdividef(x, 1.f + b * y * y);
            y = fmaf(a, x - b * y, y);
            x = fmaf(a, mean - g, x);
        } else if constexpr (C % 4 == 2) {
            float e = __expf(-b * x);
            x = fmaf(a * e, y + mean, x * (1.f - 0.5f * a));
            y = fmaf(-a, y * fmaf(b, x, 0.25f), y);
            y = fmaxf(y, 0.001f * x);
        } else {
            float r = rsqrtf(fmaf(x, x, 0.05f + b));
            float u = fmaf(y, r, -a * x), w = fmaf(x, -r, a * y);
            x = fmaf(0.1f, u, x);
            y = fmaf(0.1f, w + b * mean, y * 0.97f);
        }
    }
    return x + 0.5f * y;
}

__device__ __forceinline__ float settle_class(int c, float mean, float spread) {
    switch (c) {
        case 0: return settle<0>(mean, spread);
        case 1: return settle<1>(mean, spread);
        case 2: return settle<2>(mean, spread);
        case 3: return settle<3>(mean, spread);
        case 4: return settle<4>(mean, spread);
        case 5: return settle<5>(mean, spread);
        case 6: return settle<6>(mean, spread);
        default: return settle<7>(mean, spread);
    }
}

extern "C" __global__ void __launch_bounds__(512, 2) mosaic_stack_slow(const Sample* __restrict__ stack, float* __restrict__ out, int pixels, int frames) {
    int p = blockIdx.x * 512 + threadIdx.x;
    float s = 0, q = 0;
#pragma unroll 8
    for (int t = 0; t < frames; t++) {
        float v = stack[(size_t)t * pixels + p].signal;
        s += v;
        q = fmaf(v, v, q);
    }
    float mean = s / frames, spread = q / frames - mean * mean;
    out[p] = settle_class(threadIdx.x & 7, mean, spread);
}

extern "C" __global__ void __launch_bounds__(512, 2) mosaic_stack_fixed(const float* __restrict__ signal, float* __restrict__ out, int pixels, int frames) {
    int p = blockIdx.x * 512 + threadIdx.x;
    float s = 0, q = 0;
#pragma unroll 8
    for (int t = 0; t < frames; t++) {
        float v = signal[(size_t)t * pixels + p];
        s += v;
        q = fmaf(v, v, q);
    }
    float mean = s / frames, spread = q / frames - mean * mean;
    out[p] = settle_class(threadIdx.x & 7, mean, spread);
}
