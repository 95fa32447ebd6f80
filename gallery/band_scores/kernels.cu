// Classification of a satellite image with 16 spectral bands: the squared distance of each pixel to the mean spectra of eight
// classes, one output plane a class. The bands are planes of 25 MB.
//
// slow: blockIdx.y is the class. The blocks of one class go through the whole image before those of the next one start, and the image
//       is several times larger than L2: it comes from DRAM eight times.
// fixed: a thread computes all eight classes for its pixels: the image is read once.

constexpr int bands = 16, classes = 8;

__device__ __forceinline__ void add(float2& s, float2 v, float mean, float weight) {
    float x = v.x - mean, y = v.y - mean;
    s.x += weight * x * x;
    s.y += weight * y * y;
}

extern "C" __global__ void __launch_bounds__(192) band_scores_slow(const float2* __restrict__ image, const float2* __restrict__ model, float2* __restrict__ out, int pairs) {
    int i = blockIdx.x * 192 + threadIdx.x, c = blockIdx.y;
    if (i >= pairs) return;
    float2 s = make_float2(0.f, 0.f);
#pragma unroll 8
    for (int b = 0; b < bands; b++) {
        float2 m = model[c * bands + b];
        add(s, image[(size_t)b * pairs + i], m.x, m.y);
    }
    out[(size_t)c * pairs + i] = s;
}

extern "C" __global__ void __launch_bounds__(192) band_scores_fixed(const float2* __restrict__ image, const float2* __restrict__ model, float2* __restrict__ out, int pairs) {
    __shared__ float2 means[classes * bands];
    if (threadIdx.x < classes * bands) means[threadIdx.x] = model[threadIdx.x];
    __syncthreads();
    int i = blockIdx.x * 192 + threadIdx.x;
    if (i >= pairs) return;
    float2 s[classes] = {};
#pragma unroll 4
    for (int b = 0; b < bands; b++) {
        float2 v = image[(size_t)b * pairs + i];
#pragma unroll
        for (int c = 0; c < classes; c++) add(s[c], v, means[c * bands + b].x, means[c * bands + b].y);
    }
#pragma unroll
    for (int c = 0; c < classes; c++) out[(size_t)c * pairs + i] = s[c];
}
