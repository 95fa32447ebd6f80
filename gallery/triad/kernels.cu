// a = b + s * c on arrays much larger than the caches, 16 bytes an access: nothing to mend. It runs as fast as DRAM delivers; only
// fewer bytes (fusion with a neighbour, a narrower type) would make it faster.

extern "C" __global__ void __launch_bounds__(256) triad_slow(float4* __restrict__ a, const float4* __restrict__ b, const float4* __restrict__ c, float s, int n4) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n4) return;
    float4 x = b[i], y = c[i];
    a[i] = make_float4(x.x + s * y.x, x.y + s * y.y, x.z + s * y.z, x.w + s * y.w);
}
