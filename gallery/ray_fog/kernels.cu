// Volume rendering along the depth axis, front to back: each thread follows one ray through 256 slices and stops when nothing
// behind would be visible any more.
//
// slow: one slice at a time. The next load may not start before the test for the end of the ray, and that needs the previous
//       sample: one load in flight for each warp, however many warps there are.
// fixed: eight samples are loaded together, then composited one by one with the same test. What is loaded in vain at the end of a
//        ray is at most seven samples.

struct Ray {
    float light, through;
    __device__ Ray() : light(0.f), through(1.f) {}
    __device__ __forceinline__ void sample(float density, float step) {
        float alpha = density * step;
        float glow = density * (0.4f + 0.6f * density);
        light += through * alpha * glow;
        through -= through * alpha;
    }
    __device__ __forceinline__ bool dark() const { return through < 0.02f; }
};

extern "C" __global__ void __launch_bounds__(128) ray_fog_slow(const float* __restrict__ volume, float* __restrict__ image, int width, int slice, int depth, float step) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
    const float* p = volume + (size_t)y * width + x;
    Ray ray;
    for (int z = 0; z < depth; z++, p += slice) {
        ray.sample(*p, step);
        if (ray.dark()) break;
    }
    image[(size_t)y * width + x] = ray.light;
}

extern "C" __global__ void __launch_bounds__(128) ray_fog_fixed(const float* __restrict__ volume, float* __restrict__ image, int width, int slice, int depth, float step) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
    const float* p = volume + (size_t)y * width + x;
    Ray ray;
    for (int z = 0; z < depth && !ray.dark(); z += 8) {
        float d[8];
#pragma unroll
        for (int k = 0; k < 8; k++, p += slice) d[k] = *p;
#pragma unroll
        for (int k = 0; k < 8; k++)
            if (!ray.dark()) ray.sample(d[k], step);
    }
    image[(size_t)y * width + x] = ray.light;
}
