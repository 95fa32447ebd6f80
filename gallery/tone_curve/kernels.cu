// A tone curve: three powers and two divisions for each sample.
//
// slow: powf and the division are correctly rounded or nearly so: dozens of instructions each, with branches for special values
//       that never occur here.
// fixed: __powf (two hardware approximations and a multiply) and __fdividef. The difference is far below what an 8-bit or 16-bit
//        image can show.

extern "C" __global__ void __launch_bounds__(256) tone_curve_slow(const float* __restrict__ a, float* __restrict__ out, int n, float p, float q, float r) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = a[i];
    float u = powf(x, p), v = powf(x, q), w = powf(u + 0.5f * v, r);
    out[i] = (w + u / (1.f + v)) / (0.2f + w);
}

extern "C" __global__ void __launch_bounds__(256) tone_curve_fixed(const float* __restrict__ a, float* __restrict__ out, int n, float p, float q, float r) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = a[i];
    float u = __powf(x, p), v = __powf(x, q), w = __powf(u + 0.5f * v, r);
    out[i] = __fdividef(w + __fdividef(u, 1.f + v), 0.2f + w);
}
