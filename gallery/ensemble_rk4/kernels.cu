// An ensemble of Lorenz-96 models (24 variables on a ring) for data assimilation: several steps of the classical Runge-Kutta method,
// one member a thread. State, stage and sum of the slopes are 72 values that are alive all the time.
//
// slow: __launch_bounds__ asks for 12 blocks of 128 threads on an SM, for occupancy. That leaves 40 registers a thread: most
//       of the 72 values live in local memory and are loaded and stored in every stage.
// fixed: the same code without the request for blocks; under a hundred registers, no spills.

constexpr int N = 24;

__device__ __forceinline__ void stage(const float (&y)[N], float (&u)[N], float (&sum)[N], float weight, float next, float forcing) {
    float first = u[0], last = u[N - 1], before = u[N - 2];
    float m2 = before, m1 = last;
#pragma unroll
    for (int i = 0; i < N; i++) {
        float c = u[i], p = i + 1 < N ? u[i + 1] : first;
        float slope = (p - m2) * m1 - c + forcing;
        sum[i] += weight * slope;
        u[i] = y[i] + next * slope;
        m2 = m1;
        m1 = c;
    }
}

__device__ __forceinline__ void integrate(const float* __restrict__ in, float* __restrict__ out, int members, int steps, float h, float forcing) {
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= members) return;
    float y[N], u[N], sum[N];
#pragma unroll
    for (int k = 0; k < N; k++) y[k] = in[k * members + i];
#pragma unroll 1
    for (int t = 0; t < steps; t++) {
#pragma unroll
        for (int k = 0; k < N; k++) u[k] = sum[k] = y[k];
        stage(y, u, sum, h * (1.f / 6), h * 0.5f, forcing);
        stage(y, u, sum, h * (1.f / 3), h * 0.5f, forcing);
        stage(y, u, sum, h * (1.f / 3), h, forcing);
        stage(y, u, sum, h * (1.f / 6), 0.f, forcing);
#pragma unroll
        for (int k = 0; k < N; k++) y[k] = sum[k];
    }
#pragma unroll
    for (int k = 0; k < N; k++) out[k * members + i] = y[k];
}

extern "C" __global__ void __launch_bounds__(128, 12) ensemble_rk4_slow(const float* __restrict__ in, float* __restrict__ out, int members, int steps, float h, float forcing) {
    integrate(in, out, members, steps, h, forcing);
}

extern "C" __global__ void __launch_bounds__(128) ensemble_rk4_fixed(const float* __restrict__ in, float* __restrict__ out, int members, int steps, float h, float forcing) {
    integrate(in, out, members, steps, h, forcing);
}
