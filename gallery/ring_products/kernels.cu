// Products of polynomials of 512 coefficients modulo x^512 + 1 and a small prime q, as lattice-based cryptography needs them.
//
// slow: one coefficient a thread; every step wraps the index, turns the sign, and takes the remainder by q; and both factors are
//       loaded again for every product.
// fixed: the sums are reduced once at the end (512 products below 2^23 fit into 32 bits). Index and sign are still found, and both
//        factors loaded, for every product.

extern "C" __global__ void __launch_bounds__(512) ring_products_slow(const unsigned* __restrict__ a, const unsigned* __restrict__ b, unsigned* __restrict__ out, int n, unsigned q) {
    int k = threadIdx.x;
    const unsigned *pa = a + (size_t)blockIdx.x * n, *pb = b + (size_t)blockIdx.x * n;
    unsigned sum = 0;
    for (int i = 0; i < n; i++) {
        int j = k - i;
        unsigned v = j < 0 ? q - pb[j + n] : pb[j];
        sum = (sum + pa[i] * v) % q;
    }
    out[(size_t)blockIdx.x * n + k] = sum;
}

extern "C" __global__ void __launch_bounds__(512) ring_products_fixed(const unsigned* __restrict__ a, const unsigned* __restrict__ b, unsigned* __restrict__ out, int n, unsigned q) {
    int k = threadIdx.x;
    const unsigned *pa = a + (size_t)blockIdx.x * n, *pb = b + (size_t)blockIdx.x * n;
    unsigned sum = 0;
    for (int i = 0; i < n; i++) {
        int j = k - i;
        unsigned v = j < 0 ? q - pb[j + n] : pb[j];
        sum += pa[i] * v;
    }
    out[(size_t)blockIdx.x * n + k] = sum % q;
}
