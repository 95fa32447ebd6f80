// Iterates each item a number of times that depends on the item: many short ones, few long ones.
//
// slow: items in the order in which they come. A warp runs until its longest item is done, with fewer and fewer lanes at work.
// fixed: items sorted by their number of steps, the longest first: the lanes of a warp finish together.

__device__ __forceinline__ void iterate(const float* __restrict__ x, const unsigned* __restrict__ key, float* __restrict__ out, int item, float scale, float steps) {
    float u = (float)key[item] * scale, c = x[item], v = c;
    u = u * u;
    int count = 16 + (int)(steps * u * u);
    for (int k = 0; k < count; k++) v = fmaf(v, 0.999f, c);
    out[item] = v;
}

extern "C" __global__ void __launch_bounds__(128) long_loops_slow(const float* __restrict__ x, const unsigned* __restrict__ key, float* __restrict__ out,
                                                                  int n, float scale, float steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) iterate(x, key, out, i, scale, steps);
}

extern "C" __global__ void __launch_bounds__(128) long_loops_fixed(const float* __restrict__ x, const unsigned* __restrict__ key, const unsigned* __restrict__ order,
                                                                   float* __restrict__ out, int n, float scale, float steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) iterate(x, key, out, order[n - 1 - i], scale, steps);
}
