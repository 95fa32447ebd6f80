// Statistics of a trading day, one instrument a block: volume-weighted average price, the variance around it, high, low and
// realised variance of the ticks.
//
// slow: three passes over the ticks with barriers in between. All blocks together hold half a gigabyte, so each pass comes from DRAM.
// fixed: one pass. The variance is taken around the first price and shifted at the end.

template <class Op> __device__ __forceinline__ float block_reduce(float v, float* scratch, Op op) {
#pragma unroll
    for (int o = 16; o; o >>= 1) v = op(v, __shfl_xor_sync(~0u, v, o));
    if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = v;
    __syncthreads();
    v = scratch[0];
#pragma unroll 1
    for (int w = 1; w < 12; w++) v = op(v, scratch[w]);
    __syncthreads();
    return v;
}
struct Add { __device__ float operator()(float a, float b) const { return a + b; } };
struct Max { __device__ float operator()(float a, float b) const { return fmaxf(a, b); } };
struct Min { __device__ float operator()(float a, float b) const { return fminf(a, b); } };

__device__ __forceinline__ float lane(const float4& v, int k) { return k == 0 ? v.x : k == 1 ? v.y : k == 2 ? v.z : v.w; }

__device__ __forceinline__ void store(float* out, float vwap, float var, float high, float low, float rv) {
    if (threadIdx.x == 0) {
        float* o = out + blockIdx.x * 5;
        o[0] = vwap; o[1] = var; o[2] = high; o[3] = low; o[4] = rv;
    }
}

extern "C" __global__ void __launch_bounds__(384, 4) tick_stats_slow(const float4* __restrict__ price, const float4* __restrict__ volume, float* __restrict__ out, int quads) {
    __shared__ float scratch[12];
    const float4 *p = price + (size_t)blockIdx.x * quads, *v = volume + (size_t)blockIdx.x * quads;
    float pv = 0, vol = 0;
#pragma unroll 2
    for (int i = threadIdx.x; i < quads; i += 384) {
        float4 a = p[i], b = v[i];
#pragma unroll
        for (int k = 0; k < 4; k++) { pv += lane(a, k) * lane(b, k); vol += lane(b, k); }
    }
    pv = block_reduce(pv, scratch, Add());
    vol = block_reduce(vol, scratch, Add());
    float vwap = __fdividef(pv, vol), var = 0;
#pragma unroll 2
    for (int i = threadIdx.x; i < quads; i += 384) {
        float4 a = p[i], b = v[i];
#pragma unroll
        for (int k = 0; k < 4; k++) { float d = lane(a, k) - vwap; var += lane(b, k) * d * d; }
    }
    var = __fdividef(block_reduce(var, scratch, Add()), vol);
    float high = 0, low = 1e30f, rv = 0;
#pragma unroll 2
    for (int i = threadIdx.x; i < quads; i += 384) {
        float4 a = p[i];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            high = fmaxf(high, lane(a, k));
            low = fminf(low, lane(a, k));
            if (k) { float d = lane(a, k) - lane(a, k - 1); rv += d * d; }
        }
    }
    high = block_reduce(high, scratch, Max());
    low = block_reduce(low, scratch, Min());
    rv = block_reduce(rv, scratch, Add());
    store(out, vwap, var, high, low, rv);
}

extern "C" __global__ void __launch_bounds__(384, 4) tick_stats_fixed(const float4* __restrict__ price, const float4* __restrict__ volume, float* __restrict__ out, int quads) {
    __shared__ float scratch[12];
    const float4 *p = price + (size_t)blockIdx.x * quads, *v = volume + (size_t)blockIdx.x * quads;
    float first = p[0].x, pv = 0, vol = 0, var = 0, high = 0, low = 1e30f, rv = 0;
#pragma unroll 2
    for (int i = threadIdx.x; i < quads; i += 384) {
        float4 a = p[i], b = v[i];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            float d = lane(a, k) - first, w = lane(b, k) * d;
            pv += w;
            var += w * d;
            vol += lane(b, k);
            high = fmaxf(high, lane(a, k));
            low = fminf(low, lane(a, k));
            if (k) { float s = lane(a, k) - lane(a, k - 1); rv += s * s; }
        }
    }
    pv = block_reduce(pv, scratch, Add());
    vol = block_reduce(vol, scratch, Add());
    var = block_reduce(var, scratch, Add());
    high = block_reduce(high, scratch, Max());
    low = block_reduce(low, scratch, Min());
    rv = block_reduce(rv, scratch, Add());
    float shift = __fdividef(pv, vol);
    store(out, first + shift, __fdividef(var, vol) - shift * shift, high, low, rv);
}
