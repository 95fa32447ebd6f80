// Warps read random 512-byte pieces of a table that fits into L2 but not into L1: nothing to mend. Every request is wide and aligned,
// enough of them are in flight, and L2 delivers what it can.

extern "C" __global__ void __launch_bounds__(256) l2_lines_slow(const float4* __restrict__ table, float* __restrict__ out, unsigned mask, int pieces) {
    unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32, state = warp * 2654435761u + 12345u;
    float s = 0;
#pragma unroll 8
    for (int k = 0; k < pieces; k++) {
        state = state * 1664525u + 1013904223u;
        float4 v = table[(size_t)(state >> 10 & mask) * 32 + lane];
        s += (v.x + v.y) + (v.z + v.w);
    }
    out[warp * 32 + lane] = s;
}
