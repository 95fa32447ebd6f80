// Adds a scale, a bias and two positional terms to a tensor of batch x channels x height x width.
//
// slow: each thread recovers its four coordinates from a flat 64-bit index by division and remainder. The divisors are
//       known only at run time, so each of them becomes a long sequence of integer instructions.
// fixed: the grid has the shape of the tensor. A block handles eight lines of one plane; the coordinates come from the
//        block index, one 32-bit remainder a thread remains.

extern "C" __global__ void __launch_bounds__(256)
index_decode_slow(const float* __restrict__ a, const float* __restrict__ scale, const float* __restrict__ bias, const float* __restrict__ pos_h,
                  const float* __restrict__ pos_w, float* __restrict__ out, long long n, long long channels, long long height, long long width) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    long long w = i % width;
    long long h = i / width % height;
    long long c = i / (width * height) % channels;
    long long b = i / (width * height * channels);
    out[i] = a[i] * scale[b * channels + c] + bias[c] + pos_h[h] + pos_w[w];
}

extern "C" __global__ void __launch_bounds__(256)
index_decode_fixed(const float* __restrict__ a, const float* __restrict__ scale, const float* __restrict__ bias, const float* __restrict__ pos_h,
                   const float* __restrict__ pos_w, float* __restrict__ out, int channels, int height, int width) {
    int plane = blockIdx.y, w = threadIdx.x, h0 = blockIdx.x * 8;
    float s = scale[plane], t = bias[plane % channels], p = pos_w[w];
    size_t base = ((size_t)plane * height + h0) * width + w;
#pragma unroll
    for (int k = 0; k < 8; k++) out[base + (size_t)k * width] = a[base + (size_t)k * width] * s + t + pos_h[h0 + k] + p;
}
