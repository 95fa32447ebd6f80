// Evaluates a polynomial whose coefficients depend on the class of the sample (16 classes).
//
// slow: the coefficients are in constant memory. The constant cache serves one address at a time; lanes of different classes read
//       different addresses, so each access is repeated once for each class in the warp.
// fixed: the coefficients are in shared memory with a pitch of nine words: 16 different rows, 16 different banks.

#define CLASSES 16
#define TERMS 8

__constant__ float coefficients[CLASSES * TERMS];

extern "C" __global__ void __launch_bounds__(256) class_coefficients_slow(const float* __restrict__ a, const unsigned char* __restrict__ cls, float* __restrict__ out, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float x = a[i], s = 0;
        const float* c = coefficients + cls[i] * TERMS;
#pragma unroll
        for (int k = 0; k < TERMS; k++) s = fmaf(s, x, c[k]);
        out[i] = s;
    }
}

extern "C" __global__ void __launch_bounds__(256) class_coefficients_fixed(const float* __restrict__ a, const unsigned char* __restrict__ cls,
                                                                           const float* __restrict__ copy, float* __restrict__ out, int n) {
    __shared__ float table[CLASSES * (TERMS + 1)];
    if (threadIdx.x < CLASSES * TERMS) table[threadIdx.x / TERMS * (TERMS + 1) + threadIdx.x % TERMS] = copy[threadIdx.x];
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float x = a[i], s = 0;
        const float* c = table + cls[i] * (TERMS + 1);
#pragma unroll
        for (int k = 0; k < TERMS; k++) s = fmaf(s, x, c[k]);
        out[i] = s;
    }
}
