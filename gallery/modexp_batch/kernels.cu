// Fermat test of many candidates: base^e mod p for each base, with Montgomery products of 32-bit words.
//
// Two blocks of 64 threads on each SM walk over the bases.
// slow: a thread finishes one base before it starts the next. Each Montgomery product needs the previous one: a chain of wide
//       multiplies with about thirty cycles a link, and only one warp a scheduler.
// fixed: a thread carries eight bases through the exponent side by side. The same chains, but eight of them at once.

struct Field { unsigned p, inv, one, r2; };

__device__ __forceinline__ unsigned mont(unsigned a, unsigned b, const Field& f) {
    unsigned long long t = (unsigned long long)a * b;
    unsigned m = (unsigned)t * f.inv;
    unsigned h = (unsigned)(t >> 32), g = __umulhi(m, f.p);
    unsigned d = h - g;
    return h < g ? d + f.p : d;
}

template <int LANES>
__device__ __forceinline__ void power(unsigned (&x)[LANES], unsigned e, const Field& f) {
    unsigned y[LANES];
#pragma unroll
    for (int k = 0; k < LANES; k++) x[k] = mont(x[k], f.r2, f), y[k] = f.one;
#pragma unroll 1
    for (int bit = 31 - __clz(e); bit >= 0; bit--) {
#pragma unroll
        for (int k = 0; k < LANES; k++) y[k] = mont(y[k], y[k], f);
        if (e >> bit & 1) {
#pragma unroll
            for (int k = 0; k < LANES; k++) y[k] = mont(y[k], x[k], f);
        }
    }
#pragma unroll
    for (int k = 0; k < LANES; k++) x[k] = mont(y[k], 1, f);
}

template <int LANES>
__device__ __forceinline__ void run(const unsigned* __restrict__ base, unsigned* __restrict__ out, int n, unsigned e, const Field& f) {
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride * LANES) {
        unsigned x[LANES];
#pragma unroll
        for (int k = 0; k < LANES; k++) x[k] = i + k * stride < n ? base[i + k * stride] % f.p : 1;
        power<LANES>(x, e, f);
#pragma unroll
        for (int k = 0; k < LANES; k++)
            if (i + k * stride < n) out[i + k * stride] = x[k];
    }
}

extern "C" __global__ void __launch_bounds__(64) modexp_batch_slow(const unsigned* __restrict__ base, unsigned* __restrict__ out, int n, unsigned e, unsigned p, unsigned inv, unsigned one, unsigned r2) {
    Field f = {p, inv, one, r2};
    run<1>(base, out, n, e, f);
}

extern "C" __global__ void __launch_bounds__(64) modexp_batch_fixed(const unsigned* __restrict__ base, unsigned* __restrict__ out, int n, unsigned e, unsigned p, unsigned inv, unsigned one, unsigned r2) {
    Field f = {p, inv, one, r2};
    run<8>(base, out, n, e, f);
}
