// Converts interleaved 8-bit RGB pixels to gray.
//
// slow: one pixel a thread: three single-byte loads with a stride of three bytes and a single-byte store. Each request moves at
//       most 96 bytes for a warp (two flaws: narrow, and strided).
// fixed: sixteen pixels a thread: three 16-byte loads, one 16-byte store.

extern "C" __global__ void __launch_bounds__(256) rgb_gray_slow(const unsigned char* __restrict__ rgb, unsigned char* __restrict__ gray, int pixels) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pixels) return;
    unsigned r = rgb[3 * (size_t)i], g = rgb[3 * (size_t)i + 1], b = rgb[3 * (size_t)i + 2];
    gray[i] = (77 * r + 150 * g + 29 * b) >> 8;
}

extern "C" __global__ void __launch_bounds__(256) rgb_gray_fixed(const uint4* __restrict__ rgb, uint4* __restrict__ gray, int pixels) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pixels / 16) return;
    uint4 p = rgb[3 * (size_t)i], q = rgb[3 * (size_t)i + 1], r = rgb[3 * (size_t)i + 2];
    unsigned w[12] = {p.x, p.y, p.z, p.w, q.x, q.y, q.z, q.w, r.x, r.y, r.z, r.w};
    unsigned o[4] = {0, 0, 0, 0};
#pragma unroll
    for (int k = 0; k < 16; k++) {
        unsigned c[3];
#pragma unroll
        for (int j = 0; j < 3; j++) c[j] = w[(3 * k + j) / 4] >> (8 * ((3 * k + j) % 4)) & 255;
        o[k / 4] |= (77 * c[0] + 150 * c[1] + 29 * c[2]) >> 8 << (8 * (k % 4));
    }
    gray[i] = make_uint4(o[0], o[1], o[2], o[3]);
}
